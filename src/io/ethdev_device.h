// SPDX-License-Identifier: Apache-2.0
// A port on a DPDK device: NIC, af_packet, af_xdp, memif, vhost, tap ... One receive and one transmit queue.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/backlog.h"
#include "io/mempool_pool.h"
#include "io/outward_device.h"
#include "machine/interface_lock.h"

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
  EthdevDevice(const EthdevOptions& options, MempoolPool& pool);
  ~EthdevDevice() override;
  EthdevDevice(const EthdevDevice&) = delete;
  EthdevDevice& operator=(const EthdevDevice&) = delete;

  uint32_t receive(Packet** packets, uint32_t count, Nanos now) override;
  uint32_t transmit(Packet** packets, uint32_t count, Nanos now) override;
  bool passes_packets() const override { return driver_ == "net_ring"; }
  uint32_t receive_room() const override { return receive_room_; }

  void start() override;
  void stop() override;
  std::string lost() override;

  const std::string& device() const override { return options_.device; }
  const std::string& driver() const override { return driver_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  DriverCounters driver_counters() const override;
  bool carrier() const override;
  uint64_t link_speed_bps() const override;

 private:
  void open();
  void close();
  void configure();
  void set_mtu();
  void make_queues();
  void note(const char* what, int error);

  const EthdevOptions options_;
  const std::string interface_;  // of the kernel, under it; empty if it has none
  MempoolPool& pool_;
  Backlog backlog_{pool_};
  std::optional<InterfaceLock> lock_;
  std::string driver_;
  std::vector<std::string> notes_;
  std::optional<uint16_t> port_id_;  // none while it is closed
  unsigned interface_index_ = 0;     // when it was opened
  bool started_ = false;
  uint32_t receive_room_ = ~0u;
  bool was_down_ = false;                     // its link, when lost() was asked last
  DriverCounters earlier_{};                  // of the device before it was stopped: its own begin anew
  std::atomic<uint64_t> unusable_frames_{0};  // in several pieces that could not be made one
};

}  // namespace heddle
