// SPDX-License-Identifier: Apache-2.0
#include "sim/swarm/swarm.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

#include "topology/fields.h"
#include "topology/longer_ways.h"
#include "topology/virtual_channels.h"

namespace heddle::sim {

namespace {

void draw_settings(FabricSettings& settings, Random& random) {
  settings.hello_interval_ns = pick(random, {kMillisecond, kMillisecond, 2 * kMillisecond});
  settings.hellos_missed = static_cast<uint32_t>(draw(random, 3, 6));
  settings.probe_base_ns = draw(random, 1, 3) * kMillisecond;
  settings.credit_interval_ns = pick(random, {200 * kMicrosecond, kMillisecond});
  settings.station_age_ns = one_in(random, 4) ? draw(random, 30, 100) * kMillisecond : 300 * kSecond;
  settings.flow_ids = static_cast<uint32_t>(pick(random, {3, 4, 6, 8, 16, 32, 64}));
  settings.link_credits = static_cast<uint32_t>(pick(random, {8, 16, 32, 64, 128, 256}));
  settings.input_drop_mark_packets =
      static_cast<uint32_t>(draw(random, settings.link_credits / 2, settings.link_credits - 1));
  settings.output_room_buffers = static_cast<uint32_t>(pick(random, {2, 4, 8, 16, 64}));
  settings.orphans_max = static_cast<uint32_t>(pick(random, {1, 1, 1, 2, 8, 1024}));
  settings.ack_records_max = static_cast<uint32_t>(pick(random, {1, 4, 48}));
  settings.ack_idle_ns = pick(random, {0, 0, 10 * kMicrosecond});
  settings.ack_busy_ns = draw(random, 1, 50) * kMicrosecond;
  settings.ack_hard_ns = settings.ack_busy_ns + draw(random, 10, 200) * kMicrosecond;
}

void draw_classes(Topology& topology, Random& random) {
  const Nanos life = draw(random, 8, 30) * kMillisecond;
  const uint64_t classes = draw(random, 1, 3);
  for (uint8_t i = 0; i < classes; ++i) {
    TrafficClass description;
    description.name = numbered("c", i);
    description.ftag = i;
    description.life_ns = life;
    description.flow_queue_bytes = static_cast<uint32_t>(pick(random, {4096, 16384, 262144}));
    if (i > 0) {
      description.pcp_set = static_cast<uint16_t>(1u << i);
      description.dscp_set = uint64_t{1} << (8 * i);
      description.match = static_cast<uint8_t>(pick(random, {0, kMatchIp, kMatchIp | kMatchPorts, kMatchFlowLabel}));
      description.flow_channels = !one_in(random, 4);
      topology.classes.front().pcp_set &= static_cast<uint16_t>(~description.pcp_set);
    }
    topology.classes.push_back(description);
  }
}

void draw_node_sizes(Swarm& swarm, Random& random) {
  const bool tiny_pools = one_in(random, 6);
  const bool tiny_tables = one_in(random, 3);
  for (size_t node = 0; node < swarm.setup.topology.nodes.size(); ++node) {
    NodeSetup sizes;
    sizes.workers =
        static_cast<uint32_t>(std::min<uint64_t>(draw(random, 1, 3), swarm.setup.topology.nodes[node].ports.size()));
    sizes.match_entries = static_cast<uint32_t>(tiny_tables ? pick(random, {8, 16, 32}) : 256);
    sizes.station_entries = static_cast<uint32_t>(tiny_tables ? pick(random, {8, 16, 32}) : 256);
    // Two floods at once at least, or the last ports would never hear of anybody.
    const uint64_t ports = swarm.setup.topology.nodes[node].ports.size();
    sizes.copies_max = static_cast<uint32_t>(pick(random, {2 * ports, 4 * ports, 64, 512}));
    sizes.waiting_max = static_cast<uint32_t>(pick(random, {2, 16, 64}));
    if (tiny_pools) sizes.pool_packets = static_cast<uint32_t>(draw(random, 12, 48));
    // Enough for a hello on every port, or no link would stay up.
    if (tiny_pools) sizes.control_packets = static_cast<uint32_t>(2 * ports + random.below(8));
    swarm.setup.nodes.push_back(sizes);
  }
}

// What a frame does on wires and in devices ages unseen (K8): on the longest way an eighth of a life at most, or what
// is under way would outlive what waits for its death (E1, K9). At one hop of that.
Nanos unseen_at_a_hop_ns(const Topology& topology) {
  Nanos life = kLifeMaxNs;
  for (const TrafficClass& one : topology.classes) life = std::min(life, one.flood_life_ns());
  return (dead_after_ns(life) - life) / std::max<size_t>(1, topology.nodes.size() - 1);
}

// Faults that ride on a link: a random subset of kinds for the seed, and for each link its own share.
void draw_link_faults(Swarm& swarm, Random& random) {
  const bool loses = one_in(random, 2), doubles = one_in(random, 3), reorders = one_in(random, 3),
             corrupts = one_in(random, 3);
  const uint64_t worst_loss = pick(random, {1'000, 10'000, 50'000, 300'000});
  const FabricSettings& settings = swarm.setup.topology.settings;
  const Nanos unseen = unseen_at_a_hop_ns(swarm.setup.topology);
  const Nanos delay =
      std::min(unseen / 4, pick(random, {500, 5 * kMicrosecond, 50 * kMicrosecond, 300 * kMicrosecond}));
  for (size_t link = 0; link < swarm.setup.topology.links.size(); ++link) {
    std::array<MemoryLinkOptions, 2> both;
    for (MemoryLinkOptions& way : both) {
      way.delay_ns = 200 + random.below(delay);
      way.rate_bps = pick(random, {0, 100'000'000, 1'000'000'000, 10'000'000'000});
      const auto in_time = [&] { return unseen / 2 * way.rate_bps / (8 * 1600 * kSecond); };  // frames
      while (way.rate_bps != 0 && in_time() < 4) way.rate_bps *= 10;
      const uint64_t frames = way.rate_bps == 0 ? 64 : in_time();
      way.transmit_frames = static_cast<uint32_t>(std::min(frames, pick(random, {4, 16, 64})));
      way.receive_frames = settings.link_credits + (one_in(random, 8) ? 4 : 64);
      way.capacity_frames = 1024;
      way.reorder_max_ns = std::min(unseen / 4, pick(random, {2 * kMicrosecond, 50 * kMicrosecond, kMillisecond}));
      if (loses) way.loss_ppm = static_cast<uint32_t>(random.below(worst_loss));
      if (doubles) way.duplicate_ppm = static_cast<uint32_t>(random.below(100'000));
      if (reorders) way.reorder_ppm = static_cast<uint32_t>(random.below(200'000));
      if (corrupts) way.corrupt_ppm = static_cast<uint32_t>(random.below(30'000));
    }
    swarm.setup.links.push_back(both);
  }
}

void draw_faults(Swarm& swarm, Random& random) {
  FaultPlan& plan = swarm.faults;
  if (!one_in(random, 5)) {
    for (unsigned kind = 0; kind < static_cast<unsigned>(FaultKind::regroup); ++kind)
      if (one_in(random, 4)) plan.kinds |= 1u << kind;
  }
  if (one_in(random, 4)) plan.kinds |= 1u << static_cast<unsigned>(FaultKind::forgery);
  plan.mean_interval_ns = draw(random, 1, 15) * kMillisecond;
  const Nanos life = swarm.setup.topology.classes.front().life_ns;
  // A process takes longer to start than its last frames live; what is sent anew can't overtake them.
  plan.restart_least_ns = life + life / 4;
  plan.pause_max_ns = one_in(random, 20) ? kSecond : 40 * kMillisecond;
}

// C9: in some seeds, with a generator of its own, so that the others stay what they were. Hosts of some ports do not
// listen, and hostile ones pause what they can.
void draw_ecn(Swarm& swarm, Random random) {
  for (TrafficClass& traffic_class : swarm.setup.topology.classes) traffic_class.ecn = one_in(random, 2);
  for (HostFlow& flow : swarm.flows) flow.ecn = one_in(random, 2);
}

// F1: in some classes DSCP tells flows apart.
void draw_dscp_patterns(Topology& topology, Random random) {
  for (TrafficClass& traffic_class : topology.classes)
    if (one_in(random, 6)) traffic_class.match |= kMatchDscp;
}

// R1, R9: classes take paths by different policies; in some seeds the fabric ports have rates that flows reach, so that
// some are asked to move.
void draw_paths(Topology& topology, Random random) {
  for (TrafficClass& traffic_class : topology.classes)
    traffic_class.path = one_in(random, 2) ? PathPolicy::adaptive : static_cast<PathPolicy>(random.below(6));
  if (one_in(random, 2)) return;
  const uint64_t rate_bps = pick(random, {20'000'000, 100'000'000});
  for (TopologyNode& node : topology.nodes)
    for (TopologyPort& port : node.ports)
      if (port.fabric) port.rate_bps = rate_bps;
}

// E2: in half of the seeds; some classes write the same.
void draw_rewrites(Swarm& swarm, Random random) {
  if (one_in(random, 2)) return;
  for (TrafficClass& traffic_class : swarm.setup.topology.classes) {
    if (one_in(random, 2)) traffic_class.rewrite_dscp = static_cast<uint8_t>(pick(random, {0, 46, 63}));
    if (one_in(random, 2)) traffic_class.rewrite_pcp = static_cast<uint8_t>(random.below(8));
  }
}

void draw_lossless(Swarm& swarm, Random random) {
  if (!one_in(random, 3)) return;
  Topology& topology = swarm.setup.topology;
  const ChannelsNeeded channels = lossless_channels_needed(topology);
  if (channels.shortest > kLosslessChannelsMax) return;
  topology.settings.lossless_credits = static_cast<uint32_t>(pick(random, {8, 16, 64}));
  topology.settings.pause_watchdog_ns = draw(random, 1, 5) * kMillisecond;
  for (TrafficClass& traffic_class : topology.classes) traffic_class.lossless = one_in(random, 2);
  topology.classes[random.below(topology.classes.size())].lossless = true;
  settle_lossless_channels(topology, channels);
  const uint32_t needed = topology.lossless_channels;
  const bool without_flows = one_in(random, 3);
  for (TrafficClass& traffic_class : topology.classes)
    if (traffic_class.lossless && without_flows) traffic_class.flow_channels = false;
  for (TrafficClass& traffic_class : topology.classes) traffic_class.link_retry = !one_in(random, 4);
  for (HostFlow& flow : swarm.flows) flow.ordered = topology.classes[flow.class_index].flow_channels;
  if (const std::string ring = find_buffer_ring(topology, needed); !ring.empty())
    throw std::runtime_error("a ring of buffers: " + ring);
  for (auto& both : swarm.setup.links)
    for (MemoryLinkOptions& way : both) way.receive_frames += needed * topology.settings.lossless_credits;
  for (const HostSetup& host : swarm.setup.hosts)
    topology.nodes[host.port.node_index].ports[host.port.port].flow_control =
        static_cast<HostFlowControl>(one_in(random, 8) ? 0 : draw(random, 1, 2));
  for (HostileOptions& options : swarm.hostile)
    if (options.kinds != 0 && one_in(random, 2)) options.kinds |= 1u << static_cast<unsigned>(HostileKind::pause_storm);
}

}  // namespace

Swarm draw_swarm(uint64_t seed) {
  Random random(seed ^ 0x6865646c65u);
  Swarm swarm;
  swarm.setup.seed = random.next();
  swarm.setup.checked = true;
  swarm.setup.start_ns = one_in(random, 4) ? random.next() >> 8 : kSecond;
  Topology& topology = swarm.setup.topology;
  topology.name = numbered("swarm", seed);
  draw_settings(topology.settings, random);
  draw_classes(topology, random);
  draw_dscp_patterns(topology, Random(seed ^ 0xd5c9));
  draw_topology(swarm, random);
  topology.longer_way_cost_most = longer_way_cost_most(topology);
  draw_node_sizes(swarm, random);
  draw_link_faults(swarm, random);
  draw_traffic(swarm, random);
  draw_faults(swarm, random);
  draw_lossless(swarm, Random(seed ^ 0x10551e55));
  for (const TopologyNode& node : topology.nodes)
    topology.settings.flow_ids = std::max(topology.settings.flow_ids, flow_ids_needed(topology, node));
  draw_ecn(swarm, Random(seed ^ 0xec0));
  draw_rewrites(swarm, Random(seed ^ 0x3e721));
  draw_crowd(swarm, Random(seed ^ 0xc0d));
  draw_floods(swarm, Random(seed ^ 0xf100d));
  draw_applications(swarm, Random(seed ^ 0xa991));
  draw_paths(topology, Random(seed ^ 0x9a7b));
  draw_shapers(swarm, Random(seed ^ 0x5a9e));
  draw_port_limits(swarm, Random(seed ^ 0x9011));
  draw_fgfc(swarm, Random(seed ^ 0xf9fc));
  swarm.setup.complete_checksums = one_in(random, 3);
  if (swarm.setup.complete_checksums)
    for (HostFlow& flow : swarm.flows)
      if (flow.kind != FrameKind::ethernet && one_in(random, 2)) flow.checksum = ChecksumKind::partial;
  swarm.setup.costs = {
      .turn_ns = draw(random, 200, 600), .packet_ns = draw(random, 40, 200), .crossing_ns = draw(random, 20, 100)};
  if (one_in(random, 3)) draw_node_seeds(swarm, random);
  swarm.faults_ns = draw(random, 30, 120) * kMillisecond;
  swarm.checker.polls_per_check = static_cast<uint32_t>(pick(random, {4, 16, 64}));
  if (topology.nodes.size() <= 4 && topology.settings.flow_ids <= 16) swarm.checker.polls_per_check = 1;
  return swarm;
}

std::string Swarm::text() const {
  std::ostringstream out;
  const Topology& topology = setup.topology;
  const FabricSettings& s = topology.settings;
  out << "shape " << shape << ", switches " << topology.nodes.size() << ", links " << topology.links.size()
      << ", hosts " << setup.hosts.size() << ", flows " << flows.size() << "\nworkers";
  for (const NodeSetup& node : setup.nodes)
    out << ' ' << node.workers << (node.applications.configured ? "a" : "") << (node.shapers.empty() ? "" : "s");
  const NodeSetup& node = setup.nodes.front();
  out << "\nnode 0: match " << node.match_entries << ", stations " << node.station_entries << ", copies "
      << node.copies_max << ", waiting " << node.waiting_max << ", pool " << node.pool_packets << '/'
      << node.control_packets << "\nflow_ids " << s.flow_ids << ", link_credits " << s.link_credits
      << ", input_drop_mark " << s.input_drop_mark_packets << ", output_room " << s.output_room_buffers
      << ", orphans_max " << s.orphans_max << ", station_age " << s.station_age_ns << "\nhello " << s.hello_interval_ns
      << " x " << s.hellos_missed << ", probe " << s.probe_base_ns << ", credit interval " << s.credit_interval_ns
      << ", ack records " << s.ack_records_max << ", ack timers " << s.ack_idle_ns << ' ' << s.ack_busy_ns << ' '
      << s.ack_hard_ns << "\nclasses";
  for (const TrafficClass& c : topology.classes) {
    out << " {" << c.name << " life " << c.life_ns << " match " << int{c.match} << " queue " << c.flow_queue_bytes
        << (c.flow_channels ? "" : " no flows") << (c.lossless ? " lossless" : "")
        << (c.lossless && c.link_retry ? " sent again" : "") << (c.ecn ? " ecn" : "");
    out << " path " << kPathPolicyNames[static_cast<size_t>(c.path)];
    if (c.rewrite_dscp != kAsSent) out << " as dscp " << int{c.rewrite_dscp};
    if (c.rewrite_pcp != kAsSent) out << " as pcp " << int{c.rewrite_pcp};
    out << '}';
  }
  out << "\nlossless channels " << topology.lossless_channels << " of " << s.lossless_credits << " credits, watchdog "
      << s.pause_watchdog_ns;
  for (size_t i = 0; i < setup.links.size(); ++i) {
    const TopologyLink& link = topology.links[i];
    for (unsigned way = 0; way < 2; ++way) {
      const MemoryLinkOptions& l = setup.links[i][way];
      out << "\nlink " << i << " n" << link.ends[way].node_index << ":" << link.ends[way].port << " to n"
          << link.ends[1 - way].node_index << ":" << link.ends[1 - way].port << ": delay " << l.delay_ns << ", rate "
          << l.rate_bps << ", loss " << l.loss_ppm << ", duplicate " << l.duplicate_ppm << ", reorder " << l.reorder_ppm
          << " by " << l.reorder_max_ns << ", corrupt " << l.corrupt_ppm << " ppm, rings " << l.transmit_frames << '/'
          << l.receive_frames;
    }
  }
  for (size_t i = 0; i < setup.hosts.size(); ++i)
    out << "\nhost " << i << " at n" << setup.hosts[i].port.node_index << ":" << setup.hosts[i].port.port << ", rates "
        << setup.hosts[i].to_switch.rate_bps << '/' << setup.hosts[i].from_switch.rate_bps << std::hex << ", mac "
        << setup.hosts[i].mac << ", hostile kinds " << hostile[i].kinds << std::dec << ", "
        << kFgfcConductNames[static_cast<size_t>(setup.hosts[i].fgfc)] << '/' << setup.hosts[i].fgfc_lost_every;
  for (const HostFlow& f : flows)
    out << "\nflow " << f.name << " VLAN " << f.vlan << " class " << int{f.class_index} << " kind "
        << static_cast<int>(f.kind) << ", " << f.burst_frames << " x " << f.length_min << '-' << f.length_max
        << " bytes each " << f.interval_ns << " ns, window " << f.window_frames << ", on " << f.on_ns << " off "
        << f.off_ns << ", from " << f.starts_ns << " to " << f.stops_ns;
  out << "\nfaults for " << faults_ns << " ns, one each " << faults.mean_interval_ns << " ns:";
  for (unsigned kind = 0; kind < kFaultKinds; ++kind)
    if (faults.kinds >> kind & 1) out << ' ' << kFaultKindNames[kind];
  out << "\nturn " << setup.costs.turn_ns << " + " << setup.costs.packet_ns << " a packet + " << setup.costs.crossing_ns
      << " a crossing, check each " << checker.polls_per_check << " polls, start " << setup.start_ns << '\n';
  return out.str();
}

}  // namespace heddle::sim
