// SPDX-License-Identifier: Apache-2.0
// Where a frame may go on from this node, and which of those ports it takes (R2, R5, R6). One answer for whoever sends
// and for whoever asks what would become of a frame: choosing changes nothing here, but that distances that were
// searched for are remembered. Owned by one worker.
#pragma once

#include <bit>

#include "routing/detours.h"
#include "routing/load_board.h"
#include "routing/route_table.h"
#include "routing/way_loads.h"
#include "topology/lanes.h"
#include "topology/topology.h"
#include "wire/drop_reason.h"
#include "wire/inlining.h"
#include "wire/random.h"
#include "wire/types.h"

namespace heddle {

// R4: the node that a frame is to go by from this node on which came with `via`: none if it has been there, which is
// here, or is at its destination.
constexpr uint16_t via_from(uint16_t node, uint16_t destination, uint16_t via) {
  return via == node || destination == node ? uint16_t{0} : via;
}

class PathChoice {
 public:
  // `lanes`, `board`, `topology` outlive it.
  PathChoice(const Topology& topology, uint16_t node_index, const Lanes& lanes, const LoadBoard& board);

  // The links of the fabric that are up; false if they were before, and no others.
  HEDDLE_COLD bool compile(const std::vector<PortSet>& ports_up) {
    if (ports_up == distances_.ports_up()) return false;
    routes_.compile(ports_up);
    distances_.compile(ports_up);
    return true;
  }
  const RouteTable& routes() const { return routes_; }
  const Lanes& lanes() const { return lanes_; }

  // A port to go on by, and the address of the node that a longer way goes by first (R4); 0 of a shortest one.
  struct Way {
    PortIndex port = kNoPort;
    uint16_t via = 0;
    bool operator==(const Way&) const = default;
  };
  // A frame as it came in: by which port, in which channel, where to, by which node first; the way that its flow had
  // before it rested, and the ports that it is to keep off as long as there are others (R9).
  struct Frame {
    PortIndex input;
    uint8_t channel;
    uint8_t hop_limit;
    FabricAddress destination;
    uint16_t via = 0;
    Way had = {};
    PortSet left = 0;
    PathPolicy policy = PathPolicy::adaptive;
    bool lossless = false;
    uint8_t of_class = 0;  // position of its class in the topology
  };
  // Ports that it may leave by, links that are down among them; if none, why.
  struct Ways {
    PortSet ports;
    DropReason reason;
  };
  Ways ways(const Frame& frame) const;
  // The one of them that is up and that the class's policy says: of the least loaded ones that which the flow had, else
  // `random` says which (R3). kNoPort, with the reason, if none is up.
  PortIndex choose_shortest(const Frame& frame, Random& random, DropReason& reason, Nanos now) const;
  // The same of a flow, which may take a longer way if it begins at a host here and the shortest have too much to do
  // (R4).
  Way choose(const Frame& frame, Random& random, DropReason& reason, Nanos now) const {
    const PortIndex port = choose_shortest(frame, random, reason, now);
    return may_detour(frame) ? or_detour(frame, port, random, now) : Way{port, frame.via};
  }
  // Would choose() surely leave a flow that is at rest, may go there still and keeps off no port at the one it has?
  // Costs a part of that; false says nothing.
  bool surely_stays(PortIndex port, PathPolicy policy, uint8_t of_class, Nanos now) const {
    return (moves(policy) || policy == PathPolicy::least_loaded) && !detours_.any() && board_.up(port) &&
           loads_.nothing_waits(port, now, of_class);
  }
  // Are there any longer ways in this fabric?
  bool has_detours() const { return detours_.any(); }
  // May a flow of the frame take a longer way?
  bool may_detour(const Frame& frame) const {
    return takes_detours(frame.policy) && detours_.any() && (edge_ports_ >> frame.input & 1) &&
           (!frame.lossless || lossless_detours_) && is_far(frame.destination.node);
  }
  // Where frames go first that go to one node by another: to that if both can be reached, else on without.
  uint16_t heading(uint16_t destination, uint16_t via) const {
    return via != 0 && routes_.primary(via) != 0 && routes_.primary(destination) != 0 ? via : destination;
  }
  // R9: those that do not lead its flow, which has `output`, to the bottleneck at the node of this address, which may
  // be this one. Its way goes there: so does a port that lies on a shortest path to that node.
  PortSet around(const Frame& frame, PortIndex output, uint16_t bottleneck) const {
    return ways(frame).ports & ~(routes_.primary(bottleneck) | PortSet{1} << output);
  }
  // The same by longer ways, of a flow that may take one and keeps off frame.left: is one found that it would be better
  // off with?
  bool has_detour_around(const Frame& frame, PortIndex output, uint16_t bottleneck, Random& random, Nanos now) const;
  // One of these that it would be better off with; kNoPort if there is none.
  PortIndex better(PortSet ports, const Frame& frame, PortIndex output, uint16_t bottleneck, Nanos now) const {
    return loads_.better(ports, heading_of(frame), output, bottleneck == node_address_, now, frame.of_class);
  }
  // A flow takes the port that was chosen, with so many bytes to begin with.
  void took(PortIndex output, uint32_t bytes, Nanos now) { loads_.took(output, bytes, now); }

