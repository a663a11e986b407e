// SPDX-License-Identifier: Apache-2.0
#include "flow/output_flow.h"

#include <algorithm>

namespace heddle {

OutputFlowTable::OutputFlowTable(uint32_t flow_ids, uint32_t inputs)
    : flows_(flow_ids + 1), timer_links_(flow_ids + 1), resting_(flow_ids), size_(flow_ids), left_(inputs) {
  const uint32_t share = std::max(1u, flow_ids / (2 * std::max(1u, inputs - 1)));
  std::fill(left_.begin(), left_.end(), static_cast<int32_t>(share));
  shared_ = flow_ids - std::min(flow_ids, share * (inputs - 1));
  free_ = kNoFlow;
  for (uint32_t id = flow_ids; id > 0; --id) {
    flows_[id].next_free = free_;
    free_ = FlowId::of(id);
  }
}

}  // namespace heddle
