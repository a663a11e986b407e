// SPDX-License-Identifier: Apache-2.0
// Traffic class of an edge frame (E2): by DSCP, then by PCP, as the topology file says; the first class otherwise.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "topology/topology.h"
#include "wire/ethernet.h"

namespace heddle {

class Classifier {
 public:
  explicit Classifier(const std::vector<TrafficClass>& classes) : classes_(classes) {
    by_dscp_.fill(kByPcp);
    by_ftag_.fill(0);
    for (uint8_t index = 0; index < classes.size(); ++index) {
      by_ftag_[classes[index].ftag & 15] = index;
      longest_life_ns_ = std::max(longest_life_ns_, classes[index].life_ns);
      for (unsigned dscp = 0; dscp < 64; ++dscp)
        if (classes[index].dscp_set >> dscp & 1) by_dscp_[dscp] = index;
    }
    by_pcp_.fill(0);
    for (auto index = static_cast<int>(classes.size()) - 1; index >= 0; --index)
      for (unsigned pcp = 0; pcp < 8; ++pcp)
        if (classes[index].pcp_set >> pcp & 1) by_pcp_[pcp] = static_cast<uint8_t>(index);
    for (unsigned dscp = 0; dscp < 64; ++dscp) untagged_[dscp] = by_dscp_[dscp] == kByPcp ? by_pcp_[0] : by_dscp_[dscp];
  }

  const TrafficClass& classify(const EdgeHeaders& headers) const {
    uint8_t index = headers.l3 != 0 ? by_dscp_[headers.dscp & 63] : kByPcp;
    if (index == kByPcp) index = by_pcp_[headers.tagged ? headers.tci >> 13 : 0];
    return classes_[index];
  }
  const TrafficClass& of_untagged_ip(uint8_t dscp) const { return classes_[untagged_[dscp & 63]]; }
  // Of a frame that came over the fabric, whose class the worker has found to be there (K3).
  const TrafficClass& of_ftag(uint8_t ftag) const { return classes_[by_ftag_[ftag & 15]]; }
  // After this long no frame of any class is left in the fabric (K8).
  Nanos longest_life_ns() const { return longest_life_ns_; }

 private:
  static constexpr uint8_t kByPcp = 0xff;
  std::vector<TrafficClass> classes_;
  Nanos longest_life_ns_ = 0;
  std::array<uint8_t, 64> by_dscp_;
  std::array<uint8_t, 64> untagged_;
  std::array<uint8_t, 8> by_pcp_;
  std::array<uint8_t, 16> by_ftag_;
};

}  // namespace heddle
