// SPDX-License-Identifier: Apache-2.0
// A port of the generator: any DPDK device, mbufs as they are. It sends by one queue.
#pragma once

#include <rte_ethdev.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace heddle::traffic {

// Buffers for the frames of one direction; freed with the object.
class BufferPool {
 public:
  // Throws std::runtime_error.
  BufferPool(const std::string& name, uint32_t buffers, uint32_t room_bytes);
  ~BufferPool();
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  rte_mempool* get() const { return pool_; }

 private:
  rte_mempool* pool_;
};

struct PortOptions {
  uint16_t frame_bytes_max;
  uint16_t descriptors;     // of each ring, as far as the device has a choice
  uint16_t receive_queues;  // of a device that sends by several, each needs one here
  double start_patience_seconds;
  const std::atomic<bool>* stop;  // ends that wait
};

class TrafficPort {
 public:
  // Opens, sets up and starts the device. Throws std::runtime_error.
  TrafficPort(const std::string& device, const PortOptions& options, const BufferPool& received);
  ~TrafficPort();
  TrafficPort(const TrafficPort&) = delete;
  TrafficPort& operator=(const TrafficPort&) = delete;

  const std::string& device() const { return device_; }
  bool link_up() const;
  // From one queue at a time; less than asked for sends the next call to the next queue.
  uint16_t receive(rte_mbuf** mbufs, uint16_t count) {
    const uint16_t received = rte_eth_rx_burst(port_id_, queue_, mbufs, count);
    if (received != count) queue_ = queue_ + 1 == queues_ ? 0 : static_cast<uint16_t>(queue_ + 1);
    return received;
  }
  // Those it takes are the device's, the others stay the caller's.
  uint16_t transmit(rte_mbuf** mbufs, uint16_t count) { return rte_eth_tx_burst(port_id_, 0, mbufs, count); }

 private:
  void set_up(const PortOptions& options, const BufferPool& received);
  void start(const PortOptions& options);

  std::string device_;
  uint16_t port_id_;
  uint16_t queues_;
  uint16_t queue_ = 0;  // that is asked next
};

}  // namespace heddle::traffic
