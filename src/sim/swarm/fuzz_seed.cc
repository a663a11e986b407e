// SPDX-License-Identifier: Apache-2.0
// One seed from start to rest.
#include <array>
#include <bit>
#include <map>
#include <ostream>
#include <set>
#include <type_traits>

#include "sim/hosts/host.h"
#include "sim/swarm/fuzz.h"
#include "sim/swarm/swarm.h"

namespace heddle::sim {

namespace {

class SeedRun {
 public:
  SeedRun(const Swarm& swarm, SeedResult& result, std::ostream* log)
      : swarm_(swarm),
        result_(result),
        log_(log),
        engine_(swarm.setup.start_ns),
        traffic_{swarm.flows},
        fabric_(swarm.setup, engine_, traffic_),
        checker_(fabric_, result.coverage, swarm.checker),
        faults_(fabric_, swarm.faults, swarm.setup.seed ^ 0xfa17,
                [this](FaultKind kind, const std::string& text, uint32_t) { tell(kind, text); }) {}

  void log_frames() { checker_.log_frames(log_); }
  void run();
  void collect();

 private:
  static constexpr Nanos kStep = 2 * kMillisecond;

  void tell(FaultKind kind, const std::string& text);
  void say(const std::string& text);
  void begin();
  void wait_for_links();
  void require_progress();
  bool finds_match_entry(const HostFlow& flow) const;
  const TopologyPort& exit_of(const HostFlow& flow) const;
  uint64_t slowest_shaper_bps() const;
  Nanos fair_interval_ns(const HostFlow& flow) const;
  Nanos time_of_backlog() const;
  void end_all_rest();
  void require_rest();
  std::string broken_links() const;
  void note_counters();
  void fold_counters();
  std::string describe_ports() const;
  std::string describe(const Port& port, const PortCounters& before) const;
  const FabricSettings& settings() const { return swarm_.setup.topology.settings; }
  Nanos life() const { return swarm_.setup.topology.classes.front().life_ns; }

