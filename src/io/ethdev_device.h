// SPDX-License-Identifier: Apache-2.0
// A port on a DPDK device: NIC, af_packet, af_xdp, memif, vhost, tap ... One receive and one transmit queue.
// Opened, closed and asked for its counters by the control thread; receive and transmit are the port's worker's alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/mempool_pool.h"
#include "node/device.h"

namespace heddle {

struct EthdevOptions {
  std::string device;  // DPDK device string: a PCI address or vdev arguments
  uint16_t mtu_bytes;  // largest layer-3 packet
  uint16_t receive_descriptors;
  uint16_t transmit_descriptors;
};

// What the driver itself has counted.
struct DriverCounters {
  uint64_t received_frames = 0, sent_frames = 0;
  uint64_t missed_frames = 0;     // came in and found no descriptor
  uint64_t no_buffer_frames = 0;  // came in and found no buffer
  uint64_t receive_errors = 0, send_errors = 0;
};

class EthdevDevice : public Device {
 public:
  // Probes, sets up and starts the device. Throws std::runtime_error.
  EthdevDevice(const EthdevOptions& options, MempoolPool& pool);
  ~EthdevDevice() override;
  EthdevDevice(const EthdevDevice&) = delete;
  EthdevDevice& operator=(const EthdevDevice&) = delete;

  uint32_t receive(Packet** packets, uint32_t count, Nanos now) override;
  uint32_t transmit(Packet** packets, uint32_t count, Nanos now) override;

  const std::string& device() const { return device_; }
  const std::string& driver() const { return driver_; }
  // What an operator should know of it: one line for each thing asked of the driver that it did not do.
  const std::vector<std::string>& notes() const { return notes_; }
  DriverCounters driver_counters() const;
  bool carrier() const;
  uint64_t link_speed_bps() const;  // 0 = unknown
  // Frames in several pieces that could not be made one; written by the worker, read for inspection.
  uint64_t unusable_frames() const { return unusable_frames_; }

 private:
  void configure(const EthdevOptions& options, MempoolPool& pool);
  void start();
  void note(const char* what, int error);

  std::string device_;
  std::string driver_;
  std::vector<std::string> notes_;
  uint16_t port_id_ = 0;
  uint64_t unusable_frames_ = 0;
};

}  // namespace heddle