  // X2: the lane at that output of a frame of the lossless class that came in that channel.
  LaneIndex lane(PortIndex input, PortIndex output, uint8_t ftag, uint8_t channel) const {
    if (channel == kLossyChannel) return lanes_.of(ftag, kFirstLosslessChannel);
    return lanes_.of(ftag, next_channel(channel, up_ports_ >> input & 1, up_ports_ >> output & 1));
  }

 private:
  // Of several ways one that is the destination's own: frames to different hosts that come down by different links in a
  // tree go up by different ones (D mod k, digit by digit on the way).
  PortIndex fixed_way(PortSet ways, const Frame& frame) const;
  // A longer way is for what can be reached, and costs two or more.
  bool is_far(uint16_t destination) const {
    const uint16_t cost = routes_.cost(destination);
    return cost >= 2 && cost != kNoDistance;
  }
  Heading heading_of(const Frame& frame) const {
    const uint16_t to = frame.destination.node;
    return {heading(to, frame.via), to};
  }
  PortIndex choose_among(PortSet up, const Frame& frame, Random& random, Nanos now) const;
  [[gnu::noinline]] Way or_detour(const Frame& frame, PortIndex shortest, Random& random, Nanos now) const;
  // Ports for the first part of the way by `via`, but those that the flow keeps off.
  PortSet ports_by(uint16_t via, const Frame& frame) const {
    return via == 0 ? 0 : board_.up_of(routes_.primary(via) & ~frame.left);
  }

  const Lanes& lanes_;
  const LoadBoard& board_;
  const Destinations index_;
  mutable Distances distances_;
  const NextHops next_hops_;
  const Detours detours_;
  WayLoads loads_;
  RouteTable routes_;
  const bool lossless_detours_;
  const PortSet up_ports_;  // fabric ports of this node whose link leads up (R5)
  PortSet edge_ports_ = 0;
  const uint16_t node_address_;
  std::vector<uint32_t> first_host_;  // by node address: hosts of the nodes before it
};

inline PathChoice::Ways PathChoice::ways(const Frame& frame) const {
  const FabricAddress to = frame.destination;
  if (to.node == node_address_) {
    const bool edge = to.port < kPortsMax && (edge_ports_ >> to.port & 1);
    if (!edge) return {0, DropReason::no_such_port};
    return {to.port != frame.input ? PortSet{1} << to.port : 0, DropReason::same_port};
  }
  if (frame.hop_limit == 0) return {0, DropReason::hop_limit};
  PortSet ports = routes_.primary(heading(to.node, frame.via)) & ~(PortSet{1} << frame.input);
  if (frame.channel != kLossyChannel && frame.channel + 1u == lanes_.channels() && (up_ports_ >> frame.input & 1))
    ports &= ~up_ports_;  // it came down in the last channel
  return {ports, DropReason::no_route};
}

inline PortIndex PathChoice::choose_shortest(const Frame& frame, Random& random, DropReason& reason, Nanos now) const {
  const Ways ways = this->ways(frame);
  reason = ways.reason;
  if (std::has_single_bit(ways.ports)) {
    const auto port = PortIndex::of(std::countr_zero(ways.ports));
    return board_.up(port) ? port : kNoPort;
  }
  if (ways.reason != DropReason::no_route) return kNoPort;
  const PortSet up = board_.up_of(ways.ports);
  if (up == 0) return kNoPort;
  const PortSet free = up & ~frame.left;
  return choose_among(free != 0 ? free : up, frame, random, now);
}

}  // namespace heddle
