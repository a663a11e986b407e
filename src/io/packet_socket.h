// SPDX-License-Identifier: Apache-2.0
// A port on a kernel interface by a packet socket: what labs use. Receives from a ring shared with the kernel
// (TPACKET_V2), sends bursts by sendmmsg. Needs CAP_NET_RAW.
//
// Why not DPDK's drivers: net_af_packet 22.11 has the kernel put IPv4 fragments together and cuts off what doesn't fit
// then; net_af_xdp loses entries of its fill ring under load on veth (kernel 6.18) until nothing comes in any more.
// And the kernel tells a packet socket, frame by frame, whether the checksum was left to hardware.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/backlog.h"
#include "io/outward_device.h"
#include "machine/interface_lock.h"

namespace heddle {

struct PacketSocketOptions {
  std::string device;
  uint32_t mtu_bytes;           // largest layer-3 packet: the interface's MTU is made as large
  uint32_t frame_bytes;         // the largest frame to expect
  uint32_t receive_frames = 0;  // what the ring holds at least
};

class PacketSocket : public OutwardDevice {
 public:
  PacketSocket(const PacketSocketOptions& options, PacketPool& pool);
  ~PacketSocket() override { stop(); }
  PacketSocket(const PacketSocket&) = delete;
  PacketSocket& operator=(const PacketSocket&) = delete;

  uint32_t receive(Packet** packets, uint32_t count, Nanos now) override;
  uint32_t transmit(Packet** packets, uint32_t count, Nanos now) override;
  bool receive_queue_empty() const override;
  Nanos next_arrival() const override;
  uint32_t receive_room() const override { return slots_; }

  void start() override;
  void stop() override;
  std::string lost() override;

  const std::string& device() const override { return options_.device; }
  const std::string& driver() const override { return driver_; }
  const std::vector<std::string>& notes() const override { return notes_; }
  DriverCounters driver_counters() const override;
  bool carrier() const override;
  int readable_fd() const override { return fd_; }
  uint64_t link_speed_bps() const override { return 0; }

 private:
  // Counters that the worker writes and the control thread reads.
  struct Counter {
    std::atomic<uint64_t> value{0};
    void add(uint64_t more) { value.store(value.load(std::memory_order_relaxed) + more, std::memory_order_relaxed); }
    uint64_t get() const { return value.load(std::memory_order_relaxed); }
  };

  void open();
  void make_ring();
  // Counted from the next one to be read.
  uint8_t* slot_at(uint32_t ahead) const;
  std::atomic_ref<uint32_t> status_of(uint32_t ahead) const;
  bool take(const uint8_t* slot, Packet& packet);
  void count_delayed(uint32_t taken, uint32_t waiting);
  uint32_t send(Packet** packets, uint32_t count, Nanos now);
  void note_sent(Packet* const* packets, uint32_t count);
  bool give_up(const Packet& packet, Nanos now);

  const PacketSocketOptions options_;
  const std::string interface_;
  std::optional<InterfaceLock> lock_;
  std::string driver_ = "packet_socket";
  std::vector<std::string> notes_;
  PacketPool& pool_;
  Backlog backlog_{pool_};
  int fd_ = -1;
  unsigned index_ = 0;  // of the interface, when it was opened
  uint8_t* ring_ = nullptr;
  uint32_t slots_ = 0;
  uint32_t slot_bytes_ = 0;
  uint32_t next_slot_ = 0;
  uint32_t delayed_ahead_ = 0;  // of the next slots, those counted as delayed
  static constexpr uint32_t kNoLength = ~0u;
  Nanos refused_since_ns_ = kNever;      // the frame that is first in line; kNever = it has not been refused
  uint32_t hopeless_bytes_ = kNoLength;  // frames of this length were given up, and none as long has passed since
  Counter received_, sent_, unusable_, send_errors_, refused_, delayed_;
  mutable uint64_t missed_ = 0;  // the kernel forgets what it has told
};

}  // namespace heddle
