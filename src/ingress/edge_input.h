// SPDX-License-Identifier: Apache-2.0
// What becomes of a host's frame (E1-E3): parsed, given a VLAN and a class, its station learned, its destination looked
// up, its flow matched. Decides; the worker carries it out. One per worker.
#pragma once

#include <algorithm>
#include <array>
#include <map>

#include "flow/match_table.h"
#include "flow/token_bucket.h"
#include "heddle/frames.h"
#include "ingress/application_groups.h"
#include "ingress/classifier.h"
#include "ingress/policer.h"
#include "ingress/station_table.h"
#include "topology/classes.h"
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
  uint32_t plain_bytes;     // of the longest plain frame; 0 where those need a look at checksums or have no VLAN
  TokenBucket flood;
  Policer policer;
  Classifier classifier;
};

enum class EdgeVerdict : uint8_t { drop, flow, no_flow, flood };

struct EdgeDecision {
  EdgeVerdict verdict;
  DropReason reason = DropReason::none;
  uint32_t match = kNotFound;        // index into the match table; a flood may have none
  bool moved = false;                // the entry had another destination before: the flow it has ends
  PortIndex left_beside = kNoPort;   // which was this port, of another worker, to which frames may have crossed
  Learned learned = Learned::known;  // added or moved: the node's other workers want to know
};

// What the flow of a frame is looked up by (F4).
struct EdgeKey {
  MatchKey match;
  uint32_t hash;
};

// A class's match pattern for plain IPv4 frames (F1).
struct PlainPattern {
  MatchBlocks mask;  // of the key: what counts
  uint64_t fixed;    // in its last 8 bytes: what is the same in all such frames
};

inline constexpr FabricAddress kFloodAddress{HEDDLE_FLOOD_NODE, 0xffff};

// A frame passes read() and is looked up in matches(), burst by burst; where the entry found is current that is all.
// Otherwise decide().
class EdgeInput {
 public:
  // `topology`, `applications` and `tables` outlive it.
  EdgeInput(const Topology& topology, const ApplicationPolicy& applications, uint32_t match_entries,
            uint32_t station_entries, const HashKey& key, std::pmr::memory_resource& tables);
  // The edge ports of the same worker, and those of the others of this node: where entries lead that are near or
  // beside. Call before the first frame.
  void set_near(uint16_t node, PortSet ports, PortSet others) {
    near_node_ = node;
    near_ports_ = ports;
    beside_ports_ = others;
  }
  // Of the ports of its own node, that is.
  bool is_near(uint16_t port) const { return port < kPortsMax && (near_ports_ >> port & 1); }

  // `packet` is a host's frame as received on `port`. Unless it is to be dropped its tag is off, ftag, vni, priority,
  // payload, source and life are set, kPacketChecksumPartial and kPacketClassRefused where they hold, and `key` is its
  // key, whose hints are being fetched.
  DropReason read(Packet& packet, const EdgePortInput& port, EdgeKey& key) const;
  // Does the entry say all there is to say? Nothing that the station table knew when they were compared has changed,
  // and no flood of the pair is under way.
  bool is_current(const MatchEntry& entry) const {
    return entry.station_version == stations_.version() && entry.flooded_ns == 0;
  }
  // Why a frame that has been read goes nowhere, once its source is learned: `station` is where it goes, nullptr if
  // that is not known. none if it goes on.
  DropReason refusal(const Packet& packet, const EdgePortInput& port, const Station* station, Nanos now) const;
  // What becomes of a frame whose entry is not current, or that has none: `match` is where it was found, or
  // kNotFound. Learns its station, sets its destination, takes a flood from the port's share. `flows.idle(match
  // index)`: may that entry be evicted? `flows.queued(match index)`: has its flow a queue?
  template <typename Flows>
  EdgeDecision decide(Packet& packet, EdgePortInput& port, const EdgeKey& key, uint32_t match, Nanos now,
                      const Flows& flows);

  // What waits for the old place goes there; nothing joins it, so that it ends.
  template <typename Flows>
  bool has_to_wait(uint32_t match, FabricAddress destination, const Flows& flows) const {
    return matches_[match].destination != destination && flows.queued(match);
  }

