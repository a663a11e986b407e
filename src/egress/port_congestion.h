// SPDX-License-Identifier: Apache-2.0
// Endpoint congestion of an edge port (C1): of all that comes for it, or where its classes are shaped (X4) of each
// class by itself, so that many who send in one hold nobody to less in another. Shares are of the port's rate either
// way. Owned by the output's worker. Allocates in its constructor, watch() and watch_classes().
#pragma once

#include <utility>
#include <vector>

#include "egress/endpoint_congestion.h"
#include "egress/output_scheduler.h"
#include "flow/output_flow.h"

namespace heddle {

class PortCongestion {
 public:
  // As EndpointCongestion; of all classes together.
  PortCongestion(uint64_t rate_bps, uint32_t frame_bytes, uint64_t seed)
      : rate_bps_(rate_bps), frame_bytes_(frame_bytes), seed_(seed) {
    watch();
  }
  // From now on all classes together,
  void watch() { watch_classes({rate_bps_}, rate_bps_); }
  // or each by itself, that leaves no faster than that, nor all together than `all_bps`. What is known of them is kept
  // where they were watched like that before.
  void watch_classes(const std::vector<uint64_t>& rates_bps, uint64_t all_bps) {
    if (parts_.size() != rates_bps.size()) {
      parts_.clear();
      congested_ = false;
    }
    for (size_t part = 0; part < rates_bps.size(); ++part) {
      if (part == parts_.size()) parts_.push_back({{rate_bps_, frame_bytes_, seed_ + part}, 0});
      parts_[part].congestion.set_rate(rates_bps[part], all_bps);
    }
  }

  bool by_class() const { return parts_.size() > 1; }
  size_t parts() const { return parts_.size(); }
  const EndpointCongestion& part(size_t index) const { return parts_[index].congestion; }
  EndpointCongestion& of(uint8_t of_class) { return at(of_class).congestion; }
  const EndpointCongestion& of(uint8_t of_class) const { return at(of_class).congestion; }
  // Is there any, as last looked at?
  bool congested() const { return congested_; }

  // A packet of the class leaves: its Packet::priority, whose high half is a round trip code.
  void leaves(uint8_t of_class, uint8_t priority) { at(of_class).last_priority = priority; }
  uint8_t last_priority(uint8_t of_class) const { return at(of_class).last_priority; }

  // Once a turn. `flows`: of the port. `left_bytes`: of all classes, since the port
  // began.
  void look(Nanos now, const OutputScheduler& queued, const OutputFlowTable& flows, uint64_t left_bytes) {
    EndpointCongestion::Look at{.now = now,
                                .queued_bytes = queued.bytes(),
                                .queued_packets = queued.packets(),
                                .left_bytes = left_bytes,
                                .port_left_bytes = left_bytes,
                                .flows = flows.used(),
                                .idle = queued.bytes() == 0,
                                .priority = 0};
    congested_ = false;
    for (uint8_t index = 0; index < parts_.size(); ++index) {
      if (by_class()) {
        at.queued_bytes = queued.bytes_of(index);
        at.queued_packets = queued.packets_of(index);
        at.left_bytes = queued.left_bytes(index);
        at.flows = flows.used_of(queued.ftag_of(index));
      }
      at.priority = std::exchange(parts_[index].last_priority, uint8_t{0});
      parts_[index].congestion.look(at);
      congested_ = congested_ || parts_[index].congestion.congested();
    }
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
  bool congested_ = false;
};

}  // namespace heddle
