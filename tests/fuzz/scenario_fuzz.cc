// SPDX-License-Identifier: Apache-2.0
// Scenario files of any content: no crash, and either a scenario that can be played and reported, or at least one
// problem. It is not played: that takes as long as the file asks for.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "config/yaml_value.h"
#include "sim/scenario/scenario_run.h"

namespace heddle::sim {
namespace {

void require(bool good) {
  if (!good) std::abort();
}

void check_flows(const Scenario& scenario) {
  const Topology& topology = scenario.setup.topology;
  for (const HostFlow& flow : scenario.flows) {
    require(&scenario.flows[flow.id] == &flow);
    require(flow.source < scenario.setup.hosts.size() && flow.destination < scenario.setup.hosts.size());
    require(flow.source != flow.destination && flow.class_index < topology.classes.size());
    require(flow.length_min <= flow.length_max && flow.burst_frames != 0);
  }
  for (const Workload& workload : scenario.workloads)
    for (const uint16_t id : workload.flows) require(id < scenario.flows.size());
  for (const HostileWorkload& workload : scenario.hostile)
    for (const uint16_t host : workload.hosts) require(host < scenario.setup.hosts.size());
}

// What playing a scenario takes for granted.
void check(const Scenario& scenario) {
  const Topology& topology = scenario.setup.topology;
  require(scenario.setup.nodes.size() == topology.nodes.size());
  require(scenario.setup.links.size() == topology.links.size());
  require(scenario.host_vlans.size() == scenario.setup.hosts.size());
  require(!scenario.windows.empty());
  for (const Window& window : scenario.windows)
    require(window.from_ns < window.to_ns && window.to_ns <= scenario.duration_ns);
  require(scenario.interval_ns != 0);
  for (const HostSetup& host : scenario.setup.hosts)
    require(is_name(host.name, 31) && !topology.nodes.at(host.port.node_index).ports.at(host.port.port).fabric);
  check_flows(scenario);
  for (const ScenarioFault& fault : scenario.faults) {
    require(fault.node < topology.nodes.size());
    require(fault.worker < scenario.setup.nodes[fault.node].workers);
    require(topology.links.empty() ? fault.link == 0 : fault.link < topology.links.size());
  }
  ScenarioResult result;
  for (uint32_t index = 0; index < scenario.workloads.size(); ++index) {
    WorkloadResult& workload = result.workloads.emplace_back();
    workload.name = scenario.workloads[index].name;
    if (!scenario.workloads[index].flows.empty())
      workload.gap_flow = scenario.flows[scenario.workloads[index].flows[0]].name;
    result.samples.push_back({.at_ns = 0, .workload = index, .sent_bps = 0, .delivered_bps = 0});
  }
  for (const Expectation& expectation : scenario.expectations) result.expectations.push_back({expectation, {}, false});
  require(!report_json(scenario, result).empty() && !report_text(scenario, result).empty());
  const std::string csv = report_csv(scenario, result);
  require(std::count(csv.begin(), csv.end(), ',') == 3 * static_cast<std::ptrdiff_t>(result.samples.size() + 1));
}

}  // namespace
}  // namespace heddle::sim

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  heddle::ConfigErrors errors;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto scenario = heddle::sim::parse_scenario(text, "fuzz.yaml", errors);
  if (scenario.has_value() != errors.empty()) std::abort();
  if (scenario) heddle::sim::check(*scenario);
  return 0;
}
