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
  bool operator==(const ShaperPolicy&) const = default;
};

// Of a node, by port; empty if no port has one.
using PortShapers = std::vector<ShaperPolicy>;

}  // namespace heddle
