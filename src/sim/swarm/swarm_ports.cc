// SPDX-License-Identifier: Apache-2.0
#include "sim/swarm/swarm.h"

namespace heddle::sim {

namespace {

// Is what is promised of frames of the one, and what tells their flows apart, the same for the other?
bool alike(const TrafficClass& one, const TrafficClass& other) {
  return one.lossless == other.lossless && one.flow_channels == other.flow_channels && one.match == other.match &&
         one.ecn == other.ecn && one.rewrite_dscp == other.rewrite_dscp && one.rewrite_pcp == other.rewrite_pcp;
}

}  // namespace

// E2: what edge ports let their hosts send. Hosts know nothing of it, so a frame is given another class than it names
// only where the two are alike.
void draw_port_limits(Swarm& swarm, Random random) {
  Topology& topology = swarm.setup.topology;
  if (one_in(random, 2)) return;
  for (const HostSetup& host : swarm.setup.hosts) {
    TopologyPort& port = topology.nodes[host.port.node_index].ports[host.port.port];
    if (!topology.any_lossless() && one_in(random, 3)) {
      port.police_bps = pick(random, {20'000'000, 100'000'000, 1'000'000'000});
      port.police_burst_bytes = static_cast<uint32_t>(pick(random, {16 * 1024, 64 * 1024}));
    }
    const auto other = static_cast<uint8_t>(random.below(topology.classes.size()));
    if (alike(topology.classes[other], topology.classes[usual_class(topology.classes, port)]))
      port.default_class = other;
    const size_t usual = usual_class(topology.classes, port);
    for (size_t position = 0; position < topology.classes.size(); ++position)
      if (position != usual && one_in(random, 2) && alike(topology.classes[position], topology.classes[usual]))
        port.allowed_classes &= static_cast<uint16_t>(~(1u << position));
  }
}

// G1: hosts that obey, that only say so, and that know nothing of it. In some seeds queues are short and ports slow, so
// that many are told and some are caught.
void draw_fgfc(Swarm& swarm, Random random) {
  if (one_in(random, 2)) return;
  Topology& topology = swarm.setup.topology;
  topology.settings.fgfc_timer_ns = draw(random, 1, 20) * kMillisecond;
  if (one_in(random, 2))
    for (TrafficClass& traffic_class : topology.classes) traffic_class.flow_queue_bytes = 16 * 1024;
  const bool slow = one_in(random, 2);
  for (HostSetup& host : swarm.setup.hosts) {
    host.fgfc = static_cast<FgfcConduct>(random.below(3));
    if (one_in(random, 2)) host.fgfc_lost_every = static_cast<uint32_t>(draw(random, 2, 10));
    HostileOptions& hostile = swarm.hostile[static_cast<size_t>(&host - swarm.setup.hosts.data())];
    if (hostile.kinds != 0 && one_in(random, 2)) hostile.kinds |= 1u << static_cast<unsigned>(HostileKind::fgfc);
    if (slow) topology.nodes[host.port.node_index].ports[host.port.port].rate_bps = 20'000'000;
  }
}

}  // namespace heddle::sim
