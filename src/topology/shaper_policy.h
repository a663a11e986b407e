// SPDX-License-Identifier: Apache-2.0
// What the traffic classes have of a port that frames leave by (X4): at least, at most, and who comes first. A node's
// own, as its applications are: no part of the topology. Plain values, read from a file; a node that runs can be given
// others.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "topology/topology.h"

namespace heddle {

constexpr size_t kBranchesMax = 4;
constexpr uint8_t kNoBranch = 0xff;
constexpr uint8_t kShaperPriorityMax = 7;
constexpr uint8_t kShaperWeightMax = 100;

struct ShaperPolicy {
  struct Bandwidth {
    uint64_t minimum_bps = 0;  // 0: nothing is guaranteed
    uint64_t maximum_bps = 0;  // 0: as much as there is
    uint8_t priority = 0;      // among those whose minimum is not used up; the highest goes first

    bool operator==(const Bandwidth&) const = default;
  };
  struct Leaf {  // a class
    Bandwidth bandwidth;
    uint8_t weight = 1;  // among equals
    uint8_t branch = kNoBranch;

    bool operator==(const Leaf&) const = default;
  };
  struct Branch {  // some classes together
    std::string name;
    Bandwidth bandwidth;

    bool operator==(const Branch&) const = default;
  };

  bool configured = false;               // else all classes share the port alike
  uint64_t maximum_bps = 0;              // of the port; 0: its rate
  std::array<Leaf, kClassesMax> leaves;  // by position of the class in the topology
  std::vector<Branch> branches;          // kBranchesMax at most

  uint32_t least_weight(size_t classes) const {
    uint32_t least = kShaperWeightMax;
    for (size_t position = 0; position < classes; ++position)
      least = std::min<uint32_t>(least, leaves[position].weight);
    return least;
  }
  // What the class at that position may have of a port of that rate.
  uint64_t most_bps(size_t position, uint64_t port_bps) const {
    const auto within = [](uint64_t own_bps, uint64_t above_bps) {
      return own_bps != 0 ? std::min(own_bps, above_bps) : above_bps;
    };
    const Leaf& leaf = leaves[position];
    const uint64_t of_branch = leaf.branch != kNoBranch ? branches[leaf.branch].bandwidth.maximum_bps : 0;
    return within(leaf.bandwidth.maximum_bps, within(of_branch, within(maximum_bps, port_bps)));
  }
  // The part of a port of that rate, 1 at most, that the class at that position has whatever others send: its minimum,
  // and by its weight of what no class has for a minimum, but not more than its maximum. A branch's minimum is of
  // whichever of its classes wants it. `port_bps` 0: it has no rate, and so no policy.
  double least_part(size_t position, size_t classes, uint64_t port_bps) const {
    const auto part = [port_bps](uint64_t bps) {
      return port_bps == 0 ? 0 : static_cast<double>(bps) / static_cast<double>(port_bps);
    };
    double rest = maximum_bps == 0 || port_bps == 0 ? 1 : std::min(1.0, part(maximum_bps));
    uint32_t weights = 0;
    for (size_t other = 0; other < classes; ++other) {
      rest -= part(leaves[other].bandwidth.minimum_bps);
      weights += leaves[other].weight;
    }
    const Leaf& leaf = leaves[position];
    const double least = part(leaf.bandwidth.minimum_bps) + std::max(0.0, rest) * leaf.weight / weights;
    return std::min({1.0, least, port_bps == 0 ? 1.0 : part(most_bps(position, port_bps))});
  }
  bool operator==(const ShaperPolicy&) const = default;
};

// Of a node, by port; empty if no port has one.
using PortShapers = std::vector<ShaperPolicy>;

}  // namespace heddle
