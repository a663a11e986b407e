// SPDX-License-Identifier: Apache-2.0
// What becomes of a host's frame (E1-E3): parsed, given a VLAN and a class, its station learned, its destination looked
// up, its flow matched. Decides; the worker carries it out. One per worker.
#pragma once

#include <map>

#include "flow/match_table.h"
#include "flow/token_bucket.h"
#include "heddle/frames.h"
#include "ingress/classifier.h"
#include "ingress/station_table.h"
#include "topology/topology.h"
#include "wire/checksum.h"
#include "wire/drop_reason.h"
#include "wire/ethernet.h"
#include "wire/packet.h"

namespace heddle {

// What edge input keeps per edge port.
struct EdgePortInput {
  const TopologyPort* settings;
  FabricAddress address;
  PortIndex port;
  bool complete_checksums;  // look for checksums left to the hardware
  TokenBucket flood;
};

enum class EdgeVerdict : uint8_t { drop, flow, no_flow, flood };

struct EdgeDecision {
  EdgeVerdict verdict;
  DropReason reason = DropReason::none;
  uint32_t match = kNotFound;        // flow: index into the match table
  Nanos hold_until_ns = 0;           // flow: the pair was flooded; nothing may go in a channel before (E1)
  Learned learned = Learned::known;  // added or moved: the node's other workers want to know
};

class EdgeInput {
 public:
  EdgeInput(const Topology& topology, uint32_t match_entries, uint32_t station_entries, const HashKey& key);

  // `packet` is a host's frame as received on `port`. On verdicts other than drop its tag is off and ftag, vni,
  // priority, payload, destination, source and life are set. `idle(match index)`: may that entry be evicted?
  template <typename Idle>
  EdgeDecision decide(Packet& packet, EdgePortInput& port, Nanos now, Idle idle);

  // A frame for this node's hosts came over the fabric: its source station is learned (E1).
  Learned learn_remote(uint64_t mac, uint16_t vlan, FabricAddress source, Nanos now);

  StationTable& stations() { return stations_; }
  const StationTable& stations() const { return stations_; }
  MatchTable& matches() { return matches_; }
  const MatchTable& matches() const { return matches_; }
  const Classifier& classifier() const { return classifier_; }

 private:
  struct Frame {  // of the packet being decided
    EdgeHeaders headers;
    const TrafficClass* traffic_class;
    uint16_t vlan;
  };
  DropReason admit(Packet& packet, const EdgePortInput& port, Frame& frame) const;
  MatchKey key_of(const Frame& frame, PortIndex port, FabricAddress destination) const;
  void note_flooded(uint32_t match, Nanos now);
  Nanos held_until(const Frame& frame, PortIndex port, Nanos now) const;

  StationTable stations_;
  MatchTable matches_;
  Classifier classifier_;
  std::map<uint32_t, uint32_t> station_quotas_;  // of every edge port of the fabric: node << 16 | port
};

inline constexpr FabricAddress kFloodAddress{HEDDLE_FLOOD_NODE, 0xffff};

template <typename Idle>
EdgeDecision EdgeInput::decide(Packet& packet, EdgePortInput& port, Nanos now, Idle idle) {
  Frame frame;
  const DropReason reason = admit(packet, port, frame);
  if (reason != DropReason::none) return {EdgeVerdict::drop, reason};
  const EdgeHeaders& headers = frame.headers;
  EdgeDecision decision{};
  decision.learned = stations_.learn(headers.source_mac, frame.vlan, port.address, port.settings->stations_max, now);
  if (decision.learned == Learned::held) return {EdgeVerdict::drop, DropReason::station_held};
  packet.source = port.address;
  packet.life_ns = static_cast<uint32_t>(frame.traffic_class->life_ns);

  const Station* station = headers.group() ? nullptr : stations_.find(headers.destination_mac, frame.vlan);
  packet.destination = station != nullptr ? station->address : kFloodAddress;
  if (station != nullptr && packet.destination == port.address) {
    decision.verdict = EdgeVerdict::drop;
    decision.reason = DropReason::same_port;
    return decision;
  }
  if (station != nullptr && !frame.traffic_class->flow_channels) {
    decision.verdict = EdgeVerdict::no_flow;
    return decision;
  }
  const bool unicast = !headers.group();
  const MatchKey key = key_of(frame, port.port, packet.destination);
  const uint32_t hash = unicast ? matches_.hash(key) : 0;
  uint32_t match = unicast ? matches_.find(key, hash) : kNotFound;
  if (station == nullptr) {
    decision.verdict = EdgeVerdict::flood;
    if (unicast && match == kNotFound) match = matches_.add(key, hash, idle);
    if (match != kNotFound) note_flooded(match, now);
    return decision;
  }
  if (match == kNotFound) {
    match = matches_.add(key, hash, idle);
    if (match == kNotFound) {
      decision.verdict = EdgeVerdict::drop;
      decision.reason = DropReason::match_table_full;
      return decision;
    }
    matches_[match].ftag = packet.ftag;
  }
  MatchEntry& entry = matches_[match];
  if (entry.station_version != stations_.version()) {
    entry.station_version = stations_.version();
    entry.flooded_ns = held_until(frame, port.port, now);
  }
  decision.verdict = EdgeVerdict::flow;
  decision.match = match;
  decision.hold_until_ns = entry.flooded_ns;
  return decision;
}

}  // namespace heddle
