// SPDX-License-Identifier: Apache-2.0
// Traffic class of an edge frame (E2): by DSCP, then by PCP, as the topology file says; the first class otherwise.
#pragma once

#include <array>
#include <vector>

#include "topology/topology.h"
#include "wire/ethernet.h"

namespace heddle {

class Classifier {
 public:
  // `classes` outlive it; there is at least one.
  explicit Classifier(const std::vector<TrafficClass>& classes) {
    by_dscp_.fill(nullptr);
    for (const TrafficClass& traffic_class : classes)
      for (unsigned dscp = 0; dscp < 64; ++dscp)
        if (traffic_class.dscp_set >> dscp & 1) by_dscp_[dscp] = &traffic_class;
    by_pcp_.fill(&classes.front());
    for (auto traffic_class = classes.rbegin(); traffic_class != classes.rend(); ++traffic_class)
      for (unsigned pcp = 0; pcp < 8; ++pcp)
        if (traffic_class->pcp_set >> pcp & 1) by_pcp_[pcp] = &*traffic_class;
    for (unsigned dscp = 0; dscp < 64; ++dscp)
      untagged_[dscp] = by_dscp_[dscp] == nullptr ? by_pcp_[0] : by_dscp_[dscp];
  }

  const TrafficClass& classify(const EdgeHeaders& headers) const {
    const TrafficClass* by_dscp = headers.l3 != 0 ? by_dscp_[headers.dscp & 63] : nullptr;
    return by_dscp != nullptr ? *by_dscp : *by_pcp_[headers.tagged ? headers.tci >> 13 : 0];
  }
  const TrafficClass& of_untagged_ip(uint8_t dscp) const { return *untagged_[dscp & 63]; }

 private:
  std::array<const TrafficClass*, 64> by_dscp_;  // nullptr: PCP says
  std::array<const TrafficClass*, 64> untagged_;
  std::array<const TrafficClass*, 8> by_pcp_;
};

}  // namespace heddle
