// SPDX-License-Identifier: Apache-2.0
#include "io/ethdev_device.h"

#include <net/if.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "config/budget.h"
#include "config/device_string.h"
#include "io/ethdev_open.h"
#include "io/mbuf_packet.h"
#include "machine/examine_port.h"
#include "machine/interface_mtu.h"
#include "machine/stale_socket.h"

namespace heddle {

EthdevDevice::EthdevDevice(const EthdevOptions& options, MempoolPool& pool)
    : options_(options), interface_(kernel_interface(options.device)), pool_(pool) {}

EthdevDevice::~EthdevDevice() {
  stop();
  close();
}

void EthdevDevice::start() {
  if (!port_id_) open();
  int error = rte_eth_dev_start(*port_id_);
  // A memif client is refused while no server listens: the device stays, and only the start is tried again.
  if (error != 0 && driver_ == "net_memif")
    throw DeviceAbsent("device " + device() + ": nobody listens at its socket yet");
  if (error != 0) {
    close();
    fail_ethdev(device(), "can't be started", error);
  }
  started_ = true;
  was_down_ = false;
  error = rte_eth_promiscuous_enable(*port_id_);
  if (error != 0) note("promiscuous mode", error);
}

void EthdevDevice::stop() {
  if (!started_) return;
  rte_eth_dev_stop(*port_id_);
  backlog_.give_up();
  started_ = false;
  if (driver_ != "net_memif") close();
}

std::string EthdevDevice::lost() {
  if (!interface_.empty())
    return if_nametoindex(interface_.c_str()) == interface_index_ ? "" : "interface " + interface_ + " is gone";
  const DeviceSocket socket = device_socket(device());
  if (socket.path.empty() || socket.listens) return {};  // whoever listens is found again by its clients
  const bool up = carrier();                             // it was when it started, or that would have failed
  return std::exchange(was_down_, !up) && !up ? "its other end at " + socket.path + " is gone" : "";
}

void EthdevDevice::open() {
  interface_index_ = if_nametoindex(interface_.c_str());
  if (!interface_.empty() && interface_index_ == 0)
    throw DeviceAbsent("device " + device() + ": no interface " + interface_);
  const DeviceSocket socket = device_socket(device());
  if (socket.listens) {
    remove_stale_socket(socket.path, socket.is_stream);
  } else if (socket.is_stream && socket_state(socket.path, true) != SocketState::answers) {
    throw DeviceAbsent("device " + device() + ": nobody listens at " + socket.path + " yet");
  }
  notes_.clear();
  if (!interface_.empty()) {
    lock_.emplace(interface_);
    notes_ = interface_warnings(interface_facts(interface_));
  }
  try {
    port_id_ = open_ethdev(device_with_ring(device(), options_.receive_descriptors));
    configure();
  } catch (...) {
    close();
    throw;
  }
}

void EthdevDevice::close() {
  earlier_ = driver_counters();
  earlier_.unusable_frames -= unusable_frames_.load(std::memory_order_relaxed);
  if (port_id_) close_ethdev(*port_id_);
  port_id_.reset();
  lock_.reset();
}

// One queue each way keeps the order of frames (K2). All offloads stay off: zero in the configuration.
void EthdevDevice::configure() {
  rte_eth_dev_info info;
  int error = rte_eth_dev_info_get(*port_id_, &info);
  if (error != 0) fail_ethdev(device(), "tells nothing about itself", error);
  driver_ = info.driver_name;
  if (driver_ == "net_af_packet") {  // its sockets join a fanout group that asks the kernel to put fragments together
    notes_.emplace_back("net_af_packet loses fragmented IPv4 packets; a device packet_socket0,iface=... does not");
    notes_.emplace_back("net_af_packet does not count the frames that find no room in its ring");
  }

  const rte_eth_conf conf{};
  if ((error = rte_eth_dev_configure(*port_id_, 1, 1, &conf)) != 0) fail_ethdev(device(), "can't be configured", error);
  set_mtu();
  make_queues();

  rte_eth_fc_conf flow_control{};
  if ((error = rte_eth_dev_flow_ctrl_get(*port_id_, &flow_control)) == 0) {
    flow_control.mode = RTE_ETH_FC_NONE;
    error = rte_eth_dev_flow_ctrl_set(*port_id_, &flow_control);
  }
  if (error != 0) note("turning flow control off", error);
}

// Of a driver on a kernel interface the interface's MTU is what counts: net_af_packet refuses to set more than 1500 and
// passes what the interface does.
void EthdevDevice::set_mtu() {
  const uint16_t mtu_bytes = options_.mtu_bytes;
  const int error = rte_eth_dev_set_mtu(*port_id_, mtu_bytes);
  if (!interface_.empty()) {
    std::string done = ensure_interface_mtu(device(), interface_, mtu_bytes);
    if (!done.empty()) notes_.push_back(std::move(done));
    return;
  }
  if (error == 0) return;
  uint16_t has = 0;
  if (error != -ENOTSUP && (rte_eth_dev_get_mtu(*port_id_, &has) != 0 || has < mtu_bytes))
    fail_ethdev(
        device(),
        "its MTU is " + std::to_string(has) + ", the port needs " + std::to_string(mtu_bytes) + ", and it can't be set",
        error);
  note("setting the MTU", error);
}

void EthdevDevice::make_queues() {
  uint16_t receive_descriptors = options_.receive_descriptors;
  uint16_t transmit_descriptors = options_.transmit_descriptors;
  rte_eth_dev_adjust_nb_rx_tx_desc(*port_id_, &receive_descriptors, &transmit_descriptors);
  receive_room_ = device_ring_frames(device_with_ring(device(), options_.receive_descriptors), receive_descriptors);
  // A memif neighbour sees the ring and waits, whatever its size.
  if (receive_room_ < options_.receive_frames_min && driver_ != "net_memif")
    throw std::runtime_error("device " + device() + ": its receive ring holds " + std::to_string(receive_room_) +
                             " frames, the port needs " + std::to_string(options_.receive_frames_min) +
                             "; lower link_credits");
  const auto socket = static_cast<unsigned>(std::max(0, rte_eth_dev_socket_id(*port_id_)));
  int error = rte_eth_rx_queue_setup(*port_id_, 0, receive_descriptors, socket, nullptr, pool_.mempool());
  if (error != 0) fail_ethdev(device(), "has no receive queue", error);
  error = rte_eth_tx_queue_setup(*port_id_, 0, transmit_descriptors, socket, nullptr);
  if (error != 0) fail_ethdev(device(), "has no transmit queue", error);
}

void EthdevDevice::note(const char* what, int error) {
  notes_.push_back("not done, and not needed: " + std::string(what) + ": " + rte_strerror(std::abs(error)));
}

uint32_t EthdevDevice::receive(Packet** packets, uint32_t count, Nanos) {
  rte_mbuf* mbufs[kBurst];
  const uint32_t received = rte_eth_rx_burst(*port_id_, 0, mbufs, static_cast<uint16_t>(std::min(count, kBurst)));
  uint32_t good = 0;
  for (uint32_t i = 0; i < received; ++i) {
    Packet* packet = packet_from_received(mbufs[i]);
    if (packet == nullptr) {
      unusable_frames_.fetch_add(1, std::memory_order_relaxed);
      rte_pktmbuf_free(mbufs[i]);
      continue;
    }
    packets[good++] = packet;
  }
  return good;
}

uint32_t EthdevDevice::transmit(Packet** packets, uint32_t count, Nanos now) {
  return backlog_.transmit(packets, count, now, [this](Packet** offered, uint32_t frames) -> uint32_t {
    rte_mbuf* mbufs[kBurst];
    for (uint32_t i = 0; i < frames; ++i) mbufs[i] = mbuf_to_send(offered[i]);
    return rte_eth_tx_burst(*port_id_, 0, mbufs, static_cast<uint16_t>(frames));
  });
}

DriverCounters EthdevDevice::driver_counters() const {
  rte_eth_stats stats{};
  if (port_id_) rte_eth_stats_get(*port_id_, &stats);  // zeros from a driver that keeps none
  return {
      .received_frames = earlier_.received_frames + stats.ipackets,
      .sent_frames = earlier_.sent_frames + stats.opackets,
      .missed_frames = earlier_.missed_frames + stats.imissed,
      .no_buffer_frames = earlier_.no_buffer_frames + stats.rx_nombuf,
      .unusable_frames = earlier_.unusable_frames + stats.ierrors + unusable_frames_.load(std::memory_order_relaxed),
      .send_errors = earlier_.send_errors + stats.oerrors,
      .refused_frames = backlog_.given_up(),
      .delayed_frames = 0};
}

bool EthdevDevice::carrier() const {
  rte_eth_link link{};
  return port_id_ && started_ && rte_eth_link_get_nowait(*port_id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

uint64_t EthdevDevice::link_speed_bps() const {
  rte_eth_link link{};
  if (!port_id_ || rte_eth_link_get_nowait(*port_id_, &link) != 0) return 0;
  return link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : uint64_t{link.link_speed} * 1'000'000;
}

}  // namespace heddle
