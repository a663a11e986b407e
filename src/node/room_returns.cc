// SPDX-License-Identifier: Apache-2.0
#include "node/room_returns.h"

#include <algorithm>
#include <bit>

namespace heddle {

void RoomReturns::send() {
  for (Port* port : ports_) {
    OutputRoom& room = port->output.room;
    for (PortSet rest = room.due(); rest != 0; rest &= rest - 1) {
      const auto input = PortIndex::of(std::countr_zero(rest));
      bool all = room.orphans(input) == 0 || send_orphans(*port, input);
      for (LaneIndex lane = 0; lane < site_.lanes.count(); ++lane) all &= send_returns_of(*port, input, lane);
      if (all)
        room.nothing_due(input);
      else
        turn_.stay_busy();  // a ring is full: the rest next turn
    }
  }
}

void RoomReturns::apply(Port& input, PortIndex output, LaneIndex lane, const Returns& returns) {
  Voq& voq = input.input.arbiter[site_.voq_index(output, lane)];
  voq.room = static_cast<uint16_t>(voq.room + returns.room);
  voq.copy_room = static_cast<uint16_t>(voq.copy_room + returns.copy_room);
  copies_out_ -= returns.copies;
  input.counters.acknowledged_bytes += returns.delivered;
  if (input.is_fabric()) input.credits[voq.came_in].released(returns.held);
  if (!voq.room_blocked || returns.room == 0) return;
  voq.room_blocked = false;
  input.input.arbiter.wake(site_.voq_index(output, lane));
}

void RoomReturns::wait(Port& input, Voq& voq) {
  voq.room_blocked = true;
  input.counters.count(ProtocolEvent::room_blocked);
  tell_waiting(input, voq, std::min(0xffffu, voq.waiting()));
}

void RoomReturns::tell_waiting(Port& input, Voq& voq, uint32_t flows) {
  const uint32_t told = voq.told_waiters, change = std::max(flows, told) - std::min(flows, told);
  const bool own = ports_.is_own(voq.output);
  // What another worker's output does not know is another input's gain: more is told sooner than fewer.
  const bool known_well = flows != 0 && (flows > told ? 16 : 8) * change < told;
  if (change == 0 || (!own && known_well)) return;
  if (own)
    on_wait(ports_.own(voq.output), input.index, voq.lane, flows);
  else if (!outbox_.send(voq.output, WaitForRoom{voq.output, input.index, voq.lane, flows}))
    return input.input.arbiter.wake(site_.voq_index(voq.output, voq.lane));  // the ring is full: said again next turn
  voq.told_waiters = static_cast<uint16_t>(flows);
}

void RoomReturns::on_wait(Port& output, PortIndex input, LaneIndex lane, uint32_t flows) {
  output.output.scheduler.set_waiting(input, lane, flows);
  output.output.room.look_again(lane);
}

// False if the ring to the input's worker is full.
bool RoomReturns::send_returns_of(Port& output, PortIndex input, LaneIndex lane) {
  OutputRoom& room = output.output.room;
  Returns given = room.returns(input, lane);
  if (!given.any()) return true;
  if (output.output.scheduler.most_waiting(lane) != 0) keep_some(output, input, lane, given);
  if (!given.any()) return true;
  if (ports_.is_own(input))
    apply(ports_.own(input), output.index, lane, given);
  else if (!outbox_.send(input, GiveReturns{input, output.index, lane, given}))
    return false;
  room.given(input, lane, given);
  return true;
}

// Of what an input returns to a lane while others wait there (X3): nothing when the lane's queue has run empty, for
// then it is not room that is short; else what is above its share, by the flows that wait, of what the input with most
// of them has. Whoever has a small share of the port would have its frames stand there for long. One that does not wait
// counts as one flow, and two of the largest frames can always cross. Of room for copies as much is kept, if they would
// stand there before frames of its flows.
void RoomReturns::keep_some(const Port& output, PortIndex input, LaneIndex lane, Returns& given) const {
  const OutputScheduler& scheduler = output.output.scheduler;
  if (scheduler.inputs(lane) == 0) return;
  const bool at_once =
      !ports_.is_own(input) && crosses_at_once(site_.ports()[input], site_.ports()[output.index],
                                               site_.classes.of(site_.lanes.ftag(lane)), site_.lanes.channel(lane));
  const uint64_t flows = std::max(1u, scheduler.waiting(input, lane));
  const uint64_t share =
      std::max(site_.settings.output_room_buffers * flows / scheduler.most_waiting(lane), 2 * site_.frame_buffers);
  const auto keep = [share](uint32_t& room, uint64_t all) {
    room -= static_cast<uint32_t>(std::min<uint64_t>(room, all - std::min(all, share)));
  };
  keep(given.room, crossing_room(site_.settings, at_once));
  if (scheduler.waiting(input, lane) != 0) keep(given.copy_room, copy_room(site_.settings));
}

bool RoomReturns::send_orphans(Port& output, PortIndex input) {
  const OrphansFreed freed{input, output.output.room.orphans(input)};
  if (ports_.is_own(input))
    orphans_.freed(ports_.own(input), freed.count);
  else if (!outbox_.send(input, freed))
    return false;
  output.output.room.orphans_told(input);
  return true;
}

}  // namespace heddle
