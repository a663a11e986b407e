// SPDX-License-Identifier: Apache-2.0
#include "config/fabric_plan_reader.h"

#include <algorithm>
#include <array>

#include "config/config_keys.h"
#include "config/topology_builder.h"
#include "wire/types.h"

namespace heddle {

namespace {

enum class PlanKind : uint8_t { leaf_spine, fat_tree, dragonfly };
constexpr auto kPlanNames = std::to_array<std::string_view>({"leaf-spine", "fat-tree", "dragonfly"});

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

// The keys of a plan, besides `kind`.
std::span<const std::string_view> keys_of(PlanKind kind) {
  switch (kind) {
    case PlanKind::leaf_spine:
      return config_keys::kLeafSpine;
    case PlanKind::fat_tree:
      return config_keys::kFatTree;
    case PlanKind::dragonfly:
      return config_keys::kDragonfly;
  }
  return {};
}

// Of all plans.
std::vector<std::string_view> plan_keys() {
  std::vector<std::string_view> keys = {"kind"};
  for (const PlanKind kind : {PlanKind::leaf_spine, PlanKind::fat_tree, PlanKind::dragonfly})
    for (const std::string_view key : keys_of(kind))
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  return keys;
}

}  // namespace

std::optional<FabricPlan> read_fabric_plan(const YamlValue& value) {
  if (!value.present()) return std::nullopt;
  size_t choice = 0;  // leaf-spine goes without saying
  if (value.has("kind") && !value["kind"].read_choice(choice, kPlanNames)) return std::nullopt;
  const auto kind = static_cast<PlanKind>(choice);
  const std::span<const std::string_view> keys = keys_of(kind);
  for (const std::string_view key : plan_keys()) {
    if (key == "kind" || !value.has(key) || std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    value[key].problem_at_key("the key in a " + std::string(kPlanNames[choice]), joined(keys));
    return std::nullopt;
  }
  switch (kind) {
    case PlanKind::leaf_spine:
      return read_leaf_spine(value);
    case PlanKind::fat_tree:
      return read_fat_tree(value);
    case PlanKind::dragonfly:
      return read_dragonfly(value);
  }
  return std::nullopt;
}

}  // namespace heddle
