// SPDX-License-Identifier: Apache-2.0
// Fabrics that a few numbers describe, and variants of whole scenarios.
#include "config/fabric_plan_reader.h"
#include "sim/scenario/scenario_keys.h"
#include "sim/scenario/scenario_reader.h"

namespace heddle::sim {

// False if it does not say which nodes there are.
bool ScenarioReader::read_generated() {
  const YamlValue value = root_["fabric"];
  if (!value.present()) return true;
  if (!value.expect_map(scenario_keys::kFabric)) return false;
  const std::optional<FabricPlan> plan = read_fabric_plan(value);
  return plan && generate(*plan, value);
}

bool ScenarioReader::generate(const FabricPlan& plan, const YamlValue& value) {
  const std::vector<TopologyLink>& links = builder_.topology().links;
  const size_t links_before = links.size();
  const auto ends = builder_.add_plan(plan, value);
  planned_nodes_ = builder_.topology().nodes.size();
  node_values_.resize(planned_nodes_, value);
  if (!ends) return false;
  MemoryLinkOptions options = fabric_link_defaults();
  value["delay"].read_duration(options.delay_ns, 0, kLinkDelayMax);
  for (size_t i = links_before; i < links.size(); ++i) {
    const LinkEnd& end = links[i].ends[0];
    options.rate_bps = builder_.topology().nodes[end.node_index].ports[end.port].rate_bps;
    scenario_.setup.links.push_back({options, options});
  }
  MemoryLinkOptions link = host_link_defaults();
  value["host_rate"].read_rate(link.rate_bps, kRateMinBps, kRateMaxBps);
  value["host_delay"].read_duration(link.delay_ns, 0, kLinkDelayMax);
  for (size_t i = 0; i < ends->size(); ++i) {
    if (!add_host(plan.hosts[i].name, (*ends)[i], value, link)) return false;
    ++generated_hosts_;
  }
  return true;
}

// Baselines are the switch with parts switched off, as the classes of a file could say.
void ScenarioReader::set_baseline() {
  for (TrafficClass& traffic_class : builder_.topology().classes) {
    switch (scenario_.variant.baseline) {
      case Baseline::none:
      case Baseline::no_groups:  // which classes have no word in
      case Baseline::no_limits:
      case Baseline::no_shapers:
      case Baseline::no_fgfc:
        break;
      case Baseline::fixed_paths:
        traffic_class.path = PathPolicy::fixed;
        break;
      case Baseline::random_paths:
        traffic_class.path = PathPolicy::random;
        break;
      case Baseline::no_redirects:
        traffic_class.path = PathPolicy::least_loaded;
        break;
      case Baseline::shortest_paths:
        traffic_class.path = PathPolicy::shortest;
        break;
      case Baseline::valiant:
        traffic_class.path = PathPolicy::valiant;
        break;
      case Baseline::drop_tail:
        traffic_class.lossless = traffic_class.congestion_control = traffic_class.flow_credits = false;
        break;
      case Baseline::credits_only:
        traffic_class.congestion_control = false;
        break;
      case Baseline::pause_only:
        traffic_class.lossless = true;
        traffic_class.flow_channels = false;
        break;
    }
  }
}

// Before lives of lossless classes are derived from the rates.
void ScenarioReader::slow_down_links() {
  const uint32_t slower = scenario_.variant.slower;
  const auto slow_part = [slower](ShaperPolicy::Bandwidth& bandwidth) {
    bandwidth.minimum_bps /= slower;
    bandwidth.maximum_bps /= slower;
  };
  for (TopologyNode& node : builder_.topology().nodes)
    for (TopologyPort& port : node.ports) port.rate_bps /= slower;
  for (PortShapers& shapers : shapers_)
    for (ShaperPolicy& shaper : shapers) {
      shaper.maximum_bps /= slower;
      for (ShaperPolicy::Leaf& leaf : shaper.leaves) slow_part(leaf.bandwidth);
      for (ShaperPolicy::Branch& branch : shaper.branches) slow_part(branch.bandwidth);
    }
  const auto slow = [slower](MemoryLinkOptions& link) {
    link.rate_bps /= slower;
    link.delay_ns *= slower;
    link.reorder_max_ns *= slower;
  };
  for (auto& both : scenario_.setup.links)
    for (MemoryLinkOptions& way : both) slow(way);
  for (HostSetup& host : scenario_.setup.hosts) {
    slow(host.to_switch);
    slow(host.from_switch);
    if (host.announce_interval_ns != kNever) host.announce_interval_ns *= slower;
  }
}

// Everything else that is a time or a rate, but for what the switch takes: its settings and its turns.
void ScenarioReader::slow_down() {
  const uint32_t slower = scenario_.variant.slower;
  const Nanos start = scenario_.setup.start_ns;
  const auto later = [start, slower](Nanos at) { return start + (at - start) * slower; };
  scenario_.duration_ns *= slower;
  scenario_.interval_ns *= slower;
  for (Window& window : scenario_.windows) {
    window.from_ns *= slower;
    window.to_ns *= slower;
  }
  for (HostFlow& flow : scenario_.flows) {
    flow.starts_ns = later(flow.starts_ns);
    flow.stops_ns = later(flow.stops_ns);
    for (Nanos* time : {&flow.interval_ns, &flow.on_ns, &flow.off_ns, &flow.window_patience_ns}) *time *= slower;
  }
  for (Workload& workload : scenario_.workloads) workload.offered_bps /= slower;
  for (HostileWorkload& workload : scenario_.hostile) {
    workload.options.starts_ns = later(workload.options.starts_ns);
    workload.options.stops_ns = later(workload.options.stops_ns);
    workload.options.interval_ns *= slower;
  }
  for (ScenarioFault& fault : scenario_.faults)
    for (Nanos* time : {&fault.at_ns, &fault.for_ns, &fault.delay_ns}) *time *= slower;
  const auto scaled = [slower](const char* sign) { return slower == 1 ? "" : sign + std::to_string(slower); };
  for (Expectation& expectation : scenario_.expectations) {
    switch (expectation.measure) {
      case Measure::throughput_at_least:
      case Measure::throughput_at_most:
      case Measure::steady_throughput_at_least:
      case Measure::steady_throughput_at_most:
        expectation.limit /= slower;
        expectation.text += scaled(" / ");
        break;
      case Measure::gap_at_most:
      case Measure::latency_p50_at_most:
      case Measure::latency_p99_at_most:
      case Measure::completion_p99_at_most:
        expectation.limit *= slower;
        expectation.text += scaled(" x ");
        break;
      default:
        break;
    }
  }
}

}  // namespace heddle::sim
