// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario_run.h"

#include <algorithm>
#include <ctime>
#include <memory>

#include "sim/checker.h"
#include "sim/fabric.h"
#include "sim/host.h"

namespace heddle::sim {

namespace {

constexpr uint64_t kWireExtraBytes = 24;

class ScenarioRun {
 public:
  ScenarioRun(const Scenario& scenario, const SimSetup& setup, bool check, ScenarioResult& result)
      : scenario_(scenario),
        result_(result),
        engine_(setup.start_ns),
        traffic_{scenario.flows},
        fabric_(setup, engine_, traffic_),
        starts_(scenario.flows.size()) {
    if (check) {
      checker_ = std::make_unique<Checker>(fabric_, coverage_,
                                           CheckerOptions{.polls_per_check = 64, .hostile = !scenario.hostile.empty()});
      fabric_.watch(checker_.get());
    }
  }

  void run();

 private:
  struct Start {  // of a flow when the measurement began
    uint32_t sent, delivered, late;
    uint64_t sent_bytes, delivered_bytes;
  };

  void begin();
  void plan(const ScenarioFault& fault);
  void begin_measuring();
  void sample(Nanos from, Nanos to);
  void measure(const Workload& workload);
  void measure_flow(const HostFlow& flow, uint64_t offered_bps, WorkloadResult& result, uint64_t& bits);
  void judge();
  std::optional<uint64_t> value_of(const Expectation& expectation) const;
  Nanos at(Nanos from_start) const { return scenario_.setup.start_ns + from_start; }
  Nanos measured_ns() const { return scenario_.measure_to_ns - scenario_.measure_from_ns; }

