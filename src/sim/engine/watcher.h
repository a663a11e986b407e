// SPDX-License-Identifier: Apache-2.0
// What a checker gets to see of a running simulation. One thread.
#pragma once

#include <string_view>

#include "io/memory_link.h"
#include "node/turn.h"
#include "wire/types.h"

namespace heddle::sim {

class Watcher {
 public:
  virtual ~Watcher() = default;
  // `link`: index of the topology link, or links + host for the link of a host (whose end 1 is the host).
  virtual void on_frame(uint32_t link, unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) = 0;
  virtual void after_poll(uint16_t node, WorkerIndex worker, const PollResult& result, Nanos now) = 0;
  virtual void before_crash(uint16_t node) = 0;  // its state is still there
  virtual void after_start(uint16_t node) = 0;
  virtual void before_regroup(uint16_t node) = 0;  // its policy of applications is the old one still
  virtual void before_reshape(uint16_t node, const PortShapers& shapers) = 0;  // it has the old ones still
  virtual void on_host_frame(uint16_t host, const Packet& packet, bool flooded, Nanos now) = 0;
  virtual void on_forged(uint32_t link, unsigned direction, std::string_view forgery, Packet& packet) = 0;
  virtual void on_host_sent(uint16_t flow, uint32_t sequence, Nanos now) = 0;
};

}  // namespace heddle::sim
