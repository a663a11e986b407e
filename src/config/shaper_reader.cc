// SPDX-License-Identifier: Apache-2.0
#include "config/shaper_reader.h"

#include <algorithm>

#include "config/config_keys.h"
#include "config/units.h"
#include "wire/ethernet.h"

namespace heddle {

namespace {

constexpr size_t kBranchNameBytes = 31;
constexpr uint64_t kShapedRateMinBps = 1'000'000;  // slower, a burst of two frames takes longer than many a life
constexpr uint64_t kTurnNs = 10 * kMillisecond;    // of a class at most: the others' frames live on meanwhile (K8)

// Of one port.
class ShaperReader {
 public:
  ShaperReader(const Topology& topology, const TopologyPort& port) : topology_(topology), port_(port) {}

  ShaperPolicy read(const YamlValue& value) {
    if (!value.expect_map(config_keys::kShaper)) return {};
    policy_.configured = true;
    const size_t errors_before = value.errors_so_far();
    value["maximum"].read_rate(policy_.maximum_bps, kShapedRateMinBps, port_.rate_bps);
    read_branches(value["branches"]);
    read_classes(value["classes"]);
    if (value.errors_so_far() != errors_before) return {};
    check_minima(value);
    check_weights(value["classes"]);
    return std::move(policy_);
  }

 private:
  uint64_t most_bps() const { return policy_.maximum_bps != 0 ? policy_.maximum_bps : port_.rate_bps; }

  // Above it is what it is a part of.
  void read_bandwidth(const YamlValue& value, ShaperPolicy::Bandwidth& out, uint64_t above_bps) const {
    value["maximum"].read_rate(out.maximum_bps, kShapedRateMinBps, above_bps);
    value["minimum"].read_rate(out.minimum_bps, kShapedRateMinBps, out.maximum_bps != 0 ? out.maximum_bps : above_bps);
    const YamlValue priority = value["priority"];
    priority.read_integer(out.priority, 0, kShaperPriorityMax);
    if (priority.present() && out.minimum_bps == 0)
      priority.problem_at_key("a priority without a minimum", "one with a minimum: up to that it comes first");
  }

  void read_branches(const YamlValue& value) {
    if (!value.present() || !value.expect_free_map("branches")) return;
    for (const YamlValue& entry : value.entries()) {
      if (!is_name(entry.key(), kBranchNameBytes)) {
        entry.problem_at_key("this name", "letters, digits, - and _, at most " + std::to_string(kBranchNameBytes));
        continue;
      }
      if (policy_.branches.size() == kBranchesMax)
        return entry.problem_at_key("one more branch", std::to_string(kBranchesMax) + " of a port");
      if (!entry.expect_map(config_keys::kShaperBranch)) continue;
      policy_.branches.push_back({.name = entry.key(), .bandwidth = {}});
      read_bandwidth(entry, policy_.branches.back().bandwidth, most_bps());
    }
  }

  void read_classes(const YamlValue& value) {
    if (!value.present() || !value.expect_free_map("classes")) return;
    std::vector<std::string_view> names;
    for (const TrafficClass& traffic_class : topology_.classes) names.push_back(traffic_class.name);
    for (const YamlValue& entry : value.entries()) {
      const auto found = std::find(names.begin(), names.end(), entry.key());
      if (found == names.end()) {
        entry.problem_at_key("no class " + printable(entry.key()),
                             suggested_name(entry, entry.key(), names, joined(names)));
        continue;
      }
      if (!entry.expect_map(config_keys::kShaperClass)) continue;
      ShaperPolicy::Leaf& leaf = policy_.leaves[static_cast<size_t>(found - names.begin())];
      read_branch(entry["branch"], leaf);
      const uint64_t branch_bps = leaf.branch == kNoBranch ? 0 : policy_.branches[leaf.branch].bandwidth.maximum_bps;
      read_bandwidth(entry, leaf.bandwidth, branch_bps != 0 ? branch_bps : most_bps());
      entry["weight"].read_integer(leaf.weight, 1, kShaperWeightMax);
    }
  }

  void read_branch(const YamlValue& value, ShaperPolicy::Leaf& leaf) const {
    std::string name;
    if (!value.read_text(name)) return;
    std::vector<std::string_view> names;
    for (const ShaperPolicy::Branch& branch : policy_.branches) names.push_back(branch.name);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end())
      return value.problem("no branch " + printable(name), suggested_name(value, name, names, "a name under branches"));
    leaf.branch = static_cast<uint8_t>(found - names.begin());
  }

