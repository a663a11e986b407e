// SPDX-License-Identifier: Apache-2.0
// The fabric as one file describes it, the same on every node: an immutable value after loading.
// The position of a node in `nodes` and of a port in `ports` is its index everywhere in the program.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "wire/types.h"

namespace heddle {

constexpr uint16_t kVlanMax = 4094;
constexpr uint32_t kEthernetHeaderBytes = 14;
// Rates that files may give ports and links, in bits per second.
constexpr uint64_t kRateMinBps = 1'000;
constexpr uint64_t kRateMaxBps = 1'000'000'000'000;
// What a frame costs on a wire besides its bytes: preamble, frame check sequence and gap.
constexpr uint32_t kWireExtraBytes = 24;
constexpr uint32_t kOverheadMaxBytes = 255;  // that files may say it costs
constexpr uint8_t kLinkCostMax = 15;
constexpr uint64_t kRateUnknownBps = 10'000'000'000;  // of ports without a configured rate

// How an edge port asks its host to wait, and is asked by it (C9).
enum class HostFlowControl : uint8_t { off, pause, pfc };

struct PortPeer {
  uint16_t node_index = 0;
  PortIndex port = kNoPort;
};

// How an edge port treats 802.1Q (E1).
struct VlanMembership {
  uint16_t native = 1;       // VLAN of untagged frames, in and out; 0 = untagged frames are refused (trunk only)
  std::bitset<4096> tagged;  // trunk: VLANs that are carried with a tag; empty on an access port
  bool trunk = false;
  bool member(uint16_t vlan) const { return vlan != 0 && (vlan == native || tagged.test(vlan)); }
};

struct TopologyPort {
  std::string name;
  bool fabric = false;                       // has a link to another node; else an edge port
  uint64_t rate_bps = 0;                     // bits per second; 0 = as fast as the device takes it
  uint8_t overhead_bytes = kWireExtraBytes;  // what a frame takes of that rate beside its bytes
  uint16_t mtu_bytes = 0;         // largest layer-3 packet: frames are at most mtu + 14 (+ 4 with a tag on edge ports)
  PortPeer peer;                  // fabric ports
  uint8_t cost = 1;               // fabric ports: of their link, the same at both ends (R1)
  VlanMembership vlans;           // edge ports
  bool forward_reserved = false;  // edge ports: LLDP and BPDUs pass instead of being dropped
  uint32_t flood_frames_per_second = 1000;  // edge ports: broadcast, multicast and unknown unicast, each port
  uint32_t stations_max = 16384;            // edge ports: learned addresses
  HostFlowControl flow_control = HostFlowControl::pfc;  // edge ports: of lossless classes
  static constexpr uint8_t kNoClass = 0xff;
  uint8_t default_class = kNoClass;  // edge ports: position of the class of untagged frames without a DSCP of one (E2);
                                     // kNoClass = PCP 0's
  uint16_t allowed_classes = 0xffff;  // edge ports, bit c: the class at position c is for its hosts
  uint64_t police_bps = 0;            // edge ports: what they may send, on the wire; 0 = anything
  uint32_t police_burst_bytes = 0;    // edge ports: at once, if there is a rate
};

// What shares of an edge port are shares of (C3): its configured rate, or where it has none a usual one.
inline uint64_t shared_rate_bps(const TopologyPort& port) {
  return port.rate_bps != 0 ? port.rate_bps : kRateUnknownBps;
}

struct TopologyNode {
  std::string name;
  uint16_t address = 0;  // 1-65534, unique
  std::vector<TopologyPort> ports;
};

struct LinkEnd {
  uint16_t node_index = 0;
  PortIndex port = 0;
};

struct TopologyLink {
  LinkEnd ends[2];
};

// Which fields, besides ingress port, destination, FTAG, VNI and both MACs, tell flows of a class apart (F1).
enum MatchField : uint8_t {
  kMatchIp = 0x01,         // IPv4 or IPv6 source and destination
  kMatchPorts = 0x02,      // protocol and TCP/UDP ports
  kMatchFlowLabel = 0x04,  // IPv6 flow label
  kMatchDscp = 0x08,
};

constexpr size_t kClassesMax = kFtags;

constexpr Nanos kLifeMaxNs = 4 * kSecond;  // 16 bits of units in the header
constexpr Nanos kLifeUsualNs = 50 * kMillisecond;
constexpr Nanos kFloodLifeMax = 50 * kMillisecond;
// What is under way is dead after so long: one life, and some more for the time on wires and in devices, which no hop
// counts.
constexpr Nanos dead_after_ns(Nanos life) { return life + life / 8; }

// Which of several ways its flows take (R1).
enum class PathPolicy : uint8_t {
  fixed,         // the destination's own, whatever else goes there
  random,        // any, for each flow as it begins
  least_loaded,  // as a flow begins, or goes on after a rest
  shortest,      // and it moves when that has become a bad one (R9)
  adaptive,      // and takes a longer one when all shortest have (R4)
  valiant,       // a longer one, whatever the shortest have to do, by a node that chance says
};
constexpr bool moves(PathPolicy policy) { return policy == PathPolicy::shortest || policy == PathPolicy::adaptive; }
constexpr bool takes_detours(PathPolicy policy) {
  return policy == PathPolicy::adaptive || policy == PathPolicy::valiant;
}

constexpr uint8_t kAsSent = 0xff;  // nothing is written over what a host has sent

struct TrafficClass {
  std::string name = "default";
  uint8_t ftag = 0;                        // below kClassesMax, unique
  uint8_t match = kMatchIp | kMatchPorts;  // MatchField bits
  bool congestion_control = true;          // C3: flows to congested hosts are held to their share
  bool flow_credits = true;                // C6: flows that queue inside the fabric are held back hop by hop
  bool flow_channels = true;               // F11: false = no-flow, unacknowledged
  bool lossless = false;                   // C9: waits where a lossy class is dropped
  bool ecn = false;                        // C10: frames to congested hosts are marked
  bool link_retry = true;                  // K6, of a lossless class: what a link loses is sent again
  uint16_t pcp_set = 0xff;                 // bit p: frames of PCP p (untagged: the port default 0) are of this class
  uint64_t dscp_set = 0;                   // bit d: IP packets of DSCP d are of this class; looked at before PCP
  uint8_t rewrite_dscp = kAsSent;          // E2: what hosts get as DSCP and PCP of its frames
  uint8_t rewrite_pcp = kAsSent;           // (in a tag)
  PathPolicy path = PathPolicy::adaptive;
  Nanos life_ns = kLifeUsualNs;            // K8
  uint32_t flow_queue_bytes = 256 * 1024;  // of one flow's input queue: drop mark (A8), lossless: its host is paused
  // 802.1p priorities of its frames, bit p; one that DSCP alone tells has that of untagged frames.
  uint8_t priorities() const { return pcp_set == 0 ? uint8_t{1} : static_cast<uint8_t>(pcp_set); }
  // The same as hosts get them.
  uint8_t delivered_priorities() const {
    return rewrite_pcp == kAsSent ? priorities() : static_cast<uint8_t>(1u << rewrite_pcp);
  }
  // K8, of a frame that is flooded: floods are lossy, whatever their class.
  Nanos flood_life_ns() const { return std::min(life_ns, kFloodLifeMax); }
};

// Position of the class of a frame that names none, at an edge port.
inline size_t usual_class(const std::vector<TrafficClass>& classes, const TopologyPort& port) {
  if (port.default_class != TopologyPort::kNoClass) return port.default_class;
  const auto of_pcp_0 = [](const TrafficClass& one) { return (one.pcp_set & 1) != 0; };
  const auto found = std::find_if(classes.begin(), classes.end(), of_pcp_0);
  return found == classes.end() ? 0 : static_cast<size_t>(found - classes.begin());
}

struct StaticStation {
  uint64_t mac = 0;  // 48 bits
  uint16_t vlan = 1;
  FabricAddress address;
};

constexpr uint32_t kLosslessCreditsMin = 16;

// Timers and sizes of the whole fabric; the defaults suit software ports.
struct FabricSettings {
  Nanos hello_interval_ns = 10 * kMillisecond;   // K1
  uint32_t hellos_missed = 10;                   // dead after so many intervals
  Nanos probe_base_ns = 20 * kMillisecond;       // K5; backs off to 8 times this
  Nanos credit_interval_ns = 1 * kMillisecond;   // K7: totals and limits while frames are outstanding
  Nanos station_age_ns = 300 * kSecond;          // E1
  uint32_t flow_ids = 2047;                      // per link direction (F2)
  uint32_t link_credits = 1024;                  // buffers a fabric port grants to lossy classes (C9)
  uint32_t lossless_credits = 512;               // and in each lossless virtual channel
  uint32_t input_drop_mark_packets = 768;        // of all queues of one input port; below link_credits (A8, C9)
  uint32_t output_room_buffers = 64;             // per input port at each output (X1)
  uint32_t orphans_max = 1024;                   // K9, per input port
  Nanos pause_watchdog_ns = 100 * kMillisecond;  // K14: a host's PAUSE is obeyed so long without progress
  Nanos fgfc_timer_ns = 200 * kMillisecond;      // G2: a host goes on when it has heard nothing more of a flow for that
  uint32_t ack_records_max = 48;                 // W3
  Nanos ack_idle_ns = 0;                         // W3: link idle
  Nanos ack_busy_ns = 20 * kMicrosecond;         // W3: link busy, waiting for a good count
  Nanos ack_hard_ns = 100 * kMicrosecond;        // W3: the latest
  Nanos life_ns = kLifeUsualNs;                  // K8, of classes for which the file gives none
};

struct Topology {
  std::string name;
  uint16_t edge_mtu_bytes = 1500;
  std::vector<TopologyNode> nodes;
  std::vector<TopologyLink> links;
  std::vector<TrafficClass> classes;  // at least one
  std::vector<StaticStation> stations;
  FabricSettings settings;
  uint32_t lossless_channels =
      0;  // virtual channels 1 to so many, if any class is lossless (topology/virtual_channels.h)
  bool lossless_detours = false;      // they suffice for longer ways, too (R4)
  uint16_t longer_way_cost_most = 0;  // 0: there are no longer ways (topology/longer_ways.h)

  bool any_lossless() const {
    return std::any_of(classes.begin(), classes.end(), [](const TrafficClass& one) { return one.lossless; });
  }
  bool any_lossless_detours() const {
    return std::any_of(classes.begin(), classes.end(),
                       [](const TrafficClass& one) { return one.lossless && takes_detours(one.path); });
  }
  // Index into nodes, or -1.
  int find_node(const std::string& node_name) const;
  int node_of_address(uint16_t address) const;
  int find_port(uint16_t node_index, const std::string& port_name) const;
};

}  // namespace heddle
