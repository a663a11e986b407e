// SPDX-License-Identifier: Apache-2.0
// Endpoint congestion of one edge port (C1, C2): is more coming in for its host than the host takes, and what share of
// the port should each flow be held to? Told to the flows' switches as a level (flow/congestion_level.h) with each ACK.
//
// Congestion begins when bytes, packets or the growth of the queue pass their marks. The first level is what the queue
// itself says: a queue of n round trips is made by about n senders, but not by more than have a flow here. From then on
// the level is steered by what comes in against what leaves, once in the time in which every flow has heard of the last
// change and obeyed: a round trip, and the time in which a flow at the present share sends two frames.
//
// Marks and steps follow from the port's rate and the round trip that the senders have measured; nothing is set by
// hand.
#pragma once

#include <algorithm>
#include <cstdint>

#include "flow/congestion_level.h"
#include "wire/random.h"
#include "wire/types.h"

namespace heddle {

class EndpointCongestion {
 public:
  // `rate_bps`: of the port, above 0. `frame_bytes`: the largest.
  EndpointCongestion(uint64_t rate_bps, uint32_t frame_bytes, uint64_t seed);

  // Once a turn: what is queued now and what has left since the port began; what has come follows from them. `flows`:
  // that have something under way to the host.
  // `priority`: Packet::priority of a packet that left in this turn, whose high half is a round trip code, or 0.
  void look(Nanos now, uint32_t queued_bytes, uint32_t queued_packets, uint32_t flows, uint64_t left_bytes,
            uint8_t priority);

  bool congested() const { return congested_; }
  // For the next ACK, 1 to 14 while congested: one of the levels beside the position, drawn so that on average it is
  // told. By turns would not do: senders that take turns too would always hear the same one.
  uint8_t next_level();

  double position() const { return position_; }  // between levels; 0 = no congestion
  Nanos since_ns() const { return since_ns_; }   // when the present congestion began
  Nanos round_trip_ns() const { return round_trip_ns_; }

 private:
  double target_bytes() const;
  bool over_marks(uint32_t queued_bytes, uint32_t queued_packets) const;
  double position_of_depth(uint32_t queued_bytes, uint32_t flows) const;
  bool most_have_gone(Nanos now, uint32_t queued_bytes, uint64_t left_bytes);
  void steer(Nanos now, uint32_t queued_bytes, uint64_t left_bytes);
  void begin_epoch(Nanos now, uint32_t queued_bytes, uint64_t left_bytes);

  Random random_;
  double bytes_per_ns_;
  uint32_t frame_bytes_;
  Nanos round_trip_ns_;
  double position_ = 0;
  Nanos since_ns_ = 0;
  Nanos epoch_begin_ns_ = 0, epoch_ns_;
  uint64_t left_before_bytes_ = 0;  // when it began
  uint32_t depth_before_ = 0;       // when it began
  struct {
    Nanos at_ns = 0;
    uint64_t left_bytes = 0;
    uint32_t queued_bytes = 0;
  } queue_end_;                    // when there was last more than a frame in this epoch, or when it began
  double growth_bytes_ = 0;        // of the queue per epoch, smoothed
  uint32_t full_rate_epochs_ = 0;  // in a row at level 1 with a short queue
  uint32_t idle_epochs_ = 0;       // in a row
  uint8_t highest_priority_ = 0;   // in this epoch: the longest round trip
  bool congested_ = false;
  bool ran_empty_ = true;  // in this epoch
};

}  // namespace heddle
