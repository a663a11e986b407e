// SPDX-License-Identifier: Apache-2.0
// Which way a packet or a flow takes from here: what PathChoice (routing/path_choice.h) is asked of it, in one place.
// Says whom a flow on a longer way goes by, which stands beside the flow table (InputFlowTable::via); of one that
// begins in transit FlowLife writes down what its first frame says.
#pragma once

#include "node/port.h"
#include "node/site.h"
#include "node/turn.h"
#include "routing/path_choice.h"
#include "wire/inlining.h"
#include "wire/random.h"

namespace heddle {

class FlowWays {
 public:
  FlowWays(const Site& site, Turn& turn, PathChoice& paths, Random& random)
      : site_(site), turn_(turn), paths_(paths), random_(random) {}

  // R6: where a packet goes from here that has no flow; kNoPort, with the reason, if nowhere. Draws a random number
  // where ways are equal.
  PortIndex choose_port(const Port& input, const Packet& packet, DropReason& reason) {
    return paths_.choose_shortest(frame_of(input, packet), random_, reason, turn_.now());
  }
  // The same of a flow that has no output, which goes that way from now on. It keeps off the ports that it was asked to
  // leave (R9).
  PortIndex choose_for(Port& port, FlowId id, const Packet& packet, DropReason& reason) {
    if (paths_.has_detours()) [[unlikely]]
      return choose_way_for(port, id, packet, reason);
    PathChoice::Frame frame = frame_of(port, packet);
    frame.left = left_by(port, id);
    return paths_.choose_shortest(frame, random_, reason, turn_.now());
  }
  // R6: would a flow that goes on after a rest, with this packet, take the way that it has?
  bool stays(const Port& port, FlowId id, const Packet& packet);
  // The same where it takes little to tell. False says nothing, and nothing is drawn.
  bool surely_stays(const InputFlow& flow) {
    if ((flow.flags & kFlowMoved) || !paths_.surely_stays(flow.branch.output(), site_.classes.of(flow.ftag).path,
                                                          site_.lanes.class_of(flow.ftag), turn_.now()))
      return false;
    random_.next();  // as a choice does: what others draw does not depend on how soon it was made
    return true;
  }
  // A flow begins there with this packet.
  void took(Port& port, FlowId id, PortIndex output, const Packet& packet) {
    paths_.took(output, packet.payload, turn_.now());
    if (port.input.flows[id].flags & kFlowDetour) count_detour(port);
  }

  // X2: where packets of the class wait for that output which came in by that channel.
  VoqIndex queue(const Port& input, PortIndex output, uint8_t ftag, uint8_t channel) const {
    const VoqIndex lossy = site_.lossy_voq(ftag, output);
    return lossy != kNoVoq ? lossy : site_.voq_index(output, paths_.lane(input.index, output, ftag, channel));
  }

  // R6: is there more than one way for the flow, which has an output?
  bool has_choice(const Port& port, FlowId id) const;
  // R12: does that port lie on no shortest path any more to where the flow goes from here?
  bool is_stale(const Port& port, FlowId id, PortIndex output) const;
  // R9: what a flow with an output asks of PathChoice when it is to take another way. At its first switch it may go by
  // any node, whatever it goes by now.
  PathChoice::Frame frame_of(const Port& port, FlowId id) const;

 private:
  PathChoice::Frame frame_of(const Port& input, const Packet& packet) const {
    const TrafficClass& traffic_class = site_.classes.of(packet.ftag);
    return {.input = input.index,
            .channel = packet.vc,
            .hop_limit = packet.hop_limit,
            .destination = packet.destination,
            .via = packet.via,
            .policy = traffic_class.path,
            .lossless = traffic_class.lossless,
            .of_class = site_.lanes.class_of(packet.ftag)};
  }
  PortSet left_by(const Port& port, FlowId id) const {
    return port.input.flows[id].flags & kFlowMoved ? port.input.leases[id].left(turn_.now()) : 0;
  }
  HEDDLE_COLD static void count_detour(Port& port) {
    if (!port.is_fabric()) port.counters.count(ProtocolEvent::flow_detoured);
  }
  [[gnu::noinline]] PortIndex choose_way_for(Port& port, FlowId id, const Packet& packet, DropReason& reason);

  const Site& site_;
  Turn& turn_;
  PathChoice& paths_;
  Random& random_;
};

}  // namespace heddle
