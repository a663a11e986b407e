// SPDX-License-Identifier: Apache-2.0
// Fabrics that a few numbers describe (R11): names of their switches, links and hosts, in an order that depends on the
// numbers alone. Who reads a file makes the topology out of it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

struct FabricPlan {
  struct End {
    uint32_t node;  // position in `nodes`
    std::string port;
  };
  struct Host {
    std::string name;
    End end;
  };
  struct Link {
    std::array<End, 2> ends;
    uint8_t cost = 1;
  };
  std::vector<std::string> nodes;
  std::vector<Link> links;
  std::vector<Host> hosts;
};

// leaf1 ..., each linked to all of spine1 ...; hosts h1-1 (the first on leaf1) and so on, at ports p1 ...
FabricPlan leaf_spine_plan(uint32_t leaves, uint32_t spines, uint32_t hosts);

// Of switches with `radix` ports, an even number: as many pods, each of half as many edge switches (edge1-1 ...) that
// are linked to all of half as many aggregation switches (agg1-1 ...). The n-th of each pod is linked to its own half
// as many of the cores core1 ...; `hosts` on each edge switch, h1-1-1 (pod, edge switch, host) and so on.
FabricPlan fat_tree_plan(uint32_t radix, uint32_t hosts);

// Groups of `routers` (r1-1 ...), each linked to all others of its group, and of each two groups one router to one of
// the other: each router has at most `globals` such links, which for groups = routers * globals + 1 all are used.
// `hosts` on each router, h1-1-1 (group, router, host) and so on.
struct DragonflySize {
  uint32_t groups, routers, globals, hosts;
};
FabricPlan dragonfly_plan(const DragonflySize& size);

// At each point of a lattice of up to four dimensions one switch: s1-1 ..., a number for each dimension. In each
// dimension it is linked to those beside it (mesh), also around the end (torus), or to all others in that line
// (HyperX); the port to the third in the first dimension is x3, and further y, z, w. `hosts` on each switch, h1-1-1
// (its numbers, host) and so on.
enum class Lattice : uint8_t { mesh, torus, hyperx };
constexpr uint32_t kDimensionsMax = 4;
FabricPlan lattice_plan(Lattice lattice, const std::vector<uint32_t>& dimensions, uint32_t hosts);
// The most links that a switch of it has to others.
uint32_t lattice_degree(Lattice lattice, const std::vector<uint32_t>& dimensions);

}  // namespace heddle
