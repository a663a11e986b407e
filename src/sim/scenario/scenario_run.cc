// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario/scenario_run.h"

#include <algorithm>
#include <ctime>
#include <memory>
#include <utility>

#include "sim/checker/checker.h"
#include "sim/engine/fabric.h"
#include "sim/hosts/host.h"

namespace heddle::sim {

namespace {

class ScenarioRun {
 public:
  ScenarioRun(const Scenario& scenario, const SimSetup& setup, const ScenarioOptions& options, ScenarioResult& result)
      : scenario_(scenario),
        options_(options),
        result_(result),
        engine_(setup.start_ns),
        traffic_{scenario.flows},
        fabric_(setup, engine_, traffic_),
        starts_(scenario.flows.size()),
        sampled_(scenario.flows.size()),
        least_fairness_(scenario.workloads.size()) {
    if (options.check) {
      checker_ = std::make_unique<Checker>(fabric_, coverage_,
                                           CheckerOptions{.polls_per_check = 64, .hostile = !scenario.hostile.empty()});
      fabric_.watch(checker_.get());
    }
  }

  void run();

 private:
  struct Sent {  // of a flow so far
    uint32_t sent = 0, delivered = 0;
    uint64_t sent_bytes = 0, delivered_bytes = 0;
    static Sent of(const HostFlow& flow) {
      return {flow.sent_frames, flow.delivered_frames, flow.sent_bytes, flow.delivered_bytes};
    }
    uint64_t sent_bits() const { return 8 * (sent_bytes + uint64_t{kWireExtraBytes} * sent); }
    uint64_t delivered_bits() const { return 8 * (delivered_bytes + uint64_t{kWireExtraBytes} * delivered); }
  };

  void begin();
  void plan(const ScenarioFault& fault);
  void run_until(Nanos time);
  void begin_measuring();
  void end_measuring(size_t window);
  void sample(Nanos from, Nanos to);
  void sample_queues(Nanos at);
  void measure(const Workload& workload, size_t window);
  void measure_flow(const HostFlow& flow, uint64_t offered_bps, WorkloadResult& result, uint64_t& bits);
  void count_frames(const Workload& workload, WorkloadResult& result) const;
  void measure_transfers(const Workload& workload, WorkloadResult& result) const;
  Nanos at(Nanos from_start) const { return scenario_.setup.start_ns + from_start; }

