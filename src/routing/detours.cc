// SPDX-License-Identifier: Apache-2.0
#include "routing/detours.h"

#include "topology/longer_ways.h"

namespace heddle {

uint16_t Detours::draw(uint16_t destination, Random& random, Nanos now) const {
  constexpr int kTries = 8;
  const uint16_t to = index_.node(destination);
  const std::vector<uint16_t>* const to_self = distances_.to(self_, now);
  const std::vector<uint16_t>* const to_there = distances_.to(to, now);
  if (to_self == nullptr || to_there == nullptr) return 0;
  const LongerWay way{self_, to, *to_self, *to_there};
  for (int tries = 0; tries < kTries; ++tries) {
    const auto via = static_cast<uint16_t>(random.below(topology_.nodes.size()));
    if (leads_by(topology_, distances_.ports_up(), way, via, topology_.longer_way_cost_most))
      return topology_.nodes[via].address;
  }
  return 0;
}

bool Detours::may_pass(uint16_t destination, uint16_t via, uint16_t node, Nanos now) const {
  const uint16_t at = index_.node(node), by = index_.node(via), to = index_.node(destination);
  const std::vector<uint16_t>* const to_at = distances_.to(at, now);
  const std::vector<uint16_t>* const to_by = distances_.to(by, now);
  if (to_at == nullptr || to_by == nullptr) return true;
  const auto passes = [&](uint16_t end) { return uint32_t{(*to_at)[end]} + (*to_by)[at] == (*to_by)[end]; };
  return passes(self_) || passes(to);
}

}  // namespace heddle
