// SPDX-License-Identifier: Apache-2.0
// Endpoint congestion of one edge port, or of one class of it that is shaped (C1, C2): is more coming in for its host
// than leaves, and what share of the port should each flow be held to? Told to the flows' switches as a level
// (flow/congestion_level.h) with each ACK.
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
  // `rate_bps`: of the port, above 0, which shares are of. `frame_bytes`: the largest.
  EndpointCongestion(uint64_t rate_bps, uint32_t frame_bytes, uint64_t seed);
  // What is judged leaves no faster than that, and all of the port no faster than that: the port's rate or less.
  void set_rate(uint64_t rate_bps, uint64_t all_bps);

  // What is judged, as it is now.
  struct Look {
    Nanos now;
    uint32_t queued_bytes, queued_packets;
    uint64_t left_bytes;       // since the port began; what has come follows
    uint64_t port_left_bytes;  // with what is judged by itself
    uint32_t flows;            // that have a flow ID to the host, or more where other workers have some
    bool idle;                 // the port has nothing else to send either: more would leave if more came
    uint8_t priority;  // Packet::priority of a packet that left since, whose high half is a round trip code; or 0
  };
  // Once a turn.
  void look(const Look& at) {
    highest_priority_ = std::max(highest_priority_, at.priority);
    ran_empty_ = ran_empty_ || at.queued_bytes == 0;
    was_idle_ = was_idle_ || at.idle;
    if (congested_ || at.queued_bytes != 0 || at.now - begin_.now >= epoch_ns_) judge(at);
  }

  bool congested() const { return congested_; }
  // For the next ACK, 1 to kCongestionLevelMax while congested: one of the levels beside the position, drawn so that on
  // average it is told. By turns would not do: senders that take turns too would always hear the same one.
  uint8_t next_level();

  double position() const { return position_; }  // between levels; 0 = no congestion
  Nanos since_ns() const { return since_ns_; }   // when the present congestion began
  Nanos round_trip_ns() const { return round_trip_ns_; }

 private:
  double target_bytes() const;
  bool over_marks(uint32_t queued_bytes, uint32_t queued_packets) const;
  double position_of_depth(uint32_t queued_bytes, uint32_t flows) const;
  void judge(const Look& at);
  bool most_have_gone(const Look& at);
  void steer(const Look& at);
  void begin_epoch(const Look& at);

  Random random_;
  double port_rate_, all_rate_, rate_;  // bytes per ns: the port's, what may leave of all, and of what is judged
  double known_rate_;                   // what has been seen to leave when there was enough, or what would
  uint32_t frame_bytes_;
  Nanos round_trip_ns_;
  double position_ = 0;
  Nanos since_ns_ = 0;
  Nanos epoch_ns_;
  Look begin_{};                   // of this epoch
  Look queue_end_{};               // when there was last more than a frame in it, or when it began
  double growth_bytes_ = 0;        // of the queue per epoch, smoothed
  uint32_t full_rate_epochs_ = 0;  // in a row at level 1 with a short queue
  uint32_t idle_epochs_ = 0;       // in a row
  uint8_t highest_priority_ = 0;   // in this epoch: the longest round trip
  bool congested_ = false;
  bool ran_empty_ = true, was_idle_ = true;  // in this epoch
};

}  // namespace heddle
