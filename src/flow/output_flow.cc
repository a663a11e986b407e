// SPDX-License-Identifier: Apache-2.0
#include "flow/output_flow.h"

#include <cassert>

namespace heddle {

OutputFlowTable::OutputFlowTable(uint32_t flow_ids, const std::vector<ChannelSet>& inputs)
    : flows_(flow_ids + 1),
      timer_links_(flow_ids + 1),
      resting_(flow_ids),
      size_(flow_ids),
      shares_(inputs.size()),
      shared_(flow_ids) {
  uint32_t others = 0;
  for (size_t input = 0; input < inputs.size(); ++input) {
    others += inputs[input] != 0;
    for (uint8_t channel = 0; channel < kVirtualChannels; ++channel) {
      const bool kept = inputs[input] >> channel & 1;
      shares_[input].held[channel] = !kept;
      assert(!kept || shared_ != 0);
      shared_ -= kept;
    }
  }
  const uint32_t part = others == 0 ? 0 : shared_ / (2 * others);
  for (size_t input = 0; input < inputs.size(); ++input)
    if (inputs[input] != 0) shares_[input].left = static_cast<int32_t>(part);
  shared_ -= others * part;
  free_ = kNoFlow;
  for (uint32_t id = flow_ids; id > 0; --id) {
    flows_[id].next_free = free_;
    free_ = FlowId::of(id);
  }
}

}  // namespace heddle