  // All of them can be had at the same time: a branch's minimum is beyond those of its classes.
  void check_minima(const YamlValue& value) const {
    std::vector<uint64_t> of_branch(policy_.branches.size());
    uint64_t all_bps = 0;
    for (const ShaperPolicy::Leaf& leaf : policy_.leaves) {
      all_bps += leaf.bandwidth.minimum_bps;
      if (leaf.branch != kNoBranch) of_branch[leaf.branch] += leaf.bandwidth.minimum_bps;
    }
    for (size_t branch = 0; branch < of_branch.size(); ++branch) {
      const ShaperPolicy::Bandwidth& bandwidth = policy_.branches[branch].bandwidth;
      const auto hangs_there = [branch](const ShaperPolicy::Leaf& leaf) { return leaf.branch == branch; };
      if (std::none_of(policy_.leaves.begin(), policy_.leaves.end(), hangs_there))
        value["branches"][policy_.branches[branch].name].problem_at_key("a branch of no class",
                                                                        "one that a class names as its `branch`");
      const uint64_t most = bandwidth.maximum_bps != 0 ? bandwidth.maximum_bps : most_bps();
      check_sum(value["branches"][policy_.branches[branch].name], of_branch[branch] + bandwidth.minimum_bps, most);
      all_bps += bandwidth.minimum_bps;
    }
    check_sum(value, all_bps, most_bps());
  }
  static void check_sum(const YamlValue& value, uint64_t minima_bps, uint64_t most_bps) {
    if (minima_bps > most_bps)
      value.problem_at_key("minima of " + format_rate(minima_bps), "up to " + format_rate(most_bps) + " in all");
  }

  // A turn is of two frames for the least weight, and in proportion for the others; at the rate of all that is held
  // together.
  void check_weights(const YamlValue& value) const {
    const uint64_t frame_bytes = topology_.edge_mtu_bytes + kEthernetHeaderBytes + kVlanTagBytes + port_.overhead_bytes;
    uint64_t rate_bps = most_bps();
    for (const ShaperPolicy::Branch& branch : policy_.branches)
      if (branch.bandwidth.maximum_bps != 0) rate_bps = std::min(rate_bps, branch.bandwidth.maximum_bps);
    const uint64_t frame_ns = frame_bytes * 8 * kSecond / rate_bps;
    const uint64_t most = std::max<uint64_t>(1, kTurnNs / (2 * frame_ns));
    const uint32_t least = policy_.least_weight(topology_.classes.size());
    for (size_t position = 0; position < topology_.classes.size(); ++position)
      if (const uint32_t weight = policy_.leaves[position].weight; weight > most * least)
        value[topology_.classes[position].name]["weight"].problem(
            std::to_string(weight) + " beside a class of " + std::to_string(least),
            "at " + format_rate(rate_bps) + " up to " + std::to_string(most) +
                " times the least: others' frames would not live to the end of a turn");
  }

  const Topology& topology_;
  const TopologyPort& port_;
  ShaperPolicy policy_;
};

}  // namespace

PortShapers read_shapers(const YamlValue& value, const Topology& topology, uint16_t node_index) {
  if (!value.present() || !value.expect_free_map("shapers")) return {};
  const size_t errors_before = value.errors_so_far();
  const std::vector<TopologyPort>& ports = topology.nodes[node_index].ports;
  std::vector<std::string_view> names;
  for (const TopologyPort& port : ports) names.push_back(port.name);
  PortShapers shapers(ports.size());
  for (const YamlValue& entry : value.entries()) {
    const auto found = std::find(names.begin(), names.end(), entry.key());
    const auto port = static_cast<size_t>(found - names.begin());
    if (found == names.end())
      entry.problem_at_key("no port " + printable(entry.key()),
                           suggested_name(entry, entry.key(), names, "a port of the node"));
    else if (ports[port].rate_bps == 0)
      entry.problem_at_key("a shaper of a port without a rate", "a port whose `rate` is known: its frames wait here");
    else if (ports[port].rate_bps < kShapedRateMinBps)
      entry.problem_at_key("a shaper of a port of " + format_rate(ports[port].rate_bps),
                           "a port of " + format_rate(kShapedRateMinBps) + " or more");
    else
      shapers[port] = ShaperReader(topology, ports[port]).read(entry);
  }
  const auto configured = [](const ShaperPolicy& policy) { return policy.configured; };
  const bool any = std::any_of(shapers.begin(), shapers.end(), configured);
  return any && value.errors_so_far() == errors_before ? std::move(shapers) : PortShapers{};
}

}  // namespace heddle
