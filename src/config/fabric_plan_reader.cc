// SPDX-License-Identifier: Apache-2.0
#include "config/fabric_plan_reader.h"

#include <algorithm>
#include <array>

#include "config/config_keys.h"
#include "config/topology_builder.h"
#include "wire/types.h"

namespace heddle {

namespace {

// A size that must be there.
bool read_size(const YamlValue& value, const std::string& what, uint32_t& out, uint64_t min, uint64_t max) {
  return value.require(what) && value.read_integer(out, min, max);
}

std::optional<FabricPlan> read_leaf_spine(const YamlValue& value) {
  uint32_t leaves = 0, spines = 0, hosts = 0;
  const bool sound = read_size(value["leaves"], "how many", leaves, 1, kPortsMax) &&
                     read_size(value["spines"], "how many", spines, 1, kPortsMax - 1) &&
                     read_size(value["hosts"], "how many on each leaf", hosts, 0, kPortsMax - spines);
  if (!sound) return std::nullopt;
  return leaf_spine_plan(leaves, spines, hosts);
}

std::optional<FabricPlan> read_fat_tree(const YamlValue& value) {
  constexpr uint32_t kFatTreeMax = 32;  // 1,280 switches, 8,192 hosts
  uint32_t radix = 0;
  if (!read_size(value["radix"], "how many ports each switch has", radix, 4, kFatTreeMax)) return std::nullopt;
  if (radix % 2 != 0) {
    value["radix"].problem("an even number");
    return std::nullopt;
  }
  uint32_t hosts = radix / 2;
  if (value.has("hosts") && !value["hosts"].read_integer(hosts, 0, kPortsMax - radix / 2)) return std::nullopt;
  return fat_tree_plan(radix, hosts);
}

std::optional<FabricPlan> read_dragonfly(const YamlValue& value) {
  DragonflySize size{};
  const bool sound =
      read_size(value["routers"], "how many in each group", size.routers, 1, kPortsMax / 2) &&
      read_size(value["globals"], "how many links of each router to other groups", size.globals, 1, kPortsMax / 2) &&
      read_size(value["hosts"], "how many on each router", size.hosts, 0,
                kPortsMax - (size.routers - 1) - size.globals);
  if (!sound) return std::nullopt;
  const uint32_t groups_max = size.routers * size.globals + 1;
  size.groups = groups_max;
  if (value.has("groups") && !value["groups"].read_integer(size.groups, 2, groups_max)) return std::nullopt;
  if (size.groups * size.routers > kNodesMax) {
    value["groups"].problem(std::to_string(size.groups * size.routers) + " routers", std::to_string(kNodesMax));
    return std::nullopt;
  }
  return dragonfly_plan(size);
}

std::optional<FabricPlan> read_lattice(const YamlValue& value, Lattice lattice) {
  const YamlValue list = value["dimensions"];
  const std::string what =
      "how many switches in each of up to " + std::to_string(kDimensionsMax) + " dimensions, [8, 8] for instance";
  if (!list.require(what) || !list.expect_list(what)) return std::nullopt;
  const std::vector<YamlValue> items = list.items();
  if (items.empty() || items.size() > kDimensionsMax) {
    list.problem(std::to_string(items.size()) + " dimensions", "1 to " + std::to_string(kDimensionsMax));
    return std::nullopt;
  }
  std::vector<uint32_t> dimensions(items.size());
  uint64_t switches = 1;
  for (size_t i = 0; i < items.size(); ++i) {
    if (!items[i].read_integer(dimensions[i], 2, kNodesMax)) return std::nullopt;
    switches *= dimensions[i];
  }
  if (switches > kNodesMax) {
    list.problem(std::to_string(switches) + " switches", std::to_string(kNodesMax));
    return std::nullopt;
  }
  const uint32_t links = lattice_degree(lattice, dimensions);
  if (links > kPortsMax) {
    list.problem(std::to_string(links) + " links of a switch", std::to_string(kPortsMax));
    return std::nullopt;
  }
  uint32_t hosts = 0;
  if (!read_size(value["hosts"], "how many on each switch", hosts, 0, kPortsMax - links)) return std::nullopt;
  return lattice_plan(lattice, dimensions, hosts);
}

struct Plan {
  std::string_view kind;
  std::span<const std::string_view> keys;  // besides
  std::optional<FabricPlan> (*read)(const YamlValue& value);
};
constexpr auto kPlans = std::to_array<Plan>({
    {"leaf-spine", config_keys::kLeafSpine, read_leaf_spine},  // goes without saying
    {"fat-tree", config_keys::kFatTree, read_fat_tree},
    {"dragonfly", config_keys::kDragonfly, read_dragonfly},
    {"hyperx", config_keys::kLattice, [](const YamlValue& value) { return read_lattice(value, Lattice::hyperx); }},
    {"torus", config_keys::kLattice, [](const YamlValue& value) { return read_lattice(value, Lattice::torus); }},
    {"mesh", config_keys::kLattice, [](const YamlValue& value) { return read_lattice(value, Lattice::mesh); }},
});

bool is_among(std::span<const std::string_view> keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// Reported: a key that belongs to other plans only.
bool has_strange_key(const YamlValue& value, const Plan& plan) {
  for (const Plan& other : kPlans)
    for (const std::string_view key : other.keys) {
      if (!value.has(key) || is_among(plan.keys, key)) continue;
      value[key].problem_at_key("the key in a " + std::string(plan.kind), joined(plan.keys));
      return true;
    }
  return false;
}

}  // namespace

std::optional<FabricPlan> read_fabric_plan(const YamlValue& value) {
  if (!value.present()) return std::nullopt;
  std::array<std::string_view, kPlans.size()> kinds;
  std::transform(kPlans.begin(), kPlans.end(), kinds.begin(), [](const Plan& plan) { return plan.kind; });
  size_t choice = 0;
  if (value.has("kind") && !value["kind"].read_choice(choice, kinds)) return std::nullopt;
  return has_strange_key(value, kPlans[choice]) ? std::nullopt : kPlans[choice].read(value);
}

}  // namespace heddle
