// SPDX-License-Identifier: Apache-2.0
#include "sim/report_page.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace heddle::sim {

namespace {

constexpr size_t kThinLinesMax = 64;  // flows of a workload that are drawn one by one

constexpr const char* kHead =
    "<!doctype html><html lang=en><meta charset=utf-8><title>heddle-sim report</title><style>\n"
    "body{font:15px/1.4 sans-serif;max-width:1120px;margin:2em auto;padding:0 1em;color:#222}\n"
    "table{border-collapse:collapse;font-size:13px}td,th{padding:2px 9px;border-bottom:1px solid "
    "#ddd;text-align:right}\n"
    "td:first-child,th:first-child,td.text{text-align:left}.missed{color:#b00020;font-weight:bold}\n"
    "figure{display:inline-block;width:520px;margin:10px 8px}svg{width:100%;background:#fff}\n</style>\n";

double milliseconds(Nanos time) { return static_cast<double>(time) / 1e6; }

std::string name_of(const PlayedScenario& played) {
  return played.scenario.variant.baseline == Baseline::none
             ? "heddle"
             : std::string(kBaselineNames[static_cast<size_t>(played.scenario.variant.baseline)]);
}

std::string microseconds(const LatencyHistogram& times, double share) {
  if (times.count() == 0) return "-";
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << static_cast<double>(times.quantile(share)) / 1e3;
  return out.str();
}

void write_table(std::ostringstream& out, const std::vector<PlayedScenario>& variants) {
  out << "<table><tr><th>window, workload<th>switch<th>Gb/s<th>Jain<th>p50 us<th>p99 us<th>messages p99 us<th>late"
         "<th>lost\n";
  const Scenario& first = variants.front().scenario;
  for (size_t i = 0; i < variants.front().result.workloads.size(); ++i) {
    for (const PlayedScenario& played : variants) {
      if (i >= played.result.workloads.size()) continue;
      const WorkloadResult& w = played.result.workloads[i];
      const std::string& window = first.windows[w.window].name;
      out << "<tr><td>" << html_text(window.empty() ? w.name : window + ", " + w.name) << "<td class=text>"
          << name_of(played) << "<td>" << std::fixed << std::setprecision(3)
          << static_cast<double>(w.throughput_bps) / 1e9 << "<td>";
      if (w.fairness_ppm)
        out << static_cast<double>(*w.fairness_ppm) / 1e6;
      else
        out << '-';
      out << "<td>" << microseconds(w.latency, 0.5) << "<td>" << microseconds(w.latency, 0.99) << "<td>"
          << microseconds(w.completion, 0.99) << "<td>" << w.late_frames << "<td>" << w.lost_frames << '\n';
    }
  }
  out << "</table>\n";
}

void write_expectations(std::ostringstream& out, const std::vector<PlayedScenario>& variants) {
  for (const PlayedScenario& played : variants) {
    const auto& all = played.result.expectations;
    const auto met = std::count_if(all.begin(), all.end(), [](const ExpectationResult& one) { return one.met; });
    out << "<p>" << name_of(played) << " meets " << met << " of " << all.size() << " expectations";
    if (!played.result.broken.empty()) out << ", <span class=missed>" << html_text(played.result.broken) << "</span>";
    uint64_t drops = 0;
    for (const uint64_t count : played.result.total.drops) drops += count;
    out << "; drops of all reasons: " << drops << ".\n";
  }
}

Chart throughput_chart(const PlayedScenario& played) {
  Chart chart{.title = "Throughput, " + name_of(played), .x_label = "ms", .y_label = "Gb/s", .lines = {}};
  for (uint32_t i = 0; i < played.scenario.workloads.size(); ++i) {
    const Workload& workload = played.scenario.workloads[i];
    if (workload.flows.size() <= kThinLinesMax && workload.flows.size() > 1) {
      for (const uint16_t flow : workload.flows) {
        ChartLine line;
        for (size_t at = 0; at < played.result.flow_bps.size() && at < played.result.queues.size(); ++at)
          line.points.emplace_back(milliseconds(played.result.queues[at].at_ns),
                                   static_cast<double>(played.result.flow_bps[at][flow]) / 1e9);
        chart.lines.push_back(std::move(line));
      }
    }
    ChartLine sum{.name = workload.name, .points = {}};
    for (const ScenarioSample& sample : played.result.samples)
      if (sample.workload == i)
        sum.points.emplace_back(milliseconds(sample.at_ns), static_cast<double>(sample.delivered_bps) / 1e9);
    chart.lines.push_back(std::move(sum));
  }
  return chart;
}

Chart queue_chart(const std::vector<PlayedScenario>& variants, bool edge) {
  Chart chart{.title = edge ? "Longest queue of an edge port" : "Buffers of the fullest channel of a link",
              .x_label = "ms",
              .y_label = edge ? "bytes" : "%",
              .lines = {}};
  for (const PlayedScenario& played : variants) {
    ChartLine line{.name = name_of(played), .points = {}};
    for (const QueueSample& sample : played.result.queues)
      line.points.emplace_back(milliseconds(sample.at_ns), edge ? sample.edge_bytes : sample.buffers_ppm / 1e4);
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

// Of messages where there are any, in the last window.
Chart latency_chart(const std::vector<PlayedScenario>& variants, const std::string& workload) {
  Chart chart{.title = "Latency of " + workload, .x_label = "us", .y_label = "% within", .log_x = true, .lines = {}};
  for (const PlayedScenario& played : variants) {
    ChartLine line{.name = name_of(played), .points = {}};
    for (const WorkloadResult& w : played.result.workloads) {
      if (w.name != workload || w.window + 1 != played.scenario.windows.size()) continue;
      const LatencyHistogram& times = w.completion.count() != 0 ? w.completion : w.latency;
      for (int share = 0; share <= 1000 && times.count() != 0; share += 5)
        line.points.emplace_back(static_cast<double>(times.quantile(share / 1000.0)) / 1e3, share / 10.0);
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

}  // namespace

std::vector<Chart> charts_of(const std::vector<PlayedScenario>& variants) {
  std::vector<Chart> charts;
  for (const PlayedScenario& played : variants) charts.push_back(throughput_chart(played));
  charts.push_back(queue_chart(variants, true));
  charts.push_back(queue_chart(variants, false));
  for (const Workload& workload : variants.front().scenario.workloads)
    charts.push_back(latency_chart(variants, workload.name));
  return charts;
}

namespace {

void write_scenario(std::ostringstream& out, const std::vector<PlayedScenario>& variants) {
  const Scenario& scenario = variants.front().scenario;
  out << "<h2>" << html_text(scenario.name) << "</h2><p>Seed " << scenario.setup.seed << ", "
      << scenario.setup.topology.nodes.size() << " switches, " << scenario.setup.hosts.size() << " hosts, "
      << milliseconds(scenario.duration_ns) << " ms";
  if (scenario.variant.slower > 1) out << ", " << scenario.variant.slower << " times slower";
  out << ".\n";
  write_expectations(out, variants);
  write_table(out, variants);
  for (const Chart& chart : charts_of(variants)) out << "<figure>" << svg_of(chart) << "</figure>\n";
}

}  // namespace

std::string report_page(const std::vector<std::vector<PlayedScenario>>& scenarios) {
  std::ostringstream out;
  out << kHead << "<h1>heddle-sim report</h1>\n";
  for (const std::vector<PlayedScenario>& variants : scenarios) write_scenario(out, variants);
  out << "</html>\n";
  return out.str();
}

}  // namespace heddle::sim
