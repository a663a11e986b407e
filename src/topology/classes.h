// SPDX-License-Identifier: Apache-2.0
// The classes of a topology by their FTAG, as frames carry it.
#pragma once

#include <algorithm>
#include <array>

#include "topology/topology.h"

namespace heddle {

class ClassTable {
 public:
  // `topology` outlives it.
  explicit ClassTable(const Topology& topology) {
    by_ftag_.fill(&topology.classes.front());
    for (const TrafficClass& traffic_class : topology.classes) {
      by_ftag_[traffic_class.ftag & (kClassesMax - 1)] = &traffic_class;
      longest_life_ns_ = std::max(longest_life_ns_, traffic_class.life_ns);
    }
  }
  // An FTAG that no class has, which no frame gets that far with (K13), has the first one.
  const TrafficClass& of(uint8_t ftag) const { return *by_ftag_[ftag & (kClassesMax - 1)]; }
  // After this long no frame of any class is left in the fabric (K8).
  Nanos longest_life_ns() const { return longest_life_ns_; }

 private:
  static_assert((kClassesMax & (kClassesMax - 1)) == 0);
  std::array<const TrafficClass*, kClassesMax> by_ftag_;
  Nanos longest_life_ns_ = 0;
};

}  // namespace heddle
