// SPDX-License-Identifier: Apache-2.0
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/text_table.h"
#include "sim/scenario/scenario_run.h"

namespace heddle::sim {

namespace {

using Json = nlohmann::ordered_json;

Json latency_json(const LatencyHistogram& histogram) {
  return {{"count", histogram.count()},         {"min_ns", histogram.min()},
          {"mean_ns", histogram.mean()},        {"p50_ns", histogram.quantile(0.5)},
          {"p99_ns", histogram.quantile(0.99)}, {"p999_ns", histogram.quantile(0.999)},
          {"max_ns", histogram.max()}};
}

Json transfers_json(const WorkloadResult& result) {
  Json flows = Json::array();
  for (const TransferResult& transfer : result.transfers)
    flows.push_back({{"flow", transfer.flow},
                     {"completion_ns", transfer.completion_ns ? Json(*transfer.completion_ns) : Json(nullptr)}});
  return {{"done", result.transfer_completion.count()},
          {"completion", latency_json(result.transfer_completion)},
          {"flows", std::move(flows)}};
}

Json workload_json(const WorkloadResult& result, const std::string& window) {
  Json json{{"name", result.name},
            {"window", window},
            {"flows", result.flows},
            {"sent_frames", result.sent_frames},
            {"delivered_frames", result.delivered_frames},
            {"lost_frames", result.lost_frames},
            {"late_frames", result.late_frames},
            {"throughput_bps", result.throughput_bps},
            {"longest_gap_ns", result.longest_gap_ns},
            {"longest_gap_at_ns", result.gap_at_ns},
            {"longest_gap_flow", result.gap_flow},
            {"latency", latency_json(result.latency)}};
  if (result.least_share_ppm) json["least_share_ppm"] = *result.least_share_ppm;
  if (result.fairness_ppm) json["fairness_ppm"] = *result.fairness_ppm;
  if (result.marked_frames != 0) json["marked_frames"] = result.marked_frames;
  if (result.steady_fairness_ppm) json["steady_fairness_ppm"] = *result.steady_fairness_ppm;
  if (!result.transfers.empty()) json["transfers"] = transfers_json(result);
  if (result.transfer_spread_ppm) json["transfer_spread_ppm"] = *result.transfer_spread_ppm;
  if (result.messages_done + result.messages_broken != 0)
    json["messages"] = {{"done", result.messages_done},
                        {"broken", result.messages_broken},
                        {"completion", latency_json(result.completion)}};
  return json;
}

double microseconds(Nanos time) { return static_cast<double>(time) / 1e3; }

}  // namespace

std::string value_text(const ExpectationResult& result) {
  if (!result.value) return "found no frame to measure";
  if (*result.value == ~uint64_t{0}) return "never came";
  const auto value = static_cast<double>(*result.value);
  std::ostringstream out;
  out << "is " << std::fixed << std::setprecision(3);
  switch (result.expectation.measure) {
    case Measure::gap_at_most:
    case Measure::latency_p50_at_most:
    case Measure::latency_p99_at_most:
    case Measure::completion_p99_at_most:
      out << scaled_duration(value);
      break;
    case Measure::delivered_at_least:
    case Measure::share_at_least:
    case Measure::fairness_at_least:
    case Measure::steady_fairness_at_least:
    case Measure::throughput_of_alone_at_least:
    case Measure::mean_of_alone_at_most:
    case Measure::p99_of_alone_at_most:
    case Measure::transfer_spread_at_most:
    case Measure::buffers_at_most:
      out << std::setprecision(2) << value / 1e4 << '%';
      break;
    case Measure::injected_at_most:
    case Measure::beyond_credit_at_most:
      out << *result.value << " bytes";
      break;
    case Measure::throughput_at_least:
    case Measure::throughput_at_most:
    case Measure::steady_throughput_at_least:
    case Measure::steady_throughput_at_most:
      out << scaled_bits_per_second(value);
      break;
    default:
      out << *result.value;
      break;
  }
  return out.str();
}

std::string expectation_text(const Scenario& scenario, const Expectation& expectation) {
  return (expectation.workload.empty() ? "all" : expectation.workload) +
         (scenario.windows.size() > 1 ? " in " + scenario.windows[expectation.window].name : "") + " " +
         std::string(kMeasureNames[static_cast<size_t>(expectation.measure)]) + " " + expectation.text;
}

std::string report_json(const Scenario& scenario, const ScenarioResult& result) {
  Json json{{"scenario", scenario.name},
            {"seed", scenario.setup.seed},
            {"duration_ns", scenario.duration_ns},
            {"baseline", kBaselineNames[static_cast<size_t>(scenario.variant.baseline)]},
            {"slower", scenario.variant.slower},
            {"workers", scenario.variant.workers},
            {"windows", Json::array()},
            {"passed", result.passed()},
            {"workloads", Json::array()},
            {"expectations", Json::array()},
            {"drops", Json::object()},
            {"events", Json::object()}};
  for (const Window& window : scenario.windows)
    json["windows"].push_back({{"name", window.name}, {"from_ns", window.from_ns}, {"to_ns", window.to_ns}});
  for (const WorkloadResult& workload : result.workloads)
    json["workloads"].push_back(workload_json(workload, scenario.windows[workload.window].name));
  for (const ExpectationResult& expectation : result.expectations)
    json["expectations"].push_back({{"workload", expectation.expectation.workload},
                                    {"window", scenario.windows[expectation.expectation.window].name},
                                    {"measure", kMeasureNames[static_cast<size_t>(expectation.expectation.measure)]},
                                    {"limit", expectation.expectation.text},
                                    {"limit_value", expectation.expectation.limit},
                                    {"value", expectation.value ? Json(*expectation.value) : Json(nullptr)},
                                    {"met", expectation.met}});
  for (unsigned i = 0; i < kDropReasons; ++i)
    if (result.total.drops[i] != 0) json["drops"][std::string(kDropReasonNames[i])] = result.total.drops[i];
  for (unsigned i = 0; i < kProtocolEvents; ++i)
    if (result.total.events[i] != 0) json["events"][std::string(kProtocolEventNames[i])] = result.total.events[i];
  if (!result.broken.empty()) json["broken"] = result.broken;
  json["packet_hops"] = result.packet_hops;
  json["turns"] = result.turns;
  return json.dump(2) + "\n";
}

// One line per interval and workload.
std::string report_csv(const Scenario& scenario, const ScenarioResult& result) {
  std::ostringstream out;
  out << "time_ms,workload,sent_bps,delivered_bps\n";
  for (const ScenarioSample& sample : result.samples)
    out << milliseconds(sample.at_ns) << ',' << scenario.workloads[sample.workload].name << ',' << sample.sent_bps
        << ',' << sample.delivered_bps << '\n';
  return out.str();
}

namespace {
// Behind how many there were.
std::string completion_text(const LatencyHistogram& times) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1);
  if (times.count() != 0)
    out << " in " << microseconds(times.min()) << " to " << microseconds(times.max()) << " us, mean "
        << microseconds(times.mean()) << ", p50 " << microseconds(times.quantile(0.5)) << ", p99 "
        << microseconds(times.quantile(0.99));
  return out.str();
}

