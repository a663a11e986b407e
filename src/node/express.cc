// SPDX-License-Identifier: Apache-2.0
#include "node/express.h"

namespace heddle {

// Where others wait for an ID, who has one may have to leave it to them (K11).
void Express::look_at(Port& input, VoqIndex index) {
  Voq& queue = input.input.arbiter[index];
  Port* const there = ports_.find(queue.output);
  const bool open = there != nullptr && queue.ready() == 0 && input.input.ids[queue.output].wanting.empty() &&
                    StampingAtOnce::is_open(*there) && there->credits[kLossyChannel].cost(kBufferBytes) == 1;
  for (const bool lossless : {false, true}) {
    Port* const leads_to = open && queue.shares_credit == lossless ? there : nullptr;
    ways_[lossless][index] = {.look = look_, .there = leads_to, .queue = &queue};
  }
}

bool Express::stays(const InputFlow& flow) { return flow.flow_extent() != 0 || flow_ways_.surely_stays(flow); }

}  // namespace heddle
