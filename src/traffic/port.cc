// SPDX-License-Identifier: Apache-2.0
#include "traffic/port.h"

#include <rte_errno.h>
#include <rte_ether.h>
#include <rte_lcore.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "io/ethdev_open.h"

namespace heddle::traffic {

namespace {
constexpr uint32_t kCacheBuffers = 512;
}

BufferPool::BufferPool(const std::string& name, uint32_t buffers, uint32_t room_bytes)
    : pool_(rte_pktmbuf_pool_create(name.c_str(), buffers, kCacheBuffers, 0,
                                    static_cast<uint16_t>(room_bytes + RTE_PKTMBUF_HEADROOM),
                                    static_cast<int>(rte_socket_id()))) {
  if (pool_ == nullptr)
    throw std::runtime_error("can't make " + std::to_string(buffers) + " buffers: " + rte_strerror(rte_errno));
}

BufferPool::~BufferPool() { rte_mempool_free(pool_); }

TrafficPort::TrafficPort(const std::string& device, const PortOptions& options, const BufferPool& received)
    : device_(device), port_id_(open_ethdev(device)), queues_(options.receive_queues) {
  try {
    set_up(options, received);
    start(options);
  } catch (...) {
    close_ethdev(port_id_);
    throw;
  }
  rte_eth_promiscuous_enable(port_id_);  // what can't has no addresses to filter by
}

TrafficPort::~TrafficPort() {
  rte_eth_dev_stop(port_id_);
  close_ethdev(port_id_);
}

// A memif client can't start before its server is there.
void TrafficPort::start(const PortOptions& options) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options.start_patience_seconds);
  int error;
  while ((error = rte_eth_dev_start(port_id_)) != 0 && Clock::now() < end && !*options.stop)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (error != 0) fail_ethdev(device_, "can't be started", error);
}

void TrafficPort::set_up(const PortOptions& options, const BufferPool& received) {
  rte_eth_dev_info info;
  int error = rte_eth_dev_info_get(port_id_, &info);
  if (error != 0) fail_ethdev(device_, "tells nothing about itself", error);
  rte_eth_conf conf{};
  // All that is sent comes from one pool and has one owner.
  conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
  if ((error = rte_eth_dev_configure(port_id_, queues_, 1, &conf)) != 0)
    fail_ethdev(device_, "can't be configured", error);
  if (options.frame_bytes_max > RTE_ETHER_MTU + RTE_ETHER_HDR_LEN) {
    error = rte_eth_dev_set_mtu(port_id_, static_cast<uint16_t>(options.frame_bytes_max - RTE_ETHER_HDR_LEN));
    if (error != 0 && error != -ENOTSUP) fail_ethdev(device_, "doesn't take frames of that size", error);
  }
  uint16_t receive_descriptors = options.descriptors, transmit_descriptors = options.descriptors;
  rte_eth_dev_adjust_nb_rx_tx_desc(port_id_, &receive_descriptors, &transmit_descriptors);
  const auto socket = static_cast<unsigned>(std::max(0, rte_eth_dev_socket_id(port_id_)));
  for (uint16_t queue = 0; queue < queues_; ++queue) {
    error = rte_eth_rx_queue_setup(port_id_, queue, receive_descriptors, socket, nullptr, received.get());
    if (error != 0) fail_ethdev(device_, "has no such receive queue", error);
  }
  rte_eth_txconf transmit = info.default_txconf;
  transmit.offloads = conf.txmode.offloads;
  if ((error = rte_eth_tx_queue_setup(port_id_, 0, transmit_descriptors, socket, &transmit)) != 0)
    fail_ethdev(device_, "has no transmit queue", error);
}

bool TrafficPort::link_up() const {
  rte_eth_link link{};
  return rte_eth_link_get_nowait(port_id_, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

}  // namespace heddle::traffic
