// SPDX-License-Identifier: Apache-2.0
// The buffers of a process: a PacketPool on an rte_mempool whose per-mbuf private area is the Packet (decision 3).
// Needs the EAL. allocate and release may be called from any thread; lcores have a cache of their own.
#pragma once

#include <cstdint>

#include "wire/packet.h"

struct rte_mempool;

namespace heddle {

class MempoolPool : public PacketPool {
 public:
  // Throws std::runtime_error if the memory can't be had. `name` is unique in the process.
  MempoolPool(const char* name, uint32_t buffers, uint32_t room_bytes = kBufferBytes);
  ~MempoolPool() override;  // every packet has been released
  MempoolPool(const MempoolPool&) = delete;
  MempoolPool& operator=(const MempoolPool&) = delete;

  uint32_t allocate(Packet** packets, uint32_t count) override;
  void release(Packet** packets, uint32_t count) override;
  bool add_owner(Packet* packet) override;
  uint32_t room_bytes() const override { return room_bytes_; }

  rte_mempool* mempool() const { return pool_; }
  uint32_t buffers() const { return buffers_; }
  // Buffers out at this moment, those that devices keep for receiving too; approximate while threads are at work.
  uint32_t in_use() const;

 private:
  rte_mempool* pool_;
  uint32_t buffers_;
  uint32_t room_bytes_;
};

}  // namespace heddle
