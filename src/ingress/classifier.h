// SPDX-License-Identifier: Apache-2.0
// Traffic class of a host's frame at an edge port (E2): by DSCP, then by PCP, as the topology file says, and of an
// untagged frame whose DSCP is no class's the port's default. A class that is not for the port's hosts is not given to
// them: such a frame is of the default class, too. A value, one per edge port.
#pragma once

#include <array>
#include <vector>

#include "topology/topology.h"
#include "wire/ethernet.h"

namespace heddle {

class Classifier {
 public:
  // What of the class is asked of each frame.
  struct Choice {
    Nanos life_ns = 0;  // 0: no class at all
    uint8_t ftag = 0;
    uint8_t match = 0;     // MatchField bits
    bool refused = false;  // the frame named another one, which is not for the port's hosts
  };

  Classifier() = default;  // for a port that has no hosts
  // There is at least one class.
  Classifier(const std::vector<TrafficClass>& classes, const TopologyPort& port) {
    const size_t usual = usual_class(classes, port);
    const auto choice = [&](size_t position) {
      const bool allowed = port.allowed_classes >> position & 1;
      const TrafficClass& is = classes[allowed ? position : usual];
      return Choice{.life_ns = is.life_ns, .ftag = is.ftag, .match = is.match, .refused = !allowed};
    };
    unnamed_ = choice(usual);
    by_pcp_.fill(choice(0));
    for (size_t position = classes.size(); position-- > 0;) {
      for (unsigned dscp = 0; dscp < 64; ++dscp)
        if (classes[position].dscp_set >> dscp & 1) by_dscp_[dscp] = choice(position);
      for (unsigned pcp = 0; pcp < 8; ++pcp)
        if (classes[position].pcp_set >> pcp & 1) by_pcp_[pcp] = choice(position);
    }
    for (unsigned dscp = 0; dscp < 64; ++dscp)
      untagged_ip_[dscp] = by_dscp_[dscp].life_ns == 0 ? unnamed_ : by_dscp_[dscp];
  }

  const Choice& classify(const EdgeHeaders& headers) const {
    if (headers.l3 != 0 && by_dscp_[headers.dscp & 63].life_ns != 0) return by_dscp_[headers.dscp & 63];
    return headers.tagged ? by_pcp_[headers.tci >> 13] : unnamed_;
  }
  const Choice& of_untagged_ip(uint8_t dscp) const { return untagged_ip_[dscp & 63]; }

 private:
  std::array<Choice, 64> untagged_ip_;
  std::array<Choice, 64> by_dscp_;  // of none: PCP says
  std::array<Choice, 8> by_pcp_;
  Choice unnamed_;
};

}  // namespace heddle