  const Scenario& scenario_;
  const ScenarioOptions options_;
  ScenarioResult& result_;
  SeedCoverage coverage_;
  Engine engine_;
  Traffic traffic_;
  Fabric fabric_;
  std::unique_ptr<Checker> checker_;
  std::vector<Sent> starts_;                             // by flow, when the window began
  std::vector<Sent> sampled_;                            // by flow, at the last sample
  Nanos window_from_ns_ = kNever;                        // of the running one
  std::vector<std::optional<uint32_t>> least_fairness_;  // by workload, in the running window
};

// Jain's index, in ppm; empty if nobody got anything.
std::optional<uint32_t> jain_ppm(double sum, double squares, size_t count) {
  if (count < 2 || squares <= 0) return std::nullopt;
  return static_cast<uint32_t>(1e6 * sum * sum / (static_cast<double>(count) * squares));
}

void ScenarioRun::begin() {
  std::vector<std::vector<uint16_t>> flows(fabric_.hosts());
  for (const HostFlow& flow : traffic_.flows) flows[flow.source].push_back(flow.id);
  for (const HostileWorkload& workload : scenario_.hostile)
    for (const uint16_t host : workload.hosts) fabric_.host(host).set_hostile(workload.options);
  for (uint16_t host = 0; host < fabric_.hosts(); ++host)
    fabric_.host(host).begin(flows[host], scenario_.host_vlans[host]);
  for (const ScenarioFault& fault : scenario_.faults) plan(fault);
  for (const Expectation& expectation : scenario_.expectations)
    if (expectation.measure == Measure::injected_at_most) fabric_.measure_injected();
}

void ScenarioRun::plan(const ScenarioFault& fault) {
  const Nanos whole_again = fault.for_ns == 0 ? kNever : at(fault.at_ns) + fault.for_ns;
  engine_.at(at(fault.at_ns), [this, fault, whole_again] {
    switch (fault.action) {
      case FaultAction::link_down:
        return fabric_.link(fault.link).set_up(false);
      case FaultAction::link_up:
        return fabric_.link(fault.link).set_up(true);
      case FaultAction::node_crash:
        return fabric_.crash(fault.node);
      case FaultAction::node_start:
        return fabric_.start(fault.node);
      case FaultAction::worker_pause:
        return fabric_.pause(fault.node, fault.worker, whole_again);
      case FaultAction::link_loss:
        for (unsigned way = 0; way < 2; ++way) fabric_.link(fault.link).set_loss(way, fault.loss_ppm);
        return;
      case FaultAction::link_delay:
        for (unsigned way = 0; way < 2; ++way) fabric_.link(fault.link).set_delay(way, fault.delay_ns);
        return;
      case FaultAction::regroup:
        return fabric_.set_applications(fault.node, fault.applications);
    }
  });
  if (fault.for_ns == 0) return;
  engine_.at(whole_again, [this, fault] {
    if (fault.action == FaultAction::link_down) fabric_.link(fault.link).set_up(true);
    if (fault.action == FaultAction::node_crash) fabric_.start(fault.node);
    if (fault.action == FaultAction::link_loss)
      for (unsigned way = 0; way < 2; ++way)
        fabric_.link(fault.link).set_loss(way, fabric_.setup().links[fault.link][way].loss_ppm);
  });
}

void ScenarioRun::begin_measuring() {
  for (HostFlow& flow : traffic_.flows) {
    starts_[flow.id] = Sent::of(flow);
    flow.measured.push_back({.first_sequence = flow.sent_frames});
    flow.gap_since_ns = engine_.now();
    flow.longest_gap_ns = 0;
  }
  fabric_.take_fullest();
  window_from_ns_ = engine_.now();
  std::fill(least_fairness_.begin(), least_fairness_.end(), std::nullopt);
}

void ScenarioRun::end_measuring(size_t window) {
  for (HostFlow& flow : traffic_.flows) flow.measured.back().end_sequence = flow.sent_frames;
  for (const Workload& workload : scenario_.workloads) measure(workload, window);
  window_from_ns_ = kNever;
}

void ScenarioRun::sample(Nanos from, Nanos to) {
  const auto rate = [from, to](uint64_t bits) {
    return static_cast<uint64_t>(static_cast<double>(bits) * 1e9 / static_cast<double>(to - from));
  };
  if (options_.keep_flows) result_.flow_bps.emplace_back(scenario_.flows.size());
  for (uint32_t i = 0; i < scenario_.workloads.size(); ++i) {
    uint64_t sent = 0, delivered = 0;
    double squares = 0;
    for (const uint16_t id : scenario_.workloads[i].flows) {
      const Sent before = std::exchange(sampled_[id], Sent::of(traffic_.flows[id]));
      const uint64_t bits = sampled_[id].delivered_bits() - before.delivered_bits();
      sent += sampled_[id].sent_bits() - before.sent_bits();
      delivered += bits;
      squares += static_cast<double>(bits) * static_cast<double>(bits);
      if (options_.keep_flows) result_.flow_bps.back()[id] = rate(bits);
    }
    const auto fairness = jain_ppm(static_cast<double>(delivered), squares, scenario_.workloads[i].flows.size());
    if (fairness && at(from) >= window_from_ns_)
      least_fairness_[i] = std::min(least_fairness_[i].value_or(*fairness), *fairness);
    result_.samples.push_back({.at_ns = to, .workload = i, .sent_bps = rate(sent), .delivered_bps = rate(delivered)});
  }
  sample_queues(to);
}

void ScenarioRun::sample_queues(Nanos time) {
  const Fabric::Fullest fullest = fabric_.take_fullest();
  QueueSample sample{.at_ns = time,
                     .edge_bytes = 0,
                     .buffers_ppm = fullest.buffers_ppm,
                     .injected_bytes = fullest.injected_bytes,
                     .held_flows = 0,
                     .beyond_credit = 0};
  for (uint16_t host = 0; host < fabric_.hosts(); ++host) {
    HeardPauses& pauses = fabric_.host(host).flow_pauses();
    sample.held_flows += pauses.held_flows(engine_.now());
    sample.beyond_credit = std::max(sample.beyond_credit, pauses.take_beyond_credit());
  }
  for (uint16_t node = 0; node < fabric_.topology().nodes.size(); ++node) {
    const Node* state = fabric_.node(node);
    for (PortIndex index = 0; state != nullptr && index < state->ports(); ++index) {
      const Port& port = state->port(index);
      if (!port.is_fabric()) sample.edge_bytes = std::max(sample.edge_bytes, port.output.scheduler.bytes());
    }
  }
  result_.queues.push_back(sample);
}

// With samples on the way.
void ScenarioRun::run_until(Nanos time) {
  const Nanos interval = scenario_.interval_ns;
  for (Nanos from = engine_.now() - at(0) - (engine_.now() - at(0)) % interval; from < time;) {
    const Nanos next = from + interval;
    engine_.run_until(at(std::min(next, time)));
    if (next <= time) sample(from, next);
    if (options_.progress) options_.progress(static_cast<double>(next) / static_cast<double>(scenario_.duration_ns));
    from = next;
  }
}

void ScenarioRun::run() {
  const std::clock_t started = std::clock();
  begin();
  for (size_t window = 0; window < scenario_.windows.size(); ++window) {
    run_until(scenario_.windows[window].from_ns);
    begin_measuring();
    run_until(scenario_.windows[window].to_ns);
    end_measuring(window);
  }
  run_until(scenario_.duration_ns);
  for (size_t i = 0; i < result_.workloads.size(); ++i) {  // a window's workloads stand together
    const Workload& workload = scenario_.workloads[i % scenario_.workloads.size()];
    count_frames(workload, result_.workloads[i]);
    measure_transfers(workload, result_.workloads[i]);
  }
  if (checker_ != nullptr) checker_->check_all();
  result_.seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
  result_.total = fabric_.total();
  result_.packet_hops = fabric_.packet_hops();
  result_.turns = engine_.turns();
  result_.checks = checker_ == nullptr ? 0 : checker_->checks();
}

void ScenarioRun::measure_flow(const HostFlow& flow, uint64_t offered_bps, WorkloadResult& result, uint64_t& bits) {
  const Sent& start = starts_[flow.id];
  const uint64_t flow_bits = Sent::of(flow).delivered_bits() - start.delivered_bits();
  bits += flow_bits;
  // Of the time in which it sends.
  const Nanos from = std::max(at(scenario_.windows[result.window].from_ns), flow.starts_ns);
  const Nanos to = std::min(at(scenario_.windows[result.window].to_ns), flow.stops_ns);
  if (offered_bps != 0 && from < to) {
    constexpr double kShareMax = 1e9;  // frames of before, delivered in a sliver of time
    const double offered = static_cast<double>(offered_bps) * static_cast<double>(to - from) / 1e9;
    const auto share = static_cast<uint32_t>(std::min(kShareMax, 1e6 * static_cast<double>(flow_bits) / offered));
    result.least_share_ppm = std::min(result.least_share_ppm.value_or(share), share);
  }
  Nanos gap = flow.longest_gap_ns, gap_at = flow.longest_gap_at_ns;
  const Nanos last = std::max(flow.last_delivery_ns, flow.gap_since_ns);
  const Nanos end = std::min(flow.stops_ns, engine_.now());
  if (!flow.transfer_done() && end > last && end - last > gap) {  // it still lasts, or did when the flow stopped
    gap = end - last;
    gap_at = last;
  }
  if (gap <= result.longest_gap_ns) return;
  result.longest_gap_ns = gap;
  result.gap_at_ns = gap_at - scenario_.setup.start_ns;
  result.gap_flow = flow.name;
}

void ScenarioRun::measure(const Workload& workload, size_t window) {
  WorkloadResult result;
  result.name = workload.name;
  result.window = window;
  result.flows = static_cast<uint32_t>(workload.flows.size());
  uint64_t bits = 0;
  double squares = 0;
  for (const uint16_t id : workload.flows) {
    const uint64_t before = bits;
    measure_flow(traffic_.flows[id], workload.offered_bps, result, bits);
    squares += static_cast<double>(bits - before) * static_cast<double>(bits - before);
  }
  result.fairness_ppm = jain_ppm(static_cast<double>(bits), squares, workload.flows.size());
  result.steady_fairness_ppm = least_fairness_[static_cast<size_t>(&workload - scenario_.workloads.data())];
  const Nanos measured = scenario_.windows[window].to_ns - scenario_.windows[window].from_ns;
  result.throughput_bps = static_cast<uint64_t>(static_cast<double>(bits) * 1e9 / static_cast<double>(measured));
  result_.workloads.push_back(std::move(result));
}

// At the end of the run: what was sent in the window has come by then, or is lost.
void ScenarioRun::count_frames(const Workload& workload, WorkloadResult& result) const {
  for (const uint16_t id : workload.flows) {
    const HostFlow& flow = traffic_.flows[id];
    const HostFlow::Measured& window = flow.measured[result.window];
    result.sent_frames += window.end_sequence - window.first_sequence;
    result.delivered_frames += window.delivered_frames;
    result.late_frames += window.late_frames;
    result.latency.merge(window.latency);
    result.completion.merge(window.completion);
    result.messages_done += window.messages_done;
    result.messages_broken += window.messages_broken;
    result.marked_frames += flow.marked_frames;
  }
  result.lost_frames = result.sent_frames > result.delivered_frames ? result.sent_frames - result.delivered_frames : 0;
}

void ScenarioRun::measure_transfers(const Workload& workload, WorkloadResult& result) const {
  for (const uint16_t id : workload.flows) {
    const HostFlow& flow = traffic_.flows[id];
    if (!flow.is_transfer()) return;
    TransferResult& transfer = result.transfers.emplace_back(TransferResult{.flow = flow.name, .completion_ns = {}});
    if (!flow.transfer_done()) continue;
    transfer.completion_ns = flow.transfer_ns();
    result.transfer_completion.add(flow.transfer_ns());
  }
  const LatencyHistogram& completion = result.transfer_completion;
  if (completion.count() == 0 || completion.count() != result.transfers.size()) return;
  const auto fastest = static_cast<double>(std::max<Nanos>(1, completion.min()));
  result.transfer_spread_ppm = static_cast<uint32_t>(1e6 * static_cast<double>(completion.max()) / fastest);
}

// Plays it; broken off in the middle of a turn the fabric can't be taken down.
ScenarioResult play(const Scenario& scenario, const ScenarioOptions& options) {
  ScenarioResult result;
  SimSetup setup = scenario.setup;
  setup.checked = options.check;
  for (const TopologyNode& node : setup.topology.nodes)
    for (const TopologyPort& port : node.ports) setup.room_bytes = std::max(setup.room_bytes, port.mtu_bytes + 256u);
  auto run = std::make_unique<ScenarioRun>(scenario, setup, options, result);
  try {
    run->run();
  } catch (const std::exception& error) {
    result.broken = error.what();
    static_cast<void>(run.release());
  }
  return result;
}

Scenario without_congestors(const Scenario& scenario) {
  Scenario alone = scenario;
  for (const Workload& workload : alone.workloads)
    for (const uint16_t id : workload.flows)
      if (workload.congestor) alone.flows[id].stops_ns = 0;
  return alone;
}

}  // namespace

ScenarioResult run_scenario(const Scenario& scenario, const ScenarioOptions& options) {
  const bool compares = std::any_of(scenario.expectations.begin(), scenario.expectations.end(),
                                    [](const Expectation& one) { return is_of_alone(one.measure); });
  const auto part_of = [&](double begin, double share) {
    ScenarioOptions part = options;
    if (options.progress) part.progress = [=, &options](double done) { options.progress(begin + share * done); };
    return part;
  };
  ScenarioResult alone;
  if (compares) alone = play(without_congestors(scenario), {.progress = part_of(0, 0.5).progress});
  ScenarioResult result = play(scenario, compares ? part_of(0.5, 0.5) : options);
  judge(scenario, alone, result);
  return result;
}

}  // namespace heddle::sim