  const Scenario& scenario_;
  ScenarioResult& result_;
  SeedCoverage coverage_;
  Engine engine_;
  Traffic traffic_;
  Fabric fabric_;
  std::unique_ptr<Checker> checker_;
  std::vector<Start> starts_;
  std::vector<std::pair<uint64_t, uint64_t>> sampled_;  // sent and delivered bytes by workload, at the last sample
};

void ScenarioRun::begin() {
  std::vector<std::vector<uint16_t>> flows(fabric_.hosts());
  for (const HostFlow& flow : traffic_.flows) flows[flow.source].push_back(flow.id);
  for (const HostileWorkload& workload : scenario_.hostile)
    for (const uint16_t host : workload.hosts) fabric_.host(host).set_hostile(workload.options);
  for (uint16_t host = 0; host < fabric_.hosts(); ++host)
    fabric_.host(host).begin(flows[host], scenario_.host_vlans[host]);
  for (const ScenarioFault& fault : scenario_.faults) plan(fault);
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
    starts_[flow.id] = {flow.sent_frames, flow.delivered_frames, flow.late_frames, flow.sent_bytes,
                        flow.delivered_bytes};
    flow.latency = {};
    flow.completion = {};
    flow.gap_since_ns = engine_.now();
    flow.longest_gap_ns = 0;
    flow.messages_done = flow.messages_broken = 0;
  }
}

void ScenarioRun::sample(Nanos from, Nanos to) {
  sampled_.resize(scenario_.workloads.size());
  for (uint32_t i = 0; i < scenario_.workloads.size(); ++i) {
    uint64_t sent = 0, delivered = 0;
    for (const uint16_t id : scenario_.workloads[i].flows) {
      sent += traffic_.flows[id].sent_bytes + kWireExtraBytes * traffic_.flows[id].sent_frames;
      delivered += traffic_.flows[id].delivered_bytes + kWireExtraBytes * traffic_.flows[id].delivered_frames;
    }
    const uint64_t scale = 8 * kSecond / (to - from);
    result_.samples.push_back({.at_ns = to,
                               .workload = i,
                               .sent_bps = (sent - sampled_[i].first) * scale,
                               .delivered_bps = (delivered - sampled_[i].second) * scale});
    sampled_[i] = {sent, delivered};
  }
}

void ScenarioRun::run() {
  const std::clock_t started = std::clock();
  begin();
  bool measuring = false;
  for (Nanos time = 0; time < scenario_.duration_ns;) {
    Nanos next = std::min(time + scenario_.interval_ns, scenario_.duration_ns);
    if (!measuring && next >= scenario_.measure_from_ns) {
      engine_.run_until(at(scenario_.measure_from_ns));
      begin_measuring();
      measuring = true;
    }
    if (time < scenario_.measure_to_ns && next >= scenario_.measure_to_ns) {
      engine_.run_until(at(scenario_.measure_to_ns));
      for (const Workload& workload : scenario_.workloads) measure(workload);
    }
    engine_.run_until(at(next));
    sample(time, next);
    time = next;
  }
  if (checker_ != nullptr) checker_->check_all();
  result_.seconds = static_cast<double>(std::clock() - started) / CLOCKS_PER_SEC;
  result_.total = fabric_.total();
  result_.packet_hops = fabric_.packet_hops();
  result_.turns = engine_.turns();
  result_.checks = checker_ == nullptr ? 0 : checker_->checks();
  judge();
}

void ScenarioRun::measure_flow(const HostFlow& flow, uint64_t offered_bps, WorkloadResult& result, uint64_t& bits) {
  const Start& start = starts_[flow.id];
  const uint32_t delivered = flow.delivered_frames - start.delivered;
  result.sent_frames += flow.sent_frames - start.sent;
  result.delivered_frames += delivered;
  result.late_frames += flow.late_frames - start.late;
  result.latency.merge(flow.latency);
  result.completion.merge(flow.completion);
  result.messages_done += flow.messages_done;
  result.messages_broken += flow.messages_broken;
  const uint64_t flow_bits = 8 * (flow.delivered_bytes - start.delivered_bytes + kWireExtraBytes * delivered);
  bits += flow_bits;
  // Of the time in which it sends.
  const Nanos from = std::max(at(scenario_.measure_from_ns), flow.starts_ns);
  const Nanos to = std::min(at(scenario_.measure_to_ns), flow.stops_ns);
  if (offered_bps != 0 && from < to) {
    constexpr double kShareMax = 1e9;  // frames of before, delivered in a sliver of time
    const double offered = static_cast<double>(offered_bps) * static_cast<double>(to - from) / 1e9;
    const auto share = static_cast<uint32_t>(std::min(kShareMax, 1e6 * static_cast<double>(flow_bits) / offered));
    result.least_share_ppm = std::min(result.least_share_ppm.value_or(share), share);
  }
  Nanos gap = flow.longest_gap_ns, gap_at = flow.longest_gap_at_ns;
  const Nanos last = std::max(flow.last_delivery_ns, flow.gap_since_ns);
  const Nanos end = std::min(flow.stops_ns, engine_.now());
  if (end > last && end - last > gap) {  // it still lasts, or did when the flow stopped
    gap = end - last;
    gap_at = last;
  }
  if (gap <= result.longest_gap_ns) return;
  result.longest_gap_ns = gap;
  result.gap_at_ns = gap_at - scenario_.setup.start_ns;
  result.gap_flow = flow.name;
}

void ScenarioRun::measure(const Workload& workload) {
  WorkloadResult result;
  result.name = workload.name;
  result.flows = static_cast<uint32_t>(workload.flows.size());
  uint64_t bits = 0;
  double sum = 0, squares = 0;
  for (const uint16_t id : workload.flows) {
    const uint64_t before = bits;
    measure_flow(traffic_.flows[id], workload.offered_bps, result, bits);
    const auto got = static_cast<double>(bits - before);
    sum += got;
    squares += got * got;
  }
  if (workload.flows.size() > 1 && squares > 0)
    result.fairness_ppm =
        static_cast<uint32_t>(1e6 * sum * sum / (static_cast<double>(workload.flows.size()) * squares));
  result.lost_frames = result.sent_frames > result.delivered_frames ? result.sent_frames - result.delivered_frames : 0;
  result.throughput_bps =
      static_cast<uint64_t>(static_cast<double>(bits) * 1e9 / static_cast<double>(std::max<Nanos>(1, measured_ns())));
  result_.workloads.push_back(std::move(result));
}

// Of all workloads that it means, the sum or the worst; empty if none of their frames says anything.
std::optional<uint64_t> ScenarioRun::value_of(const Expectation& expectation) const {
  std::optional<uint64_t> value;
  const auto add = [&value](uint64_t part) { value = value.value_or(0) + part; };
  const auto most = [&value](uint64_t part) { value = std::max(value.value_or(0), part); };
  uint64_t sent = 0, delivered = 0;
  for (const WorkloadResult& result : result_.workloads) {
    if (!expectation.workload.empty() && result.name != expectation.workload) continue;
    sent += result.sent_frames;
    delivered += result.delivered_frames;
    const bool moved = result.sent_frames + result.delivered_frames != 0;
    switch (expectation.measure) {
      case Measure::gap_at_most:
        if (moved) most(result.longest_gap_ns);
        break;
      case Measure::throughput_at_least:
        if (moved) add(result.throughput_bps);
        break;
      case Measure::share_at_least:
        if (result.least_share_ppm) value = std::min<uint64_t>(value.value_or(~uint64_t{0}), *result.least_share_ppm);
        break;
      case Measure::fairness_at_least:
        if (result.fairness_ppm) value = std::min<uint64_t>(value.value_or(~uint64_t{0}), *result.fairness_ppm);
        break;
      case Measure::latency_p50_at_most:
        if (result.latency.count() != 0) most(result.latency.quantile(0.5));
        break;
      case Measure::latency_p99_at_most:
        if (result.latency.count() != 0) most(result.latency.quantile(0.99));
        break;
      case Measure::completion_p99_at_most:
        if (result.completion.count() != 0) most(result.completion.quantile(0.99));
        break;
      case Measure::late_frames_at_most:
        if (result.delivered_frames != 0) add(result.late_frames);
        break;
      case Measure::lost_frames_at_most:
        if (result.sent_frames != 0) add(result.lost_frames);
        break;
      case Measure::delivered_at_least:
      case Measure::drops_at_most:
        break;
    }
  }
  if (expectation.measure == Measure::delivered_at_least && sent != 0) value = delivered * 1'000'000 / sent;
  if (expectation.measure == Measure::drops_at_most && result_.packet_hops != 0)
    for (const uint64_t drops : result_.total.drops) add(drops);
  return value;
}

void ScenarioRun::judge() {
  for (const Expectation& expectation : scenario_.expectations) {
    const std::optional<uint64_t> value = value_of(expectation);
    const bool least =
        expectation.measure == Measure::delivered_at_least || expectation.measure == Measure::throughput_at_least ||
        expectation.measure == Measure::share_at_least || expectation.measure == Measure::fairness_at_least;
    const bool met = value && (least ? *value >= expectation.limit : *value <= expectation.limit);
    result_.expectations.push_back({expectation, value, met});
  }
}

}  // namespace

bool ScenarioResult::passed() const {
  return broken.empty() && std::all_of(expectations.begin(), expectations.end(),
                                       [](const ExpectationResult& result) { return result.met; });
}

ScenarioResult run_scenario(const Scenario& scenario, bool check) {
  ScenarioResult result;
  SimSetup setup = scenario.setup;
  setup.checked = check;
  setup.room_bytes = std::max<uint32_t>(2048, scenario.setup.topology.edge_mtu_bytes + 256u);
  auto run = std::make_unique<ScenarioRun>(scenario, setup, check, result);
  try {
    run->run();
  } catch (const std::exception& error) {
    result.broken = error.what();
    static_cast<void>(run.release());  // broken off in the middle of a turn
  }
  return result;
}

}  // namespace heddle::sim
