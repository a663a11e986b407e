// SPDX-License-Identifier: Apache-2.0
// The most that can flow from one set of nodes to another at once, over links that carry so much in each direction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heddle {

class MaxFlow {
 public:
  explicit MaxFlow(size_t nodes) : first_(nodes, kNone), level_(nodes), next_(nodes) {}

  // The same in both directions.
  void add_link(uint32_t one, uint32_t other, double carries);
  double between(uint32_t from, uint32_t to);

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Arc {
    uint32_t to, next;  // arc of the same node
    double left;        // that it can carry; its way back is the arc beside it
  };
  bool find_levels(uint32_t from, uint32_t to);
  double push(uint32_t node, uint32_t to, double most);

  std::vector<Arc> arcs_;
  std::vector<uint32_t> first_, level_, next_;
};

}  // namespace heddle
