// SPDX-License-Identifier: Apache-2.0
#include "topology/max_flow.h"

#include <algorithm>
#include <limits>

namespace heddle {

void MaxFlow::add_link(uint32_t one, uint32_t other, double carries) {
  arcs_.push_back({other, first_[one], carries});
  first_[one] = static_cast<uint32_t>(arcs_.size() - 1);
  arcs_.push_back({one, first_[other], carries});
  first_[other] = static_cast<uint32_t>(arcs_.size() - 1);
}

// Dinic: as long as there is a way, as much as fits over the shortest ways.
double MaxFlow::between(uint32_t from, uint32_t to) {
  double flow = 0;
  while (find_levels(from, to)) {
    next_ = first_;
    while (const double more = push(from, to, std::numeric_limits<double>::infinity())) flow += more;
  }
  return flow;
}

bool MaxFlow::find_levels(uint32_t from, uint32_t to) {
  std::fill(level_.begin(), level_.end(), kNone);
  level_[from] = 0;
  std::vector<uint32_t> order{from};
  for (size_t at = 0; at < order.size(); ++at)
    for (uint32_t arc = first_[order[at]]; arc != kNone; arc = arcs_[arc].next) {
      if (arcs_[arc].left <= 0 || level_[arcs_[arc].to] != kNone) continue;
      level_[arcs_[arc].to] = level_[order[at]] + 1;
      order.push_back(arcs_[arc].to);
    }
  return level_[to] != kNone;
}

double MaxFlow::push(uint32_t node, uint32_t to, double most) {
  if (node == to) return most;
  for (uint32_t& arc = next_[node]; arc != kNone; arc = arcs_[arc].next) {
    if (arcs_[arc].left <= 0 || level_[arcs_[arc].to] != level_[node] + 1) continue;
    const double pushed = push(arcs_[arc].to, to, std::min(most, arcs_[arc].left));
    if (pushed <= 0) continue;
    arcs_[arc].left -= pushed;
    arcs_[arc ^ 1].left += pushed;
    return pushed;
  }
  return 0;
}

}  // namespace heddle
