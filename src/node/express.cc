// SPDX-License-Identifier: Apache-2.0
#include "node/express.h"

namespace heddle {

bool Express::take(const Port& input, const InputFlow& flow, Packet* packet, Nanos now) {
  Port* const there = ports_.find(flow.branch.output);
  if (there == nullptr || !is_open(*there)) return false;
  OutputSide& output = there->output;
  OutputFlow& entry = output.flows[packet->output_flow];
  if ((entry.flags & kOutputEnded) || output.pending_packets == kBurst) return false;
  const Nanos left = input.is_fabric() ? life_left(*packet, now) : packet->dies_ns;  // K8: from here on
  if (left < HEDDLE_LIFE_UNIT_NS) return false;
  LinkCredits& credits = there->credits[kLossyChannel];
  const uint32_t cost = credits.cost(HEDDLE_DATA_OVERHEAD_BYTES + packet->payload);
  if (!credits.may_send(cost)) return false;
  Settlement::congestion_known(entry, flow.congestion);
  Stamp stamp = Stamping::common(*there, kLossyChannel, false);
  stamp.sequence = ++output.sequence;
  stamp.life_units = life_units(left);
  if (!input.is_fabric()) begin_life(*packet, now);
  stamping_.stamp(*there, *packet, stamp, now);
  credits.sent(cost, false, now);
  output.pending[output.pending_packets++] = packet;
  there->counters.count(ProtocolEvent::stamped_at_once);
  return true;
}

bool Express::is_open(const Port& there) {
  const OutputSide& output = there.output;
  return (output.scheduler.lanes() | output.refused_packets) == 0 && there.session.up() &&
         !output.scheduler.has_rate() && there.retry.again() == nullptr;
}

}  // namespace heddle
