// SPDX-License-Identifier: Apache-2.0
#include "io/ethdev_device.h"

#include <rte_errno.h>
#include <rte_ethdev.h>

#include <algorithm>
#include <cstdlib>

#include "io/ethdev_open.h"
#include "io/mbuf_packet.h"

namespace heddle {

EthdevDevice::EthdevDevice(const EthdevOptions& options, MempoolPool& pool)
    : device_(options.device), port_id_(open_ethdev(options.device)) {
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
  if (driver_ == "net_af_packet")  // its sockets join a fanout group that asks the kernel to put fragments together
    notes_.emplace_back("net_af_packet loses fragmented IPv4 packets; a device packet_socket0,iface=... does not");

  const rte_eth_conf conf{};
  if ((error = rte_eth_dev_configure(port_id_, 1, 1, &conf)) != 0) fail_ethdev(device_, "can't be configured", error);
  if ((error = rte_eth_dev_set_mtu(port_id_, options.mtu_bytes)) != 0) note("setting the MTU", error);

  receive_descriptors_ = options.receive_descriptors;
  uint16_t transmit_descriptors = options.transmit_descriptors;
  rte_eth_dev_adjust_nb_rx_tx_desc(port_id_, &receive_descriptors_, &transmit_descriptors);
  const auto socket = static_cast<unsigned>(std::max(0, rte_eth_dev_socket_id(port_id_)));
  if ((error = rte_eth_rx_queue_setup(port_id_, 0, receive_descriptors_, socket, nullptr, pool.mempool())) != 0)
    fail_ethdev(device_, "has no receive queue", error);
  if ((error = rte_eth_tx_queue_setup(port_id_, 0, transmit_descriptors, socket, nullptr)) != 0)
    fail_ethdev(device_, "has no transmit queue", error);

  rte_eth_fc_conf flow_control{};
  if ((error = rte_eth_dev_flow_ctrl_get(port_id_, &flow_control)) == 0) {
    flow_control.mode = RTE_ETH_FC_NONE;
    error = rte_eth_dev_flow_ctrl_set(port_id_, &flow_control);
  }
  if (error != 0) note("turning flow control off", error);
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
  if (rte_eth_stats_get(port_id_, &stats) != 0) return {};
  return {.received_frames = stats.ipackets,
          .sent_frames = stats.opackets,
          .missed_frames = stats.imissed,
          .no_buffer_frames = stats.rx_nombuf,
          .unusable_frames = stats.ierrors + unusable_frames_.load(std::memory_order_relaxed),
          .send_errors = stats.oerrors};
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
