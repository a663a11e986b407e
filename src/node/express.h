// SPDX-License-Identifier: Apache-2.0
// The shortest way through a node (decision 4): a frame of a flow that is bound, idle and has nothing special about it,
// on to a fabric port of its own worker where nothing waits. What the frames of a burst ask alike is asked once for an
// output, until one of them takes another way; what each has to have for itself is asked of the components whose rule
// it is, so that all that goes this way would have passed Admission and StampingAtOnce just so. Those who receive run
// it over a burst, as far as it goes; the frame that does not go is theirs, and then they look again.
#pragma once

#include <array>
#include <vector>

#include "node/admission.h"
#include "node/buffer_shares.h"
#include "node/port.h"
#include "node/ports.h"
#include "node/stamping_at_once.h"
#include "wire/inlining.h"

namespace heddle {

class Express {
 public:
  Express(const Site& site, Ports& ports, FlowWays& flow_ways, const BufferShares& shares, StampingAtOnce& at_once)
      : ports_(ports), flow_ways_(flow_ways), shares_(shares), at_once_(at_once) {
    for (std::vector<Way>& ways : ways_) ways.resize(site.port_count * site.lanes.count());
  }

  // A burst begins, or something else has been done than take(): outputs are asked anew.
  void look_again() { ++look_; }
  // A frame of one buffer, with a hop left, that `flow` of the input, whose burst this is, gets next. False,
  // and nothing done, if it is to go as others do. `in_transit`: as the input is a fabric port. `kLossless`: of the
  // flows that go on in a lossless channel; the others of those that do not.
  template <bool kLossless>
  [[gnu::always_inline]] bool take(Port& input, bool in_transit, InputFlow& flow, Packet* packet, Nanos now) {
    const FlowId id = flow.branch.flow;
    const VoqIndex index = flow.branch.voq;
    if (!usually((flow.flags & ~kPlain) == kFlowInUse) || !usually(flow.state == FlowState::idle)) return false;
    if (!usually(id != kNoFlow)) return false;
    const Way& way = ways_[kLossless][index];
    if (!usually(way.look == look_)) look_at(input, index);
    Port* const there = way.there;
    if (!usually(there != nullptr)) return false;
    Voq& queue = *way.queue;
    OutputFlow& entry = there->output.flows[id];
    const Stamping::Lane lane = kLossless ? at_once_.lane_of(queue.lane) : Stamping::Lane{kLossyChannel, false};
    if (!usually(Admission::has_room(input, in_transit, flow, queue, 1))) return false;
    if (!usually(StampingAtOnce::has_place(*there, entry, there->credits[lane.channel], 1))) return false;
    const Nanos left = StampingAtOnce::life_of(*packet, in_transit, now);
    if (!usually(Stamping::lives(left))) return false;
    if (kLossless) {
      if (!usually(!in_transit || packet->vc == queue.came_in)) return false;
      if (!usually(within_share(flow, shares_.free_bytes_of(queue)))) return false;
      if (lane.retry && !usually(there->retry.may_stamp())) return false;
    }
    if (!usually(!(flow.flags & kFlowChooses)) && !stays(flow)) return false;
    Packet* replica = nullptr;
    if (kLossless && lane.retry && (replica = at_once_.replica_for(*there, packet)) == nullptr) return false;
    flow.next_data_flow += packet->payload;
    packet->cost = 1;  // and `input` says of it no more than the port: nobody asks for its flow once it has its header
    Admission::leave(input, in_transit, flow, queue, packet);
    at_once_.put(*there, in_transit, id, entry, lane, flow.congestion, packet, 1, left, now);
    if (replica != nullptr) at_once_.keep(*there, *packet, replica, now);
    return true;
  }

 private:
  // Flags that a flow may have besides which goes this way: what they say is of no concern to a frame that goes on.
  static constexpr uint16_t kPlain =
      kFlowAckDue | kFlowTimed | kFlowMayRest | kFlowChooses | kFlowMoved | kFlowRedirect;

  // A queue of the input whose burst is under way, as it was looked at.
  struct alignas(32) Way {
    uint64_t look = 0;
    Port* there = nullptr;  // where it leads to; nullptr if nothing goes this way there
    Voq* queue = nullptr;
  };

  [[gnu::noinline]] void look_at(Port& input, VoqIndex queue);
  // R6: one that goes on after a rest chooses anew.
  [[gnu::noinline]] bool stays(const InputFlow& flow);

  Ports& ports_;
  FlowWays& flow_ways_;
  const BufferShares& shares_;
  StampingAtOnce& at_once_;
  uint64_t look_ = 1;                     // the number of the look that counts
  std::array<std::vector<Way>, 2> ways_;  // lossless or not, by queue of an input
};

}  // namespace heddle
