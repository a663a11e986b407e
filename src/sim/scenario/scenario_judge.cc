// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "sim/scenario/scenario_run.h"

namespace heddle::sim {

namespace {

// Of several workloads the sum or the worst; empty while none of their frames says anything.
class Sum {
 public:
  void add(uint64_t part) { value_ = value_.value_or(0) + part; }
  void most(uint64_t part) { value_ = std::max(value_.value_or(0), part); }
  void least(uint64_t part) { value_ = std::min(value_.value_or(~uint64_t{0}), part); }
  std::optional<uint64_t> value() const { return value_; }

 private:
  std::optional<uint64_t> value_;
};

uint64_t ratio_ppm(uint64_t part, uint64_t whole) {
  return static_cast<uint64_t>(1e6 * static_cast<double>(part) / static_cast<double>(whole));
}

// Like is compared with like: what is there alone, messages say, may not come to its end here, and then it is not their
// frames that count.
void add_of_alone(Measure measure, const WorkloadResult& result, const WorkloadResult& alone, Sum& sum) {
  const WorkloadResult::Times times = alone.times();
  const LatencyHistogram &here = result.*times, &there = alone.*times;
  if (measure == Measure::throughput_of_alone_at_least) {
    if (alone.throughput_bps != 0) sum.least(ratio_ppm(result.throughput_bps, alone.throughput_bps));
  } else if (there.count() != 0 && here.count() == 0) {
    sum.most(~uint64_t{0});  // nothing came any more
  } else if (there.count() != 0) {
    if (measure == Measure::mean_of_alone_at_most) sum.most(ratio_ppm(here.mean(), std::max<Nanos>(1, there.mean())));
    if (measure == Measure::p99_of_alone_at_most)
      sum.most(ratio_ppm(here.quantile(0.99), std::max<Nanos>(1, there.quantile(0.99))));
  }
}

void add_value(Measure measure, const WorkloadResult& result, Sum& sum) {
  switch (measure) {
    case Measure::gap_at_most:
      if (result.sent_frames + result.throughput_bps != 0) sum.most(result.longest_gap_ns);
      break;
    case Measure::throughput_at_least:
    case Measure::throughput_at_most:
      if (result.sent_frames + result.throughput_bps != 0) sum.add(result.throughput_bps);
      break;
    case Measure::share_at_least:
      if (result.least_share_ppm) sum.least(*result.least_share_ppm);
      break;
    case Measure::fairness_at_least:
      if (result.fairness_ppm) sum.least(*result.fairness_ppm);
      break;
    case Measure::steady_fairness_at_least:
      if (result.steady_fairness_ppm) sum.least(*result.steady_fairness_ppm);
      break;
    case Measure::transfer_spread_at_most:
      if (!result.transfers.empty()) sum.most(result.transfer_spread_ppm ? *result.transfer_spread_ppm : ~uint64_t{0});
      break;
    case Measure::latency_p50_at_most:
      if (result.latency.count() != 0) sum.most(result.latency.quantile(0.5));
      break;
    case Measure::latency_p99_at_most:
      if (result.latency.count() != 0) sum.most(result.latency.quantile(0.99));
      break;
    case Measure::completion_p99_at_most:
      if (const LatencyHistogram& times = result.completions(); times.count() != 0) sum.most(times.quantile(0.99));
      break;
    case Measure::late_frames_at_most:
      if (result.delivered_frames != 0) sum.add(result.late_frames);
      break;
    case Measure::lost_frames_at_most:
      if (result.sent_frames != 0) sum.add(result.lost_frames);
      break;
    default:
      break;
  }
}

// What the named workload, or all, got in each interval that lies in the window: where that is least, or most.
void add_intervals(const Scenario& scenario, const Expectation& expectation, const ScenarioResult& result, Sum& sum) {
  const Window& window = scenario.windows[expectation.window];
  const size_t workloads = scenario.workloads.size();
  for (size_t first = 0; first < result.samples.size(); first += workloads) {  // those of one interval stand together
    const Nanos to = result.samples[first].at_ns;
    if (to < window.from_ns + scenario.interval_ns || to > window.to_ns) continue;
    uint64_t delivered_bps = 0;
    for (size_t i = 0; i < workloads; ++i)
      if (expectation.workload.empty() || scenario.workloads[i].name == expectation.workload)
        delivered_bps += result.samples[first + i].delivered_bps;
    if (is_lower_bound(expectation.measure))
      sum.least(delivered_bps);
    else
      sum.most(delivered_bps);
  }
}

std::optional<uint64_t> value_of(const Scenario& scenario, const Expectation& expectation, const ScenarioResult& alone,
                                 const ScenarioResult& result) {
  Sum sum;
  uint64_t sent = 0, delivered = 0, came_bps = 0;
  for (size_t i = 0; i < result.workloads.size(); ++i) {
    const WorkloadResult& workload = result.workloads[i];
    const bool named = workload.name == expectation.workload;
    if (workload.window != expectation.window || !(expectation.workload.empty() || named)) continue;
    sent += workload.sent_frames;
    delivered += workload.delivered_frames;
    came_bps += workload.throughput_bps;
    if (is_of_alone(expectation.measure)) {
      if (i < alone.workloads.size()) add_of_alone(expectation.measure, workload, alone.workloads[i], sum);
    } else {
      add_value(expectation.measure, workload, sum);
    }
  }
  if (expectation.measure == Measure::delivered_at_least && sent != 0) sum.add(delivered * 1'000'000 / sent);
  const bool steady = expectation.measure == Measure::steady_throughput_at_least ||
                      expectation.measure == Measure::steady_throughput_at_most;
  if (steady && sent + came_bps != 0) add_intervals(scenario, expectation, result, sum);
  if (expectation.measure == Measure::drops_at_most && result.packet_hops != 0)
    for (const uint64_t drops : result.total.drops) sum.add(drops);
  for (const QueueSample& sample : result.queues) {
    const Window& window = scenario.windows[expectation.window];
    if (sample.at_ns <= window.from_ns || sample.at_ns > window.to_ns) continue;
    if (expectation.measure == Measure::buffers_at_most) sum.most(sample.buffers_ppm);
    if (expectation.measure == Measure::injected_at_most) sum.most(sample.injected_bytes);
    if (expectation.measure == Measure::held_flows_at_most) sum.most(sample.held_flows);
    if (expectation.measure == Measure::held_flows_at_least) sum.least(sample.held_flows);
    if (expectation.measure == Measure::beyond_credit_at_most) sum.most(sample.beyond_credit);
  }
  return sum.value();
}

}  // namespace

bool is_lower_bound(Measure measure) { return kMeasureNames[static_cast<size_t>(measure)].ends_with("_at_least"); }

bool is_of_alone(Measure measure) {
  return kMeasureNames[static_cast<size_t>(measure)].find("_of_alone_") != std::string_view::npos;
}

void judge(const Scenario& scenario, const ScenarioResult& alone, ScenarioResult& result) {
  if (result.broken.empty()) result.broken = alone.broken;
  for (const Expectation& expectation : scenario.expectations) {
    const std::optional<uint64_t> value = value_of(scenario, expectation, alone, result);
    const bool met =
        value && (is_lower_bound(expectation.measure) ? *value >= expectation.limit : *value <= expectation.limit);
    result.expectations.push_back({expectation, value, met});
  }
}

bool ScenarioResult::passed() const {
  return broken.empty() && std::all_of(expectations.begin(), expectations.end(),
                                       [](const ExpectationResult& expectation) { return expectation.met; });
}

}  // namespace heddle::sim