std::string window_text(const Window& window) {
  std::ostringstream out;
  out << "from " << milliseconds(window.from_ns) << " to " << milliseconds(window.to_ns) << " ms";
  return out.str();
}
}  // namespace

std::string report_text(const Scenario& scenario, const ScenarioResult& result) {
  std::ostringstream out;
  out << scenario.name << ": " << milliseconds(scenario.duration_ns) << " ms";
  if (scenario.windows.size() == 1) out << ", measured " << window_text(scenario.windows[0]);
  out << std::fixed << '\n';
  size_t window = ~size_t{0};
  for (const WorkloadResult& w : result.workloads) {
    if (scenario.windows.size() > 1 && w.window != window) {
      window = w.window;
      out << " " << scenario.windows[window].name << ", " << window_text(scenario.windows[window]) << '\n';
    }
    out << "  " << std::left << std::setw(14) << w.name << std::right << std::setprecision(3) << std::setw(9)
        << static_cast<double>(w.throughput_bps) / 1e9 << " Gb/s, " << w.flows << " flows, " << w.delivered_frames
        << " of " << w.sent_frames << " frames, late " << w.late_frames << ", latency p50 " << std::setprecision(1)
        << microseconds(w.latency.quantile(0.5)) << " us, p99 " << microseconds(w.latency.quantile(0.99))
        << " us, longest gap " << std::setprecision(3) << milliseconds(w.longest_gap_ns) << " ms";
    if (w.longest_gap_ns != 0) out << " (" << w.gap_flow << " at " << milliseconds(w.gap_at_ns) << " ms)";
    if (w.fairness_ppm) out << ", fairness " << static_cast<double>(*w.fairness_ppm) / 1e6;
    if (!w.transfers.empty())
      out << ", transfers " << w.transfer_completion.count() << " of " << w.transfers.size()
          << completion_text(w.transfer_completion);
    if (w.transfer_spread_ppm) out << ", slowest over fastest " << static_cast<double>(*w.transfer_spread_ppm) / 1e6;
    if (w.messages_done != 0) out << ", messages " << w.messages_done << completion_text(w.completion);
    out << '\n';
  }
  out << "  drops:";
  for (unsigned i = 0; i < kDropReasons; ++i)
    if (result.total.drops[i] != 0) out << ' ' << kDropReasonNames[i] << ' ' << result.total.drops[i];
  out << '\n';
  for (const ExpectationResult& e : result.expectations)
    out << (e.met ? "  met:     " : "  NOT MET: ") << expectation_text(scenario, e.expectation) << ", " << value_text(e)
        << '\n';
  if (!result.broken.empty()) out << "  BROKEN: " << result.broken << '\n';
  const double rate = result.seconds > 0 ? static_cast<double>(result.packet_hops) / result.seconds / 1e6 : 0;
  out << "  " << result.packet_hops << " packet-hops in " << std::setprecision(2) << result.seconds
      << " s of processor time: " << rate << " M packet-hops/s, " << result.turns << " turns";
  if (result.checks != 0) out << ", " << result.checks << " checks";
  out << '\n';
  return out.str();
}

}  // namespace heddle::sim
