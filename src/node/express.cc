// SPDX-License-Identifier: Apache-2.0
#include "node/express.h"

namespace heddle {

// Of a lossless channel all count that wait at an output (R5, C8), and link retry keeps a copy of each (K6). Where
// others wait for an ID, who has one may have to leave it to them (K11).
void Express::look_at(Port& input, VoqIndex index) {
  Voq& queue = input.input.arbiter[index];
  Port* const there = ports_.find(queue.output);
  const bool open = there != nullptr && !queue.shares_credit && queue.ready() == 0 &&
                    input.input.ids[queue.output].wanting.empty() && StampingAtOnce::is_open(*there) &&
                    there->credits[kLossyChannel].cost(kBufferBytes) == 1;
  ways_[index] = {.look = look_, .there = open ? there : nullptr, .queue = &queue};
}

bool Express::stays(const InputFlow& flow) { return flow.flow_extent() != 0 || flow_ways_.surely_stays(flow); }

}  // namespace heddle
