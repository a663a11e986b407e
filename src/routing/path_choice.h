// SPDX-License-Identifier: Apache-2.0
// Where a frame may go on from this node, and which of those ports it takes (R2, R5, R6). One answer for whoever sends
// and for whoever asks what would become of a frame: choosing changes nothing here.
// Owned by one worker.
#pragma once

#include <bit>

#include "routing/load_board.h"
#include "routing/route_table.h"
#include "topology/lanes.h"
#include "topology/topology.h"
#include "wire/drop_reason.h"
#include "wire/random.h"
#include "wire/types.h"

namespace heddle {

class PathChoice {
 public:
  // `lanes`, `board`, `topology` outlive it.
  PathChoice(const Topology& topology, uint16_t node_index, const Lanes& lanes, const LoadBoard& board);

  // The links of the fabric have changed.
  void compile(const std::vector<PortSet>& ports_up) { routes_.compile(ports_up); }
  const RouteTable& routes() const { return routes_; }
  const Lanes& lanes() const { return lanes_; }

  // A frame as it came in: by which port, in which channel, where to; and the port that its flow had before it rested.
  struct Frame {
    PortIndex input;
    uint8_t channel;
    uint8_t hop_limit;
    FabricAddress destination;
    PortIndex had = kNoPort;
  };
  // Ports that it may leave by, links that are down among them; if none, why.
  struct Ways {
    PortSet ports;
    DropReason reason;
  };
  Ways ways(const Frame& frame) const;
  // The least loaded of them that is up; kNoPort, with the reason, if there is none. Of several it is the one that the
  // flow had, else `random` says which (R3).
  PortIndex choose(const Frame& frame, Random& random, DropReason& reason) const;

  // X2: the lane at that output of a frame of the lossless class that came in that channel.
  LaneIndex lane(PortIndex input, PortIndex output, uint8_t ftag, uint8_t channel) const {
    if (channel == kLossyChannel) return lanes_.of(ftag, kFirstLosslessChannel);
    return lanes_.of(ftag, next_channel(channel, up_ports_ >> input & 1, up_ports_ >> output & 1));
  }

 private:
  const Lanes& lanes_;
  const LoadBoard& board_;
  RouteTable routes_;
  const PortSet up_ports_;  // fabric ports of this node whose link leads up (R5)
  PortSet edge_ports_ = 0;
  const uint16_t node_address_;
};

inline PathChoice::Ways PathChoice::ways(const Frame& frame) const {
  const FabricAddress to = frame.destination;
  if (to.node == node_address_) {
    const bool edge = to.port < kPortsMax && (edge_ports_ >> to.port & 1);
    if (!edge) return {0, DropReason::no_such_port};
    return {to.port != frame.input ? PortSet{1} << to.port : 0, DropReason::same_port};
  }
  if (frame.hop_limit == 0) return {0, DropReason::hop_limit};
  PortSet ports = routes_.primary(to.node) & ~(PortSet{1} << frame.input);
  if (frame.channel != kLossyChannel && frame.channel + 1u == lanes_.channels() && (up_ports_ >> frame.input & 1))
    ports &= ~up_ports_;  // it came down in the last channel
  return {ports, DropReason::no_route};
}

inline PortIndex PathChoice::choose(const Frame& frame, Random& random, DropReason& reason) const {
  const Ways ways = this->ways(frame);
  reason = ways.reason;
  if (std::has_single_bit(ways.ports)) {
    const auto port = PortIndex::of(std::countr_zero(ways.ports));
    return board_.up(port) ? port : kNoPort;
  }
  if (ways.reason != DropReason::no_route) return kNoPort;
  return least_loaded(ways.ports, board_, random.next(), frame.had);
}

}  // namespace heddle
