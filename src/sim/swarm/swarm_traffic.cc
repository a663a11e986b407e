// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/swarm/swarm.h"

namespace heddle::sim {

namespace {

const TopologyPort& port_of(const Swarm& swarm, uint16_t host) {
  const LinkEnd end = swarm.setup.hosts[host].port;
  return swarm.setup.topology.nodes[end.node_index].ports[end.port];
}

void draw_hosts(Swarm& swarm, Random& random) {
  const Topology& topology = swarm.setup.topology;
  const Nanos announce = draw(random, 5, 15) * kMillisecond;
  for (uint16_t node = 0; node < topology.nodes.size(); ++node) {
    for (PortIndex port = 0; port < topology.nodes[node].ports.size(); ++port) {
      if (topology.nodes[node].ports[port].fabric) continue;
      HostSetup host;
      host.name = numbered("h", swarm.setup.hosts.size());
      host.port = {node, port};
      // Far apart, so that a damaged address is nobody's.
      host.mac = (random.next() & 0xfcffffffffffu) | 0x020000000000u;
      host.announce_interval_ns = announce;
      for (MemoryLinkOptions* way : {&host.to_switch, &host.from_switch}) {
        way->rate_bps = pick(random, {100'000'000, 1'000'000'000, 10'000'000'000});
        way->delay_ns = 100 + random.below(2000);
        way->transmit_frames = 32;
        way->receive_frames = static_cast<uint32_t>(pick(random, {16, 64, 256}));
        way->capacity_frames = 512;
      }
      swarm.setup.hosts.push_back(host);
      swarm.hostile.emplace_back();
      swarm.vlans.emplace_back();
    }
  }
}

// A VLAN that both ports carry, or 0.
uint16_t common_vlan(const Swarm& swarm, uint16_t a, uint16_t b, Random& random) {
  std::vector<uint16_t> both;
  for (const uint16_t vlan : {1, 10, 20})
    if (port_of(swarm, a).vlans.member(vlan) && port_of(swarm, b).vlans.member(vlan)) both.push_back(vlan);
  return both.empty() ? uint16_t{0} : both[random.below(both.size())];
}

// Which of the class's flows share a channel: those that no field of its pattern tells apart.
uint32_t pattern_of(const HostFlow& flow, const TrafficClass& description) {
  const bool ports = (description.match & kMatchPorts) && flow.kind != FrameKind::ethernet;
  // Flow 0 has flow label 0, as frames without one.
  const bool label = (description.match & kMatchFlowLabel) && flow.kind == FrameKind::ipv6 && flow.id != 0;
  if (ports || label) return 0x80000000u | flow.id;
  const bool kinds = (description.match & (kMatchIp | kMatchPorts | kMatchDscp)) != 0;  // a class has one DSCP
  const uint32_t kind = kinds ? static_cast<uint32_t>(flow.kind) : 3;
  return 0x40000000u | uint32_t{flow.source} << 20 | uint32_t{flow.destination} << 12 |
         uint32_t{flow.class_index} << 10 | kind << 8 | flow.vlan;
}

void draw_class(Swarm& swarm, HostFlow& flow, Random& random) {
  const auto& classes = swarm.setup.topology.classes;
  const bool tagged = flow.vlan != port_of(swarm, flow.source).vlans.native;
  if (flow.kind != FrameKind::ethernet || tagged) {
    flow.class_index = static_cast<uint8_t>(random.below(classes.size()));
    if (flow.class_index != 0 && flow.kind != FrameKind::ethernet)
      flow.priority.dscp = static_cast<uint8_t>(8 * flow.class_index);
    if (flow.class_index != 0 && flow.kind == FrameKind::ethernet) flow.priority.pcp = flow.class_index;
  }
  flow.ordered = classes[flow.class_index].flow_channels;
  flow.pattern = pattern_of(flow, classes[flow.class_index]);
}

void draw_pace(Swarm& swarm, HostFlow& flow, Random& random) {
  const Nanos start = swarm.setup.start_ns;
  flow.interval_ns = draw(random, 10, 1000) * kMicrosecond;
  if (one_in(random, 3)) flow.interval_ns = draw(random, 500, 3000) * kMicrosecond;
  if (one_in(random, 4)) flow.burst_frames = static_cast<uint32_t>(draw(random, 2, 40));
  if (flow.burst_frames > 4) flow.interval_ns *= 8;
  if (one_in(random, 5)) {
    flow.window_frames = static_cast<uint32_t>(draw(random, 1, 16));
    flow.interval_ns = draw(random, 5, 50) * kMicrosecond;
  }
  flow.starts_ns = start + random.below(20 * kMillisecond);
  if (one_in(random, 3)) flow.stops_ns = flow.starts_ns + random.below(60 * kMillisecond);
  const uint16_t least = flow.kind == FrameKind::ipv6 ? uint16_t{80} : uint16_t{60};
  flow.length_min = least;
  flow.length_max = static_cast<uint16_t>(pick(random, {90, 200, 1514}));
  if (one_in(random, 3)) flow.length_min = flow.length_max;
  if (one_in(random, 8)) flow.length_max = 1514;
  const uint16_t mtu = port_of(swarm, flow.source).mtu_bytes;
  flow.length_max = std::min<uint16_t>(flow.length_max, static_cast<uint16_t>(mtu + 14));
  flow.length_min = std::min(flow.length_min, flow.length_max);
}

void add_flow(Swarm& swarm, uint16_t source, uint16_t destination, uint16_t vlan, Random& random) {
  HostFlow flow;
  flow.id = static_cast<uint16_t>(swarm.flows.size());
  flow.source = source;
  flow.destination = destination;
  flow.vlan = vlan;
  flow.kind = static_cast<FrameKind>(random.below(3));
  flow.name = numbered("", flow.id) + numbered(" (h", source) + numbered(" to h", destination) + ")";
  draw_class(swarm, flow, random);
  draw_pace(swarm, flow, random);
  for (const uint16_t host : {source, destination}) {
    auto& vlans = swarm.vlans[host];
    if (std::find(vlans.begin(), vlans.end(), vlan) == vlans.end()) vlans.push_back(vlan);
  }
  swarm.flows.push_back(flow);
}

void draw_hostile(Swarm& swarm, Random& random) {
  if (!one_in(random, 3)) return;
  swarm.checker.hostile = true;
  Topology& topology = swarm.setup.topology;
  const bool moving = one_in(random, 2);  // one address at several ports
  for (uint64_t hosts = draw(random, moving ? 2 : 1, 3); hosts > 0; --hosts) {
    HostileOptions& options = swarm.hostile[random.below(swarm.hostile.size())];
    for (unsigned kind = 0; kind < static_cast<unsigned>(HostileKind::pause_storm); ++kind)
      if (one_in(random, 3)) options.kinds |= 1u << kind;
    if (moving) options.kinds |= 1u << static_cast<unsigned>(HostileKind::moving_station);
    options.starts_ns = swarm.setup.start_ns + random.below(20 * kMillisecond);
    options.interval_ns = draw(random, 20, 300) * kMicrosecond;
    options.burst_frames = static_cast<uint32_t>(draw(random, 1, 4));
    options.flows = static_cast<uint32_t>(pick(random, {10, 10'000}));
  }
  // Stations that the file puts where nobody is: a port that isn't there, a node that isn't there.
  if (one_in(random, 2)) {
    const uint16_t address = topology.nodes[random.below(topology.nodes.size())].address;
    topology.stations.push_back({0x02cc00000001, 1, {address, 60}});
    topology.stations.push_back({0x02cc00000002, 1, {65000, 0}});
  }
}

}  // namespace

void draw_crowd(Swarm& swarm, Random random) {
  if (!one_in(random, 4)) return;
  FabricSettings& settings = swarm.setup.topology.settings;
  // Less never lets a queue grow past the marks of congestion.
  if (one_in(random, 2)) settings.output_room_buffers = std::max(settings.output_room_buffers, 64u);
  for (HostSetup& host : swarm.setup.hosts) {
    host.to_switch.rate_bps = 10'000'000'000;
    host.from_switch.rate_bps = std::min<uint64_t>(host.from_switch.rate_bps, 1'000'000'000);
    swarm.setup.topology.nodes[host.port.node_index].ports[host.port.port].rate_bps = host.from_switch.rate_bps;
  }
  for (HostFlow& flow : swarm.flows) {
    if (one_in(random, 3)) continue;
    flow.interval_ns = 0;
    flow.burst_frames = 1;
    flow.window_frames = static_cast<uint32_t>(draw(random, 8, 64));
    const uint16_t longest = port_of(swarm, flow.source).mtu_bytes + 14;
    flow.length_max = std::max<uint16_t>(flow.length_max, std::min<uint16_t>(longest, 1514));
    if (one_in(random, 2)) flow.length_min = flow.length_max;
  }
}

void draw_floods(Swarm& swarm, Random random) {
  if (!one_in(random, 3)) return;
  for (HostFlow& flow : swarm.flows) {
    if (!one_in(random, 4)) continue;
    flow.interval_ns = 0;
    flow.burst_frames = 1;
    flow.window_frames = 0;
    flow.on_ns = draw(random, 100, 2000) * kMicrosecond;
    flow.off_ns = flow.on_ns * draw(random, 2, 20);
  }
}

void draw_traffic(Swarm& swarm, Random& random) {
  draw_hosts(swarm, random);
  const auto hosts = static_cast<uint16_t>(swarm.setup.hosts.size());
  const uint64_t wanted = draw(random, 2, 6) + (one_in(random, 4) ? draw(random, 10, 30) : 0);
  const bool incast = one_in(random, 4);
  const auto target = static_cast<uint16_t>(random.below(hosts));
  for (uint64_t tries = 0; tries < 4 * wanted && swarm.flows.size() < wanted; ++tries) {
    const auto source = static_cast<uint16_t>(random.below(hosts));
    const auto destination = incast ? target : static_cast<uint16_t>(random.below(hosts));
    if (source == destination) continue;
    const uint16_t vlan = common_vlan(swarm, source, destination, random);
    if (vlan != 0) add_flow(swarm, source, destination, vlan, random);
  }
  draw_hostile(swarm, random);
}

}  // namespace heddle::sim
