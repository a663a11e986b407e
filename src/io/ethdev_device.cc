// SPDX-License-Identifier: Apache-2.0
#include "io/ethdev_device.h"

#include <net/if.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "config/budget.h"
#include "io/ethdev_open.h"
#include "io/interface_mtu.h"
#include "io/mbuf_packet.h"

namespace heddle {

EthdevDevice::EthdevDevice(const EthdevOptions& options, MempoolPool& pool)
    : device_(options.device), port_id_(open_ethdev(device_with_ring(options.device, options.receive_descriptors))) {
  try {
    configure(options, pool);
    start();
  } catch (...) {
    rte_eth_dev_close(port_id_);
    throw;
  }
}

EthdevDevice::~EthdevDevice() {
  rte_eth_dev_stop(port_id_);
  rte_eth_dev_close(port_id_);
}

// One queue each way keeps the order of frames (K2). All offloads stay off: zero in the configuration.
void EthdevDevice::configure(const EthdevOptions& options, MempoolPool& pool) {
  rte_eth_dev_info info;
  int error = rte_eth_dev_info_get(port_id_, &info);
  if (error != 0) fail_ethdev(device_, "tells nothing about itself", error);
  driver_ = info.driver_name;
  if (driver_ == "net_af_packet") {  // its sockets join a fanout group that asks the kernel to put fragments together
    notes_.emplace_back("net_af_packet loses fragmented IPv4 packets; a device packet_socket0,iface=... does not");
    notes_.emplace_back("net_af_packet does not count the frames that find no room in its ring");
  }

  const rte_eth_conf conf{};
  if ((error = rte_eth_dev_configure(port_id_, 1, 1, &conf)) != 0) fail_ethdev(device_, "can't be configured", error);
  set_mtu(options.mtu_bytes);
  make_queues(options, pool);

  rte_eth_fc_conf flow_control{};
  if ((error = rte_eth_dev_flow_ctrl_get(port_id_, &flow_control)) == 0) {
    flow_control.mode = RTE_ETH_FC_NONE;
    error = rte_eth_dev_flow_ctrl_set(port_id_, &flow_control);
  }
  if (error != 0) note("turning flow control off", error);
}

// Of a driver on a kernel interface the interface's MTU is what counts: net_af_packet refuses to set more than 1500 and
// passes what the interface does.
void EthdevDevice::set_mtu(uint16_t mtu_bytes) {
  const int error = rte_eth_dev_set_mtu(port_id_, mtu_bytes);
  const std::string interface(device_argument(device_, "iface"));
  if (if_nametoindex(interface.c_str()) != 0) {
    std::string done = ensure_interface_mtu(device_, interface, mtu_bytes);
    if (!done.empty()) notes_.push_back(std::move(done));
    return;
  }
  if (error == 0) return;
  uint16_t has = 0;
  if (error != -ENOTSUP && (rte_eth_dev_get_mtu(port_id_, &has) != 0 || has < mtu_bytes))
    fail_ethdev(
        device_,
        "its MTU is " + std::to_string(has) + ", the port needs " + std::to_string(mtu_bytes) + ", and it can't be set",
        error);
  note("setting the MTU", error);
}

void EthdevDevice::make_queues(const EthdevOptions& options, MempoolPool& pool) {
  uint16_t receive_descriptors = options.receive_descriptors;
  uint16_t transmit_descriptors = options.transmit_descriptors;
  rte_eth_dev_adjust_nb_rx_tx_desc(port_id_, &receive_descriptors, &transmit_descriptors);
  receive_room_ = device_ring_frames(device_with_ring(device_, options.receive_descriptors), receive_descriptors);
  // A memif neighbour sees the ring and waits, whatever its size.
  if (receive_room_ < options.receive_frames_min && driver_ != "net_memif")
    throw std::runtime_error("device " + device_ + ": its receive ring holds " + std::to_string(receive_room_) +
                             " frames, the port needs " + std::to_string(options.receive_frames_min) +
                             "; lower link_credits");
  const auto socket = static_cast<unsigned>(std::max(0, rte_eth_dev_socket_id(port_id_)));
  int error = rte_eth_rx_queue_setup(port_id_, 0, receive_descriptors, socket, nullptr, pool.mempool());
  if (error != 0) fail_ethdev(device_, "has no receive queue", error);
  error = rte_eth_tx_queue_setup(port_id_, 0, transmit_descriptors, socket, nullptr);
  if (error != 0) fail_ethdev(device_, "has no transmit queue", error);
}

void EthdevDevice::start() {
  start_ethdev(device_, port_id_);
  const int error = rte_eth_promiscuous_enable(port_id_);
  if (error != 0) note("promiscuous mode", error);
}

void EthdevDevice::note(const char* what, int error) {
  notes_.push_back("not done, and not needed: " + std::string(what) + ": " + rte_strerror(std::abs(error)));
}

uint32_t EthdevDevice::receive(Packet** packets, uint32_t count, Nanos) {
  rte_mbuf* mbufs[kBurst];
  const uint32_t received = rte_eth_rx_burst(port_id_, 0, mbufs, static_cast<uint16_t>(std::min(count, kBurst)));
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

uint32_t EthdevDevice::transmit(Packet** packets, uint32_t count, Nanos) {
  rte_mbuf* mbufs[kBurst];
  const uint32_t offered = std::min(count, kBurst);
  for (uint32_t i = 0; i < offered; ++i) mbufs[i] = mbuf_to_send(packets[i]);
  return rte_eth_tx_burst(port_id_, 0, mbufs, static_cast<uint16_t>(offered));
}

DriverCounters EthdevDevice::driver_counters() const {
  rte_eth_stats stats{};
  rte_eth_stats_get(port_id_, &stats);  // zeros from a driver that keeps none
  return {.received_frames = stats.ipackets,
          .sent_frames = stats.opackets,
          .missed_frames = stats.imissed,
          .no_buffer_frames = stats.rx_nombuf,
          .unusable_frames = stats.ierrors + unusable_frames_.load(std::memory_order_relaxed),
          .send_errors = stats.oerrors,
          .delayed_frames = 0};
}

bool EthdevDevice::carrier() const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(port_id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

uint64_t EthdevDevice::link_speed_bps() const {
  rte_eth_link link{};
  if (rte_eth_link_get_nowait(port_id_, &link) != 0) return 0;
  return link.link_speed == RTE_ETH_SPEED_NUM_UNKNOWN ? 0 : uint64_t{link.link_speed} * 1'000'000;
}

}  // namespace heddle
