// SPDX-License-Identifier: Apache-2.0
#include "node/express.h"

namespace heddle {

bool Express::take(const Port& input, const InputFlow& flow, Packet* packet, Nanos now) {
  Port* const there = ports_.find(flow.branch.output);
  if (there == nullptr || !may_take(*there, packet->output_flow, packet->payload)) return false;
  OutputSide& output = there->output;
  OutputFlow& entry = output.flows[packet->output_flow];
  const Nanos left = input.is_fabric() ? life_left(*packet, now) : packet->dies_ns;  // K8: from here on
  if (!Stamping::lives(left)) return false;
  LinkCredits& credits = there->credits[kLossyChannel];
  const uint32_t cost = Stamping::cost(credits, packet->payload);
  Settlement::congestion_known(entry, flow.congestion);
  Stamp stamp = Stamping::common(*there, kLossyChannel, false);
  Stamping::number(*there, stamp, left, false);
  if (!input.is_fabric()) begin_life(*packet, now);
  stamping_.stamp(*there, *packet, stamp, now);
  credits.sent(cost, false, now);
  output.stamped[output.stamped_packets++] = packet;
  there->counters.count(ProtocolEvent::stamped_at_once);
  return true;
}

}  // namespace heddle
