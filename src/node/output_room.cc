// SPDX-License-Identifier: Apache-2.0
// Room in the outputs (X1): how many buffers of an input port may have crossed to a lane of an output. It comes back
// when its packets have left.
//
// Among inputs that wait for room at one lane, it follows the flows that wait there (X3, A10): what stands in the
// output's queue leaves in the order it came, so whoever has half the room there has half the port. The input with most
// flows keeps all its room, or the half of it where frames cross at once, one with a quarter of its flows a quarter of
// it: what it returns above that is kept back.
#include <algorithm>
#include <bit>

#include "node/worker.h"

namespace heddle {

void Worker::send_returns() {
  for (Port* port : own_ports_) {
    OutputSide& output = port->output;
    for (PortSet rest = output.returns_due; rest != 0; rest &= rest - 1) {
      const auto input = static_cast<PortIndex>(std::countr_zero(rest));
      bool all = output.orphans[input] == 0 || send_orphans(*port, input);
      for (uint32_t lane = 0; lane < lanes_.count(); ++lane) all &= send_returns_of(*port, input, lane);
      if (all)
        output.returns_due &= ~(PortSet{1} << input);
      else
        result_.busy = true;  // a ring is full: the rest next turn
    }
  }
}

// False if the ring to the input's worker is full.
bool Worker::send_returns_of(Port& output, PortIndex input, uint32_t lane) {
  Returns& returns = output.output.returns[voq_index(input, lane)];
  if (!returns.any()) return true;
  Returns given = returns;
  if (output.output.most_room_waiters[lane] != 0) given.room -= std::min(given.room, room_to_keep(output, input, lane));
  if (!given.any()) return true;
  if (is_own(input)) {
    apply_returns(own(input), output.index, lane, given);
  } else {
    Message message{.kind = MessageKind::returns};
    message.input = input;
    message.output = output.index;
    message.flow = static_cast<FlowId>(lane);
    message.value = given.room;
    message.value2 = given.held;
    message.value64 = uint64_t{given.delivered} << 32 | given.copies;
    if (!send(worker_of_port_[input], message)) return false;
  }
  returns = {.room = returns.room - given.room};
  return true;
}

// Of what an input returns to a lane while others wait there: nothing when the lane's queue has run empty, for then it
// is not room that is short. An input that does not wait counts as one flow, for with all its room one flow would never
// have to. An eighth is everybody's, for floods that wait nowhere, and two of the largest frames can always cross.
uint32_t Worker::room_to_keep(const Port& output, PortIndex input, uint32_t lane) const {
  if ((output.output.queued_lanes >> lane & 1) == 0) return 0;
  const uint64_t waiters = std::max<uint32_t>(1, output.output.room_waiters[voq_index(input, lane)]);
  const bool at_once = !is_own(input) && (edge_ports_ >> input & 1) && (edge_ports_ >> output.index & 1) &&
                       !lanes_.lossless(lanes_.ftag(lane));
  const uint64_t all = output_room(settings_, at_once), full = settings_.output_room_buffers;
  const uint64_t share =
      std::max({full * waiters / output.output.most_room_waiters[lane], full / 8, 2 * frame_buffers_});
  return static_cast<uint32_t>(all - std::min(all, share));
}

bool Worker::send_orphans(Port& output, PortIndex input) {
  uint32_t& orphans = output.output.orphans[input];
  Message message{.kind = MessageKind::orphans};
  message.input = input;
  message.value = orphans;
  if (is_own(input))
    take(message, now_);
  else if (!send(worker_of_port_[input], message))
    return false;
  orphans = 0;
  return true;
}

void Worker::apply_returns(Port& input, PortIndex output, uint32_t lane, const Returns& returns) {
  Voq& voq = input.input.voqs[voq_index(output, lane)];
  voq.room = static_cast<uint16_t>(voq.room + returns.room);
  copies_out_ -= returns.copies;
  input.counters.acknowledged_bytes += returns.delivered;
  if (input.is_fabric()) input.credits[voq.came_in].released(returns.held);
  if (!voq.room_blocked || returns.room == 0) return;
  voq.room_blocked = false;
  activate(input, voq_index(output, lane));
}

// A virtual output queue has no room for its next packet: returns wake it.
void Worker::wait_for_room(Port& input, Voq& voq) {
  voq.room_blocked = true;
  input.counters.count(ProtocolEvent::room_blocked);
  tell_waiting(input, voq, std::min(0xffffu, voq.ready.count + static_cast<uint32_t>(std::popcount(voq.fifos))));
}

// The output hears how many flows wait there for room, unless it knows that well enough.
void Worker::tell_waiting(Port& input, Voq& voq, uint32_t flows) {
  const uint32_t told = voq.told_waiters, change = std::max(flows, told) - std::min(flows, told);
  if (change == 0 || (flows != 0 && 8 * change < told)) return;
  if (is_own(voq.output)) {
    on_waiting(own(voq.output), input.index, voq.lane, flows);
  } else {
    Message message{.kind = MessageKind::room_waiters};
    message.input = input.index;
    message.output = voq.output;
    message.flow = voq.lane;
    message.value = flows;
    // The ring is full: said again next turn.
    if (!send(worker_of_port_[voq.output], message)) return activate(input, voq_index(voq.output, voq.lane));
  }
  voq.told_waiters = static_cast<uint16_t>(flows);
}

// What is kept of the others' room may be less now.
void Worker::on_waiting(Port& output, PortIndex input, uint32_t lane, uint32_t flows) {
  OutputSide& side = output.output;
  side.room_waiters[voq_index(input, lane)] = flows;
  uint32_t most = 0;
  for (PortIndex other = 0; other < port_count_; ++other) {
    most = std::max(most, side.room_waiters[voq_index(other, lane)]);
    if (side.returns[voq_index(other, lane)].any()) side.returns_due |= PortSet{1} << other;
  }
  side.most_room_waiters[lane] = most;
}

}  // namespace heddle