  // A frame for this node's hosts came over the fabric: its source station is learned (E1).
  Learned learn_remote(uint64_t mac, uint16_t vlan, FabricAddress source, Nanos now);

  // Frames of a pair that was flooded may still be on the tree: its first flow waits until those have died (E1). 0 if
  // there are none.
  Nanos held_until(const MatchEntry& entry) const {
    return entry.flooded_ns == 0 ? 0 : entry.flooded_ns + dead_after_ns(classes_.of(entry.ftag).flood_life_ns());
  }

  const ApplicationPolicy& applications() const { return applications_; }
  // No entry is current any more: another policy of applications holds (A9), or hosts are told of other groups (G1).
  void look_again() { stations_.look_again(); }
  StationTable& stations() { return stations_; }
  const StationTable& stations() const { return stations_; }
  MatchTable& matches() { return matches_; }
  const MatchTable& matches() const { return matches_; }

 private:
  uint8_t place_of(FabricAddress address) const {
    if (address.node != near_node_ || address.port >= kPortsMax) return 0;
    const PortSet port = PortSet{1} << address.port;
    return port & near_ports_ ? kMatchNear : port & beside_ports_ ? kMatchBeside : 0;
  }

  StationTable stations_;
  MatchTable matches_;
  const ClassTable classes_;
  const ApplicationPolicy& applications_;
  std::array<PlainPattern, kClassesMax> plain_patterns_{};  // by FTAG
  uint16_t near_node_ = 0;
  PortSet near_ports_ = 0, beside_ports_ = 0;
  std::map<uint32_t, uint32_t> station_quotas_;  // of every edge port of the fabric: node << 16 | port
};

template <typename Flows>
EdgeDecision EdgeInput::decide(Packet& packet, EdgePortInput& port, const EdgeKey& key, uint32_t match, Nanos now,
                               const Flows& flows) {
  const uint64_t to = load_mac(packet.data), from = load_mac(packet.data + 6);
  EdgeDecision decision{};
  const auto drop = [&decision](DropReason reason) {
    decision.verdict = EdgeVerdict::drop;
    decision.reason = reason;
    return decision;
  };
  if (from != 0) decision.learned = stations_.learn(from, packet.vni, port.address, port.settings->stations_max, now);
  const Station* station = mac_is_group(to) ? nullptr : stations_.find(to, packet.vni);
  packet.destination = station != nullptr ? station->address : kFloodAddress;
  const DropReason reason = refusal(packet, port, station, now);
  if (reason != DropReason::none) return drop(reason);
  if (station == nullptr) port.flood.take(now, 1);
  if (mac_is_group(to) || !classes_.of(packet.ftag).flow_channels) {
    decision.verdict = station != nullptr ? EdgeVerdict::no_flow : EdgeVerdict::flood;
    return decision;
  }
  const bool is_new = match == kNotFound;
  if (is_new) match = matches_.add(key.match, key.hash, flows);
  if (match == kNotFound && station != nullptr) return drop(DropReason::match_table_full);
  decision.match = match;
  decision.verdict = station != nullptr ? EdgeVerdict::flow : EdgeVerdict::flood;
  if (match == kNotFound) return decision;
  MatchEntry& entry = matches_[match];
  entry.group = group_of(applications_, key.match);
  decision.moved = entry.destination != packet.destination;
  if (has_to_wait(match, packet.destination, flows)) return drop(DropReason::station_moved);
  if (decision.moved && (entry.flags & kMatchBeside)) decision.left_beside = entry.destination.port;
  entry.destination = packet.destination;
  if (entry.flags & kMatchHeld) [[unlikely]]
    entry.flags &= uint8_t{kMatchUsed | kMatchHeld};
  else
    entry.flags = static_cast<uint8_t>(kMatchUsed | place_of(entry.destination));
  entry.station_version = stations_.version();
  if (station == nullptr) entry.flooded_ns = std::max(entry.flooded_ns, now);  // what is under way may live longer
  if (held_until(entry) <= now) entry.flooded_ns = 0;
  return decision;
}

}  // namespace heddle
