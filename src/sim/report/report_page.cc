// SPDX-License-Identifier: Apache-2.0
#include "sim/report/report_page.h"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "sim/report/topology_drawing.h"

namespace heddle::sim {

namespace {

constexpr size_t kThinLinesMax = 64;  // flows of a workload that are drawn one by one

constexpr const char* kHead =
    "<!doctype html><html lang=en><meta charset=utf-8><title>heddle-sim report</title><style>\n"
    "body{font:15px/1.4 sans-serif;max-width:1120px;margin:2em auto;padding:0 1em;color:#222}\n"
    "table{border-collapse:collapse;font-size:13px;margin:0 0 16px}td,th{padding:2px 9px;border-bottom:1px solid "
    "#ddd;text-align:right}\n"
    "td:first-child,th:first-child,td.text{text-align:left}.missed{color:#b00020;font-weight:bold}\n"
    "figure{display:inline-block;width:520px;margin:10px "
    "8px}figure.fabric{width:1060px}svg{width:100%;background:#fff}\n"
    ".about{max-width:60em}</style>\n";

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

std::string drops_text(const PortCounters& total) {
  std::string text;
  for (unsigned i = 0; i < kDropReasons; ++i)
    if (total.drops[i] != 0)
      text += (text.empty() ? "" : "<br>") + std::string(kDropReasonNames[i]) + " " + std::to_string(total.drops[i]);
  return text.empty() ? "none" : text;
}

std::string fault_text(const Scenario& scenario, const ScenarioFault& fault) {
  const Topology& topology = scenario.setup.topology;
  const std::string node = topology.nodes[fault.node].name;
  const auto link = [&](const char* what) {
    const LinkEnd* ends = topology.links[fault.link].ends;
    return topology.nodes[ends[0].node_index].name + "-" + topology.nodes[ends[1].node_index].name + " " + what;
  };
  switch (fault.action) {
    case FaultAction::link_down:
      return link("down");
    case FaultAction::link_up:
      return link("up");
    case FaultAction::link_loss:
      return link("loses");
    case FaultAction::link_delay:
      return link("delay");
    case FaultAction::node_crash:
      return node + " crashes";
    case FaultAction::node_start:
      return node + " starts";
    case FaultAction::regroup:
      return node + " regroups";
    case FaultAction::worker_pause:
      return node + " stands still";
  }
  return {};
}

void write_table(std::ostringstream& out, const std::vector<PlayedScenario>& variants) {
  out << "<table><tr><th>window, workload<th>switch<th>Gb/s<th>Jain<th>p50 us<th>p99 us<th>p99.9 us<th>completion "
         "p99 us<th>p99.9 us<th>late<th>lost\n";
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
          << microseconds(w.latency, 0.999) << "<td>" << microseconds(w.completions(), 0.99) << "<td>"
          << microseconds(w.completions(), 0.999) << "<td>" << w.late_frames << "<td>" << w.lost_frames << '\n';
    }
  }
  out << "</table>\n";
}

// What must come out, and what did, of each variant.
void write_expectations(std::ostringstream& out, const std::vector<PlayedScenario>& variants) {
  out << "<table><tr><th>expectation";
  for (const PlayedScenario& played : variants) out << "<th>" << name_of(played);
  const PlayedScenario& first = variants.front();
  for (size_t i = 0; i < first.result.expectations.size(); ++i) {
    out << "\n<tr><td>" << html_text(expectation_text(first.scenario, first.result.expectations[i].expectation));
    for (const PlayedScenario& played : variants) {
      const ExpectationResult& one = played.result.expectations[i];
      out << "<td" << (one.met ? ">" : " class=missed>") << html_text(value_text(one)) << (one.met ? "" : ", not met");
    }
  }
  out << "\n<tr><td>frames dropped, by reason";
  for (const PlayedScenario& played : variants) out << "<td>" << drops_text(played.result.total);
  out << "</table>\n";
  for (const PlayedScenario& played : variants)
    if (!played.result.broken.empty())
      out << "<p>" << name_of(played) << ": <span class=missed>" << html_text(played.result.broken) << "</span>\n";
}

// What is measured when, and what breaks when.
void add_times(Chart& chart, const Scenario& scenario) {
  for (const Window& window : scenario.windows)
    chart.spans.push_back({window.name.empty() ? "measured" : window.name, milliseconds(window.from_ns),
                           milliseconds(std::min(window.to_ns, scenario.duration_ns))});
  for (const ScenarioFault& fault : scenario.faults) {
    chart.marks.push_back({fault_text(scenario, fault), milliseconds(fault.at_ns)});
    const bool heals = fault.action == FaultAction::link_down || fault.action == FaultAction::node_crash;
    if (heals && fault.for_ns != 0) chart.marks.push_back({"back", milliseconds(fault.at_ns + fault.for_ns)});
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
  add_times(chart, played.scenario);
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
  add_times(chart, variants.front().scenario);
  return chart;
}

// Of completions where the first variant has any, in the last window; of all variants the same kind.
Chart latency_chart(const std::vector<PlayedScenario>& variants, const std::string& workload) {
  Chart chart{.title = "Latency of " + workload, .x_label = "us", .y_label = "% within", .log_x = true, .lines = {}};
  WorkloadResult::Times kind = nullptr;
  for (const PlayedScenario& played : variants) {
    ChartLine line{.name = name_of(played), .points = {}};
    for (const WorkloadResult& w : played.result.workloads) {
      if (w.name != workload || w.window + 1 != played.scenario.windows.size()) continue;
      if (kind == nullptr) kind = w.times();
      const LatencyHistogram& times = w.*kind;
      for (int share = 0; share <= 1000 && times.count() != 0; share += share < 990 ? 5 : 1)
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
  out << std::defaultfloat << std::setprecision(6) << "<h2>" << html_text(scenario.name) << "</h2><p class=about>"
      << html_text(scenario.about) << "<p>Seed " << scenario.setup.seed << ", " << scenario.setup.topology.nodes.size()
      << " switches, " << scenario.setup.hosts.size() << " hosts, " << milliseconds(scenario.duration_ns) << " ms";
  if (scenario.variant.slower > 1) out << ", " << scenario.variant.slower << " times slower";
  out << ". Shaded: what is measured; dashed: what breaks and comes back.\n<figure class=fabric>"
      << topology_svg(scenario) << "</figure>\n";
  write_expectations(out, variants);
  write_table(out, variants);
  for (const Chart& chart : charts_of(variants)) out << "<figure>" << svg_of(chart) << "</figure>\n";
}

}  // namespace

std::string report_page(const std::vector<std::vector<PlayedScenario>>& scenarios, const std::string& version) {
  std::ostringstream out;
  out << kHead << "<h1>heddle-sim report</h1><p>By " << html_text(version) << ".\n";
  for (const std::vector<PlayedScenario>& variants : scenarios) write_scenario(out, variants);
  out << "</html>\n";
  return out.str();
}

}  // namespace heddle::sim
