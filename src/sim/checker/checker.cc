// SPDX-License-Identifier: Apache-2.0
#include "sim/checker/checker.h"

#include <algorithm>

#include "sim/hosts/host.h"

namespace heddle::sim {

namespace {

constexpr uint8_t kByFlow = 1, kByTree = 2;

const char* invariant_name(int number) {
  switch (number) {
    case 1:
      return "positions and conservation of bytes";
    case 2:
      return "conservation of frames";
    case 3:
      return "order and no duplicate";
    case 4:
      return "one flow per flow ID";
    case 5:
      return "injection limits";
    case 6:
      return "credits";
    case 7:
      return "lossless classes lose nothing";
    case 8:
      return "liveness";
    case 9:
      return "rest";
    case 11:
      return "shapers";
    default:
      return "determinism";
  }
}

}  // namespace

Checker::Checker(Fabric& fabric, SeedCoverage& coverage, const CheckerOptions& options)
    : fabric_(fabric), coverage_(coverage), options_(options), lanes_(fabric.topology()) {
  const Topology& topology = fabric.topology();
  directions_.resize(topology.links.size());
  nonces_.resize(topology.links.size());
  for (auto& pair : directions_)
    for (DirectionGhost& ghost : pair) ghost.channels.resize(topology.settings.flow_ids + size_t{1});
  flows_.resize(fabric.traffic().flows.size());
  polls_.resize(topology.nodes.size());
  session_up_.resize(topology.nodes.size());
  down_reason_.resize(topology.nodes.size());
  states_.resize(topology.nodes.size());
  meters_.resize(topology.nodes.size());
  ended_.resize(topology.nodes.size());
  injected_.resize(topology.nodes.size());
  shaped_.resize(topology.nodes.size());
  link_of_.resize(topology.nodes.size());
  for (uint16_t node = 0; node < topology.nodes.size(); ++node) {
    link_of_[node].assign(topology.nodes[node].ports.size(), ~0u);
    after_start(node);
  }
  for (uint32_t link = 0; link < topology.links.size(); ++link)
    for (const LinkEnd& end : topology.links[link].ends) link_of_[end.node_index][end.port] = link;
}

void Checker::fail(int invariant, const std::string& what) const {
  throw BrokenInvariant("invariant " + std::to_string(invariant) + " (" + invariant_name(invariant) + ") at " +
                        std::to_string(fabric_.engine().now()) + " ns: " + what);
}

std::string Checker::place(uint16_t node, PortIndex port) const {
  const TopologyNode& description = fabric_.topology().nodes[node];
  return "node " + description.name + " port " + description.ports[port].name + " (" + std::to_string(port) + ")";
}

std::string Checker::place(uint32_t link, unsigned direction) const {
  const LinkEnd from = end_of(link, direction), to = end_of(link, 1 - direction);
  return "link " + std::to_string(link) + " from " + place(from.node_index, from.port) + " to " +
         place(to.node_index, to.port);
}

void Checker::after_start(uint16_t node) {
  const size_t ports = fabric_.topology().nodes[node].ports.size();
  session_up_[node].assign(ports, false);
  down_reason_[node].assign(ports, LinkDownReason::no_hello);
  ended_[node].assign(ports, {});
  injected_[node].assign(ports, {});
  shaped_[node].assign(ports, {});
  meters_[node].assign(ports, std::vector<MeterGhost>(fabric_.topology().settings.flow_ids + size_t{1}));
  states_[node].assign(ports, std::vector<uint8_t>(fabric_.topology().settings.flow_ids + size_t{1}));
}

void Checker::before_crash(uint16_t node) {
  check_counters(node);
  sessions_lost_ = true;
  topology_changed_ns_ = fabric_.engine().now();
}

// What is injected may then be more than the new limits, and not grow; what of it is an ID's is another part.
void Checker::before_regroup(uint16_t node) {
  const Node& state = *fabric_.node(node);
  for (PortIndex index = 0; index < state.ports(); ++index) {
    check_injection(node, state.port(index));
    check_group_counts(node, state.port(index));
    injected_[node][index].ids.fill(kNoInjectionLimit);
  }
}

void Checker::after_poll(uint16_t node, WorkerIndex, const PollResult&, Nanos now) {
  note_sessions(node, now);
  if (++polls_[node] % options_.polls_per_check != 0) return;
  check_node(node);
}

void Checker::note_sessions(uint16_t node, Nanos now) {
  const Node& state = *fabric_.node(node);
  for (PortIndex index = 0; index < state.ports(); ++index) {
    const Port& port = state.port(index);
    if (!port.is_fabric()) continue;
    const bool up = port.session.up();
    EndedSession& ended = ended_[node][index];
    if (!up && ended.epoch != port.input.ref.epoch) {
      ended.epoch = port.input.ref.epoch;
      ended.ack_flow.clear();
      for (uint32_t id = 0; id <= port.input.flows.size(); ++id)
        ended.ack_flow.push_back(port.input.flows[FlowId::of(id)].ack_flow);
    }
    const LinkDownReason reason = port.session.down_reason();
    if (!up && reason != down_reason_[node][index])
      coverage_.reach(std::string("link down: ") + link_down_text(reason));
    down_reason_[node][index] = reason;
    if (up == session_up_[node][index]) continue;
    session_up_[node][index] = up;
    topology_changed_ns_ = now;
    if (!up) sessions_lost_ = true;
  }
}

void Checker::check_all() {
  for (uint16_t node = 0; node < fabric_.topology().nodes.size(); ++node)
    if (fabric_.node(node) != nullptr) check_node(node);
  for (uint32_t link = 0; link < directions_.size(); ++link)
    for (unsigned direction = 0; direction < 2; ++direction) check_link(link, direction);
}

// --- hosts ---

void Checker::on_host_sent(uint16_t flow, uint32_t, Nanos now) {
  flows_[flow].arrivals.push_back(0);
  flows_[flow].sent_ns.push_back(now);
}

// A frame with flipped bits may reach a host: the fabric protects its headers, not the hosts' bytes.
bool Checker::forgive_damage() {
  if (damage_ == 0) return false;
  --damage_;
  return true;
}

void Checker::check_membership(uint16_t host, const Packet& packet, uint16_t vlan) {
  const LinkEnd end = fabric_.setup().hosts[host].port;
  const VlanMembership& vlans = fabric_.topology().nodes[end.node_index].ports[end.port].vlans;
  const std::string who = "host " + std::to_string(host) + " at " + place(end.node_index, end.port);
  if (!vlans.member(vlan)) fail(3, who + " got a frame of VLAN " + std::to_string(vlan));
  const bool tagged = packet.data[12] == 0x81 && packet.data[13] == 0;
  if (tagged != (vlan != vlans.native)) fail(3, who + " got a frame with a tag it should not have, or without its tag");
}

// E2: what edge ports write. Classes that one may become instead of another write the same (swarm_ports.cc).
FramePriority Checker::delivered_priority(const HostFlow& flow) const {
  const TrafficClass& is = fabric_.topology().classes[flow.class_index];
  return {.pcp = is.rewrite_pcp == kAsSent ? flow.priority.pcp : is.rewrite_pcp,
          .dscp = is.rewrite_dscp == kAsSent ? flow.priority.dscp : is.rewrite_dscp};
}

void Checker::on_host_frame(uint16_t host, const Packet& packet, bool flooded, Nanos now) {
  trace(uint64_t{host} << 32 | packet.length);
  trace(now);
  const bool is_tagged = packet.data[12] == 0x81 && packet.data[13] == 0;
  if (load_be16(packet.data + (is_tagged ? 16 : 12)) == HEDDLE_ETHERTYPE)
    fail(3, "host " + std::to_string(host) + " got a frame of the fabric's own type (K14)");
  Trailer trailer;
  if (!read_trailer(packet.data, packet.length, trailer)) {
    if (options_.hostile || forgive_damage()) return;
    fail(3, "host " + std::to_string(host) + " got a frame that nobody sent");
  }
  if (trailer.flow == kAnnouncementFlow) {
    if (trailer.sequence >> 16 == host) fail(3, "host " + std::to_string(host) + " got its own broadcast back");
    return check_membership(host, packet, static_cast<uint16_t>(trailer.sequence));
  }
  if (trailer.flow == kHostileFlow) return check_membership(host, packet, static_cast<uint16_t>(trailer.sequence));
  const auto& flows = fabric_.traffic().flows;
  if (trailer.flow >= flows.size() || trailer.sequence >= flows_[trailer.flow].arrivals.size())
    fail(3, "host " + std::to_string(host) + " got frame " + std::to_string(trailer.sequence) + " of flow " +
                std::to_string(trailer.flow) + ", which was never sent");
  const HostFlow& flow = flows[trailer.flow];
  check_membership(host, packet, flow.vlan);
  if (!flooded && flow.destination != host)
    fail(3, "flow " + flow.name + " for host " + std::to_string(flow.destination) + " reached host " +
                std::to_string(host));
  if (flow.source == host) fail(3, "flow " + flow.name + " came back to its source");
  const bool tagged = packet.data[12] == 0x81 && packet.data[13] == 0;
  const char* difference =
      compare_frame(packet.data, packet.length, flow, delivered_priority(flow), fabric_.host(flow.source).station(),
                    fabric_.host(flow.destination).station(), tagged, trailer);
  if (difference != nullptr && !forgive_damage())
    fail(3, "flow " + flow.name + " frame " + std::to_string(trailer.sequence) + ": " + difference);
  const bool marked = is_marked(packet.data, packet.length, flow, tagged);
  if (marked && difference == nullptr && !fabric_.topology().classes[flow.class_index].ecn && !forgive_damage())
    fail(3, "flow " + flow.name + ": marked, and its class is not");
  if (flow.destination == host) check_ordered(flow, trailer, flooded, now);
}

void Checker::check_ordered(const HostFlow& flow, const Trailer& trailer, bool flooded, Nanos now) {
  FlowGhost& ghost = flows_[flow.id];
  uint8_t& arrivals = ghost.arrivals[trailer.sequence];
  const std::string frame = "flow " + flow.name + " frame " + std::to_string(trailer.sequence);
  // While trees differ between nodes a flooded frame may come twice; a frame of a flow channel never.
  const Nanos settle = fabric_.topology().classes[flow.class_index].life_ns;
  const bool tree_changed = ghost.sent_ns[trailer.sequence] <= topology_changed_ns_ + settle;
  if (arrivals != 0 && !(flooded && arrivals == kByTree && tree_changed))
    fail(3, frame + " came a second time" + (flooded ? ", by the tree" : ""));
  arrivals |= flooded ? kByTree : kByFlow;
  if (!flow.ordered) return;
  if (trailer.sequence >= ghost.next_ordered) {
    if (!flooded) ghost.next_ordered = trailer.sequence + 1;
    return;
  }
  fail(3, frame + (flooded ? " (flooded)" : "") + " came after frame " + std::to_string(ghost.next_ordered - 1) +
              "; sent at " + std::to_string(ghost.sent_ns[trailer.sequence]) + ", the later one at " +
              std::to_string(ghost.sent_ns[ghost.next_ordered - 1]) + ", now " + std::to_string(now));
}

}  // namespace heddle::sim