  const Swarm& swarm_;
  SeedResult& result_;
  std::ostream* log_;
  Engine engine_;
  Traffic traffic_;
  Fabric fabric_;
  Checker checker_;
  FaultInjector faults_;
  std::vector<PortCounters> counted_;  // by node and port
};

void SeedRun::say(const std::string& text) {
  if (log_ != nullptr) *log_ << engine_.now() << " ns: " << text << '\n';
}

void SeedRun::tell(FaultKind kind, const std::string& text) {
  result_.coverage.reach("fault: " + std::string(kFaultKindNames[static_cast<unsigned>(kind)]));
  say(text);
}

void SeedRun::note_counters() {
  counted_.clear();
  for (uint16_t index = 0; index < swarm_.setup.topology.nodes.size(); ++index) {
    const Node& node = *fabric_.node(index);
    for (PortIndex port = 0; port < node.ports(); ++port) counted_.push_back(node.port(port).counters);
  }
}

// What tells why frames do not get on: on each port the drops since note_counters() and the flows that have something.
std::string SeedRun::describe_ports() const {
  std::string text;
  size_t place = 0;
  for (uint16_t index = 0; index < swarm_.setup.topology.nodes.size(); ++index) {
    const Node& node = *fabric_.node(index);
    for (PortIndex port = 0; port < node.ports(); ++port)
      text += "\n  node " + std::to_string(index) + " port " + std::to_string(port) + ": " +
              describe(node.port(port), counted_[place++]);
  }
  return text;
}

std::string SeedRun::describe(const Port& port, const PortCounters& before) const {
  std::string text = "received " + std::to_string(port.counters.received_frames - before.received_frames) + ", sent " +
                     std::to_string(port.counters.sent_frames - before.sent_frames) + ", output flows " +
                     std::to_string(port.output.flows.used()) + ", waiting " +
                     std::to_string(port.input.waiting.count());
  if (port.output.congestion.congested())
    text += ", congestion " + std::to_string(port.output.congestion.part(0).position()) + " with " +
            std::to_string(port.output.scheduler.bytes()) + " bytes";
  for (unsigned i = 0; i < kDropReasons; ++i)
    if (port.counters.drops[i] != before.drops[i])
      text += ", " + std::string(kDropReasonNames[i]) + " " + std::to_string(port.counters.drops[i] - before.drops[i]);
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const InputFlow& flow = port.input.flows[FlowId::of(i)];
    if (!flow.in_use()) continue;
    text += "; flow " + std::to_string(i) + " state " + std::to_string(static_cast<int>(FlowState{flow.state})) +
            " flags " + std::to_string(flow.flags) + " queue " + std::to_string(flow.queue_extent()) + " extent " +
            std::to_string(flow.flow_extent()) + " congestion " + std::to_string(flow.congestion) + " output " +
            std::to_string(flow.branch.output()) + ":" + std::to_string(flow.branch.flow);
  }
  return text;
}

void SeedRun::begin() {
  fabric_.watch(&checker_);
  for (uint16_t host = 0; host < fabric_.hosts(); ++host) {
    std::vector<uint16_t> flows;
    for (const HostFlow& flow : traffic_.flows)
      if (flow.source == host) flows.push_back(flow.id);
    HostileOptions hostile = swarm_.hostile[host];
    hostile.stops_ns = swarm_.setup.start_ns + swarm_.faults_ns;
    if (hostile.kinds != 0) fabric_.host(host).set_hostile(hostile);
    fabric_.host(host).begin(flows, swarm_.vlans[host]);
  }
}

void SeedRun::run() {
  begin();
  const Nanos faults_end = engine_.now() + swarm_.faults_ns;
  faults_.run(engine_.now(), faults_end);
  engine_.run_until(faults_end);
  say("faults end");
  checker_.check_all();
  faults_.heal();
  for (HostFlow& flow : traffic_.flows) flow.stops_ns = 0;
  wait_for_links();
  require_progress();
  require_rest();
}

std::string SeedRun::broken_links() const {
  for (uint16_t index = 0; index < swarm_.setup.topology.nodes.size(); ++index) {
    const Node* node = fabric_.node(index);
    if (node == nullptr) return "node " + std::to_string(index) + " is down";
    for (PortIndex port = 0; port < node->ports(); ++port)
      if (node->port(port).is_fabric() && !node->port(port).session.up())
        return "node " + std::to_string(index) + " port " + std::to_string(port) + ": " +
               link_down_text(node->port(port).session.down_reason());
  }
  return {};
}

// Every link comes up: after the longest hold-down, a restart, and pauses that still last.
void SeedRun::wait_for_links() {
  const Nanos dead = settings().hello_interval_ns * settings().hellos_missed;
  const Nanos bound = 64 * dead + 20 * dead + 3 * life() + swarm_.faults.restart_least_ns + 20 * kMillisecond +
                      swarm_.faults.pause_max_ns;
  const Nanos deadline = engine_.now() + bound;
  while (!broken_links().empty() || engine_.now() < faults_.pauses_end_ns()) {
    if (engine_.now() > deadline)
      throw BrokenInvariant("invariant 8 (liveness) at " + std::to_string(engine_.now()) + " ns: " + broken_links() +
                            ", " + std::to_string(bound) + " ns after the faults ended");
    engine_.run_until(engine_.now() + kStep);
  }
  say("all links are up");
}

// Is the match table of its port's worker large enough for all flows there? Each has an entry, and one more while its
// destination is unknown, which stays for a life after the last flood (E1).
bool SeedRun::finds_match_entry(const HostFlow& flow) const {
  const auto place = [this](const HostFlow& any) { return swarm_.setup.hosts[any.source].port; };
  const LinkEnd end = place(flow);
  const Node& node = *fabric_.node(end.node_index);
  uint32_t neighbours = 0;
  for (const HostFlow& other : traffic_.flows)
    if (place(other).node_index == end.node_index &&
        node.worker_of_port(place(other).port) == node.worker_of_port(end.port))
      ++neighbours;
  return 2 * neighbours <= swarm_.setup.nodes[end.node_index].match_entries;
}

namespace {

// What a class may have to wait for.
uint64_t slowest_rate(const ShaperPolicy& policy) {
  uint64_t slowest_bps = ~uint64_t{0};
  const auto take = [&slowest_bps](uint64_t bps) {
    if (bps != 0) slowest_bps = std::min(slowest_bps, bps);
  };
  take(policy.maximum_bps);
  for (const ShaperPolicy::Leaf& leaf : policy.leaves) take(leaf.bandwidth.maximum_bps);
  for (const ShaperPolicy::Branch& branch : policy.branches) take(branch.bandwidth.maximum_bps);
  return slowest_bps;
}

}  // namespace

uint64_t SeedRun::slowest_shaper_bps() const {
  uint64_t slowest_bps = ~uint64_t{0};
  const auto look_at = [&slowest_bps](const PortShapers& shapers) {
    for (const ShaperPolicy& shaper : shapers) slowest_bps = std::min(slowest_bps, slowest_rate(shaper));
  };
  for (const NodeSetup& node : swarm_.setup.nodes) look_at(node.shapers);
  for (const std::vector<PortShapers>& others : swarm_.faults.shapers)  // that a fault may have put in their place
    for (const PortShapers& shapers : others) look_at(shapers);
  return slowest_bps;
}

const TopologyPort& SeedRun::exit_of(const HostFlow& flow) const {
  const LinkEnd end = swarm_.setup.hosts[flow.destination].port;
  return swarm_.setup.topology.nodes[end.node_index].ports[end.port];
}

// So slowly that all flows to the same host together take half of what its port may send, or frames would die of age
// that nothing but their number holds up.
Nanos SeedRun::fair_interval_ns(const HostFlow& flow) const {
  constexpr Nanos kSlow = 5 * kMillisecond;
  const uint64_t rate_bps = std::min(shared_rate_bps(exit_of(flow)), slowest_shaper_bps());
  uint64_t bits = 0;  // a frame of each
  for (const HostFlow& other : traffic_.flows)
    if (other.destination == flow.destination) bits += 8 * uint64_t{other.length_min + kWireExtraBytes};
  return std::max(kSlow, 2 * bits * kSecond / rate_bps);
}

// Every flow gets frames through again, those that had ended too.
void SeedRun::require_progress() {
  note_counters();
  Nanos slowest_ns = 0;
  std::vector<uint32_t> before;
  for (HostFlow& flow : traffic_.flows) {
    before.push_back(flow.next_expected);
    flow.stops_ns = kNever;
    const Nanos fair_ns = fair_interval_ns(flow);
    slowest_ns = std::max(slowest_ns, fair_ns);
    flow.interval_ns = fair_ns + flow.id * 10 * kMicrosecond;
    flow.burst_frames = 1;
    flow.window_frames = 0;
    flow.on_ns = flow.off_ns = 0;
    flow.length_max = flow.length_min;
    fabric_.host(flow.source).resume(flow.id);
    before.back() = flow.sent_frames;
  }
  // Flows of one match pattern are one flow in the fabric. Of a congested host's port it may have so small a share that
  // what one of them had queued takes long: then the others' frames are known to come behind it, in order.
  std::map<uint64_t, uint32_t> delivered;
  const auto pattern_of = [](const HostFlow& flow) {
    return uint64_t{flow.class_index} << 48 | uint64_t{flow.vlan} << 32 | flow.pattern;
  };
  for (const HostFlow& flow : traffic_.flows) delivered[pattern_of(flow)] += flow.delivered_frames;
  const auto moves = [&](const HostFlow& stuck) {
    uint32_t now_delivered = 0;
    for (const HostFlow& flow : traffic_.flows)
      if (pattern_of(flow) == pattern_of(stuck)) now_delivered += flow.delivered_frames;
    return now_delivered > delivered[pattern_of(stuck)];
  };
  const Nanos bound = 4 * life() + 40 * settings().probe_base_ns + 200 * kMillisecond + 2 * slowest_ns;
  const Nanos deadline = engine_.now() + bound;
  for (;;) {
    const HostFlow* stuck = nullptr;
    for (const HostFlow& flow : traffic_.flows) {
      const bool fits = flow.length_min <= exit_of(flow).mtu_bytes + kEthernetHeaderBytes && finds_match_entry(flow);
      if (fits && flow.next_expected <= before[flow.id] && !moves(flow)) stuck = &flow;
    }
    if (stuck == nullptr) break;
    if (engine_.now() > deadline)
      throw BrokenInvariant("invariant 8 (liveness) at " + std::to_string(engine_.now()) + " ns: flow " + stuck->name +
                            " got no frame through in " + std::to_string(bound) + " ns without faults: sent " +
                            std::to_string(stuck->sent_frames) + ", of these since " +
                            std::to_string(stuck->sent_frames - before[stuck->id]) + ", from node " +
                            std::to_string(swarm_.setup.hosts[stuck->source].port.node_index) + " to node " +
                            std::to_string(swarm_.setup.hosts[stuck->destination].port.node_index) + describe_ports());
    engine_.run_until(engine_.now() + kStep);
  }
  say("all flows get through");
}

// What queues hold goes on at the pace of the slowest port, and what waits for congested hosts at theirs (C3), of each
// flow at its share of them.
Nanos SeedRun::time_of_backlog() const {
  uint64_t bytes = 0, slowest_bps = ~uint64_t{0};
  double longest_ns = 0;  // of a flow that has a share
  for (uint16_t index = 0; index < swarm_.setup.topology.nodes.size(); ++index) {
    const Node& node = *fabric_.node(index);
    for (PortIndex at = 0; at < node.ports(); ++at) {
      const Port& port = node.port(at);
      for (const TrafficClass& one : swarm_.setup.topology.classes) bytes += port.input.queues.of_class(one.ftag).bytes;
      bytes += port.output.scheduler.bytes();
      for (FlowId id = 1; id <= port.input.flows.size(); id = FlowId::of(id + 1u))
        if (const InputFlow& flow = port.input.flows[id]; flow.flags & kFlowLimited)
          longest_ns = std::max(longest_ns, flow.queue_extent() * port.input.limits[id].ns_per_byte());
      if (port.settings.rate_bps != 0) slowest_bps = std::min(slowest_bps, port.settings.rate_bps);
    }
  }
  slowest_bps = std::min(slowest_bps, slowest_shaper_bps());
  return std::max(bytes * 8 * kSecond / slowest_bps, static_cast<Nanos>(longest_ns));
}

// Flows that keep their IDs have nothing but those (F9): without them the tables must be empty.
void SeedRun::end_all_rest() {
  for (uint16_t index = 0; index < swarm_.setup.topology.nodes.size(); ++index) {
    Node* node = fabric_.node(index);
    for (WorkerIndex worker = 0; node != nullptr && worker < node->workers(); ++worker)
      node->worker(worker).end_all_rest();
  }
}

void SeedRun::require_rest() {
  for (uint16_t host = 0; host < fabric_.hosts(); ++host) fabric_.host(host).stop();
  const Nanos bound = 3 * 8 * settings().probe_base_ns + 2 * life() + 20 * kMillisecond + 2 * time_of_backlog();
  const Nanos deadline = engine_.now() + bound;
  std::string left;
  while (end_all_rest(), !(left = checker_.unrest()).empty()) {
    if (engine_.now() > deadline)
      throw BrokenInvariant("invariant 9 (rest) at " + std::to_string(engine_.now()) + " ns: " + left + ", " +
                            std::to_string(bound) + " ns after the last frame was sent");
    engine_.run_until(engine_.now() + kStep + 77);
  }
  checker_.check_all();
  checker_.check_totals();
  say("at rest");
}

// Whatever the frames don't tell: drops, events, and which port counted them.
void SeedRun::fold_counters() {
  using Words = std::array<uint64_t, sizeof(PortCounters) / sizeof(uint64_t)>;
  static_assert(std::has_unique_object_representations_v<PortCounters>);
  const auto fold = [this](const PortCounters& counters) {
    for (const uint64_t word : std::bit_cast<Words>(counters)) checker_.trace(word);
  };
  fold(fabric_.total());  // with those of crashed nodes
  for (uint16_t index = 0; index < swarm_.setup.topology.nodes.size(); ++index) {
    const Node* node = fabric_.node(index);
    for (PortIndex port = 0; node != nullptr && port < node->ports(); ++port) fold(node->port(port).counters);
  }
  for (const HostFlow& flow : traffic_.flows) checker_.trace(uint64_t{flow.sent_frames} << 32 | flow.delivered_frames);
  checker_.trace(engine_.turns());
}

void SeedRun::collect() {
  const PortCounters total = fabric_.total();
  fold_counters();
  result_.coverage.reach_counters(total);
  result_.packet_hops = total.received_frames;
  result_.turns = engine_.turns();
  result_.trace_hash = checker_.trace_hash();
  result_.checks = checker_.checks();
  result_.virtual_ns = engine_.now() - swarm_.setup.start_ns;
  for (const HostFlow& flow : traffic_.flows) result_.delivered_frames += flow.delivered_frames;
}

}  // namespace

SeedResult run_seed(uint64_t seed, std::ostream* log, bool frames) {
  SeedResult result;
  const Swarm swarm = draw_swarm(seed);
  result.options = swarm.text();
  auto run = std::make_unique<SeedRun>(swarm, result, log);
  try {
    if (frames) run->log_frames();
    run->run();
    run->collect();
  } catch (const std::exception& error) {  // a broken invariant, or the pool's word on a packet
    result.failure = error.what();
    run->collect();
    // What broke in the middle of a turn can't be taken down in good order; the process ends soon.
    static_cast<void>(run.release());
  }
  return result;
}

}  // namespace heddle::sim
