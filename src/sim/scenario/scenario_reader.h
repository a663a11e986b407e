// SPDX-License-Identifier: Apache-2.0
// Reads a scenario from YAML; the topology part through the builder that the other files use.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/topology_builder.h"
#include "config/yaml_value.h"
#include "sim/scenario/scenario.h"
#include "topology/fabric_plan.h"

namespace heddle::sim {

class ScenarioReader {
 public:
  ScenarioReader(const YamlValue& root, const ScenarioVariant& variant) : root_(root), builder_(root) {
    scenario_.variant = variant;
  }
  std::optional<Scenario> read(ConfigErrors& errors);

 private:
  // scenario_reader.cc: the fabric, scenario_fabric.cc: generated ones and variants
  void read_about();
  void read_nodes();
  bool read_generated();
  bool generate(const FabricPlan& plan, const YamlValue& value);
  HostSetup* add_host(const std::string& name, LinkEnd end, const YamlValue& port, const MemoryLinkOptions& link);
  static MemoryLinkOptions fabric_link_defaults();
  static MemoryLinkOptions host_link_defaults();
  void set_baseline();
  void slow_down_links();
  void slow_down();
  void read_links();
  void read_link(const YamlValue& value);
  void read_hosts();
  void read_host(const YamlValue& value);
  std::optional<LinkEnd> end_of(const YamlValue& value);
  void read_ports();
  void finish_nodes();
  void read_frame();
  void read_times();
  void read_windows(const YamlValue& list);

  // scenario_workloads.cc: what goes on in it
  void read_workloads();
  void read_workload(const YamlValue& value);
  void read_hostile(const YamlValue& value, const std::string& name, const std::vector<uint16_t>& from);
  void read_pace(const YamlValue& value, HostFlow& flow, uint64_t& offered_bps);
  void read_contents(const YamlValue& value, HostFlow& flow);
  void classify(HostFlow& flow);
  std::vector<uint16_t> read_host_names(const YamlValue& value);
  std::vector<uint16_t> matching_hosts(std::string_view pattern) const;
  std::vector<std::pair<uint16_t, uint16_t>> read_pairs(const YamlValue& value, const std::vector<uint16_t>& from);
  void read_faults();
  void read_port_shapers();
  ApplicationPolicy read_policy(const YamlValue& value, uint16_t node);
  bool read_new_policy(const YamlValue& value, ScenarioFault& fault);
  void read_fault(const YamlValue& value);
  std::optional<uint32_t> read_link_name(const YamlValue& value);
  void read_expectations();
  void read_expectation(const YamlValue& value);
  void note_vlan(uint16_t host, uint16_t vlan);
  uint16_t native_vlan(uint16_t host) const;

  YamlValue root_;
  TopologyBuilder builder_;
  Scenario scenario_;
  std::vector<YamlValue> node_values_;  // by node; of planned ones the key `fabric`, or their own
  std::vector<PortShapers> shapers_;    // by node
  size_t planned_nodes_ = 0;
  size_t links_read_ = 0, generated_hosts_ = 0;
  std::map<std::string, uint16_t, std::less<>> hosts_;
};

}  // namespace heddle::sim
