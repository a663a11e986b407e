// SPDX-License-Identifier: Apache-2.0
// Endpoint congestion of an edge port (C1): of all that comes for it, or where its classes are shaped (X4) of each
// class by itself, so that many who send in one hold nobody to less in another. Shares are of the port's rate either
// way. Owned by the output's worker. Allocates in its constructor, and in watch().
#pragma once

#include <utility>
#include <vector>

#include "egress/endpoint_congestion.h"
#include "egress/output_scheduler.h"

namespace heddle {

class PortCongestion {
 public:
  // As EndpointCongestion; of all classes together.
  PortCongestion(uint64_t rate_bps, uint32_t frame_bytes, uint64_t seed)
      : rate_bps_(rate_bps), frame_bytes_(frame_bytes), seed_(seed) {
    watch(1);
  }
  // From now on classes together (1), or so many, each by itself. What was known is forgotten.
  void watch(size_t parts) {
    parts_.clear();
    for (size_t part = 0; part < parts; ++part) parts_.push_back({{rate_bps_, frame_bytes_, seed_ + part}, 0});
  }

  bool by_class() const { return parts_.size() > 1; }
  size_t parts() const { return parts_.size(); }
  const EndpointCongestion& part(size_t index) const { return parts_[index].congestion; }
  EndpointCongestion& of(uint8_t of_class) { return at(of_class).congestion; }
  const EndpointCongestion& of(uint8_t of_class) const { return at(of_class).congestion; }
  // Is there any?
  bool congested() const {
    for (const Part& part : parts_)
      if (part.congestion.congested()) return true;
    return false;
  }

  // A packet of the class leaves: its Packet::priority, whose high half is a round trip code.
  void leaves(uint8_t of_class, uint8_t priority) { at(of_class).last_priority = priority; }
  uint8_t last_priority(uint8_t of_class) const { return at(of_class).last_priority; }

  // Once a turn. `flows`: that have something under way to the host. `left_bytes`: of all classes, since the port
  // began.
  void look(Nanos now, const OutputScheduler& queued, uint32_t flows, uint64_t left_bytes) {
    if (!by_class()) {
      parts_[0].congestion.look(now, queued.bytes(), queued.packets(), flows, left_bytes,
                                std::exchange(parts_[0].last_priority, uint8_t{0}));
      return;
    }
    for (uint8_t index = 0; index < parts_.size(); ++index)
      parts_[index].congestion.look(now, queued.bytes_of(index), queued.packets_of(index), flows,
                                    queued.left_bytes(index), std::exchange(parts_[index].last_priority, uint8_t{0}));
  }

 private:
  struct Part {
    EndpointCongestion congestion;
    uint8_t last_priority;  // of a packet that left in this turn
  };
  Part& at(uint8_t of_class) { return parts_[by_class() ? of_class : 0]; }
  const Part& at(uint8_t of_class) const { return parts_[by_class() ? of_class : 0]; }

  uint64_t rate_bps_;
  uint32_t frame_bytes_;
  uint64_t seed_;
  std::vector<Part> parts_;
};

}  // namespace heddle
