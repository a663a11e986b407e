// SPDX-License-Identifier: Apache-2.0
// A port on a DPDK device: NIC, af_packet, af_xdp, memif, vhost, tap ... One receive and one transmit queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "io/mempool_pool.h"
#include "io/outward_device.h"

namespace heddle {

struct EthdevOptions {
  std::string device;  // DPDK device string: a PCI address or vdev arguments
  uint16_t mtu_bytes;  // largest layer-3 packet
  uint16_t receive_descriptors;
  uint16_t transmit_descriptors;
  uint32_t receive_frames_min = 0;  // refuses to start if the receive ring holds less (C9)
};

class EthdevDevice : public OutwardDevice {
 public:
  // Probes, sets up and starts the device. Throws std::runtime_error.
  EthdevDevice(const EthdevOptions& options, MempoolPool& pool);
  ~EthdevDevice() override;
  EthdevDevice(const EthdevDevice&) = delete;
  EthdevDevice& operator=(const EthdevDevice&) = delete;

  uint32_t receive(Packet** packets, uint32_t count, Nanos now) override;
  uint32_t transmit(Packet** packets, uint32_t count, Nanos now) override;
  bool passes_packets() const override { return driver_ == "net_ring"; }
  uint32_t receive_room() const override { return receive_room_; }

  const std::string& device() const override { return device_; }
  const std::string& driver() const override { return driver_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  DriverCounters driver_counters() const override;
  bool carrier() const override;
  uint64_t link_speed_bps() const override;

 private:
  void configure(const EthdevOptions& options, MempoolPool& pool);
  void set_mtu(uint16_t mtu_bytes);
  void make_queues(const EthdevOptions& options, MempoolPool& pool);
  void start();
  void note(const char* what, int error);

  std::string device_;
  std::string driver_;
  std::vector<std::string> notes_;
  uint16_t port_id_ = 0;
  uint32_t receive_room_ = 0;
  std::atomic<uint64_t> unusable_frames_{0};  // in several pieces that could not be made one
};

}  // namespace heddle
