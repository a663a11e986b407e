// SPDX-License-Identifier: Apache-2.0
#include "topology/fabric_plan.h"

#include <algorithm>

namespace heddle {

namespace {

// Of a dragonfly's links between groups: a path over two of these is not as short as one over a single one with a link
// inside a group before it and behind it.
constexpr uint8_t kGlobalCost = 2;

std::string numbered(const char* name, uint32_t number) { return name + std::to_string(number + 1); }

std::string numbered(const char* name, uint32_t first, uint32_t second) {
  return numbered(name, first) + "-" + std::to_string(second + 1);
}

std::string numbered(const char* name, uint32_t first, uint32_t second, uint32_t third) {
  return numbered(name, first, second) + "-" + std::to_string(third + 1);
}

constexpr std::array<const char*, kDimensionsMax> kDimensionNames = {"x", "y", "z", "w"};

// Of the switches in one line of `size` of them: are these two, the first before the other, linked?
bool linked(Lattice lattice, uint32_t first, uint32_t second, uint32_t size) {
  return lattice == Lattice::hyperx || second - first == 1 ||
         (lattice == Lattice::torus && first == 0 && second == size - 1);
}

}  // namespace

FabricPlan leaf_spine_plan(uint32_t leaves, uint32_t spines, uint32_t hosts) {
  FabricPlan plan;
  for (uint32_t spine = 0; spine < spines; ++spine) plan.nodes.push_back(numbered("spine", spine));
  for (uint32_t leaf = 0; leaf < leaves; ++leaf) plan.nodes.push_back(numbered("leaf", leaf));
  for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
    for (uint32_t spine = 0; spine < spines; ++spine)
      plan.links.push_back({{{{spines + leaf, numbered("u", spine)}, {spine, numbered("p", leaf)}}}});
    for (uint32_t host = 0; host < hosts; ++host)
      plan.hosts.push_back({numbered("h", leaf, host), {spines + leaf, numbered("p", host)}});
  }
  return plan;
}

FabricPlan fat_tree_plan(uint32_t radix, uint32_t hosts) {
  const uint32_t half = radix / 2, cores = half * half;
  FabricPlan plan;
  for (uint32_t core = 0; core < cores; ++core) plan.nodes.push_back(numbered("core", core));
  const auto aggregation = [&](uint32_t pod, uint32_t i) { return cores + pod * radix + i; };
  const auto edge = [&](uint32_t pod, uint32_t i) { return cores + pod * radix + half + i; };
  for (uint32_t pod = 0; pod < radix; ++pod) {
    for (uint32_t i = 0; i < half; ++i) plan.nodes.push_back(numbered("agg", pod, i));
    for (uint32_t i = 0; i < half; ++i) plan.nodes.push_back(numbered("edge", pod, i));
    for (uint32_t i = 0; i < half; ++i) {
      for (uint32_t j = 0; j < half; ++j) {
        plan.links.push_back({{{{edge(pod, i), numbered("u", j)}, {aggregation(pod, j), numbered("d", i)}}}});
        plan.links.push_back({{{{aggregation(pod, i), numbered("u", j)}, {i * half + j, numbered("p", pod)}}}});
      }
      for (uint32_t host = 0; host < hosts; ++host)
        plan.hosts.push_back({numbered("h", pod, i, host), {edge(pod, i), numbered("p", host)}});
    }
  }
  return plan;
}

FabricPlan dragonfly_plan(const DragonflySize& size) {
  FabricPlan plan;
  const auto router = [&](uint32_t group, uint32_t i) { return group * size.routers + i; };
  for (uint32_t group = 0; group < size.groups; ++group)
    for (uint32_t i = 0; i < size.routers; ++i) {
      plan.nodes.push_back(numbered("r", group, i));
      for (uint32_t host = 0; host < size.hosts; ++host)
        plan.hosts.push_back({numbered("h", group, i, host), {router(group, i), numbered("p", host)}});
    }
  for (uint32_t group = 0; group < size.groups; ++group)
    for (uint32_t i = 0; i < size.routers; ++i)
      for (uint32_t j = i + 1; j < size.routers; ++j)
        plan.links.push_back({{{{router(group, i), numbered("l", j)}, {router(group, j), numbered("l", i)}}}});
  // A group's links to the others are dealt out to its routers in the order of the groups.
  const auto end = [&](uint32_t group, uint32_t other) {
    const uint32_t number = other < group ? other : other - 1;
    return FabricPlan::End{router(group, number * size.routers / (size.groups - 1)), numbered("g", other)};
  };
  for (uint32_t group = 0; group < size.groups; ++group)
    for (uint32_t other = group + 1; other < size.groups; ++other)
      plan.links.push_back({{end(group, other), end(other, group)}, kGlobalCost});
  return plan;
}

FabricPlan lattice_plan(Lattice lattice, const std::vector<uint32_t>& dimensions, uint32_t hosts) {
  FabricPlan plan;
  uint32_t count = 1;
  for (const uint32_t size : dimensions) count *= size;
  for (uint32_t node = 0; node < count; ++node) {
    std::string numbers;
    uint32_t stride = count;  // between two switches that are beside each other in the dimension
    for (size_t dimension = 0; dimension < dimensions.size(); ++dimension) {
      const uint32_t size = dimensions[dimension];
      stride /= size;
      const uint32_t here = node / stride % size;
      const char* name = kDimensionNames[dimension];
      for (uint32_t there = here + 1; there < size; ++there)
        if (linked(lattice, here, there, size))
          plan.links.push_back(
              {{{{node, numbered(name, there)}, {node + (there - here) * stride, numbered(name, here)}}}});
      numbers += (dimension == 0 ? "" : "-") + std::to_string(here + 1);
    }
    plan.nodes.push_back("s" + numbers);
    for (uint32_t host = 0; host < hosts; ++host)
      plan.hosts.push_back({"h" + numbers + "-" + std::to_string(host + 1), {node, numbered("p", host)}});
  }
  return plan;
}

uint32_t lattice_degree(Lattice lattice, const std::vector<uint32_t>& dimensions) {
  uint32_t degree = 0;
  for (const uint32_t size : dimensions) degree += lattice == Lattice::hyperx ? size - 1 : std::min(size - 1, 2u);
  return degree;
}

}  // namespace heddle
