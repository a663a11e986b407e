// SPDX-License-Identifier: Apache-2.0
#include "flow/output_flow.h"

#include <algorithm>

namespace heddle {

OutputFlowTable::OutputFlowTable(uint32_t flow_ids, uint32_t inputs)
    : flows_(flow_ids + 1),
      used_by_(inputs),
      guaranteed_(std::max(1u, flow_ids / (2 * std::max(1u, inputs - 1)))),
      unused_guarantees_(guaranteed_ * (inputs - 1)) {
  for (uint32_t id = 1; id <= flow_ids; ++id)
    flows_[id].next_free = id == flow_ids ? kNoFlow : static_cast<FlowId>(id + 1);
  free_head_ = 1;
  free_tail_ = static_cast<FlowId>(flow_ids);
}

FlowId OutputFlowTable::reserve(PortIndex input, Epoch epoch, FlowId flow) {
  if (free_head_ == kNoFlow) return kNoFlow;
  const bool guaranteed = used_by_[input] < guaranteed_;
  if (!guaranteed && size() - used_ <= unused_guarantees_) return kNoFlow;
  if (guaranteed) --unused_guarantees_;
  const FlowId id = free_head_;
  OutputFlow& entry = flows_[id];
  free_head_ = entry.next_free;
  if (free_head_ == kNoFlow) free_tail_ = kNoFlow;
  ++used_by_[input];
  ++used_;
  entry.state = OutputFlowState::reserved;
  entry.input_port = input;
  entry.input_epoch = epoch;
  entry.input_flow = flow;
  entry.flags &= kOutputTimed;
  entry.backoff = 0;
  return id;
}

void OutputFlowTable::free(FlowId id) {
  OutputFlow& entry = flows_[id];
  if (used_by_[entry.input_port] <= guaranteed_) ++unused_guarantees_;
  --used_by_[entry.input_port];
  --used_;
  entry.state = OutputFlowState::free;
  entry.next_free = kNoFlow;
  if (free_head_ == kNoFlow)
    free_head_ = id;
  else
    flows_[free_tail_].next_free = id;
  free_tail_ = id;
}

}  // namespace heddle
