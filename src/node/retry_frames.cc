// SPDX-License-Identifier: Apache-2.0
#include "node/retry_frames.h"

#include "wire/fabric_frame.h"

namespace heddle {

Packet* RetryFrames::replica_for(Port& port, Packet* packet) {
  if (port.retry.may_stamp()) return second_of(port, packet);
  if (port.retry.full()) port.counters.count(ProtocolEvent::retry_full);
  return nullptr;
}

void RetryFrames::keep(Port& port, const Packet& packet, Packet* replica, Nanos now) {
  if (replica != &packet) copy_frame(*replica, packet);
  ++port.counters.copied_frames;
  port.retry.keep(replica, now);
}

uint32_t RetryFrames::send_again(Port& port, Packet** burst, uint32_t count, uint32_t room, Nanos now) {
  OutputScheduler& scheduler = port.output.scheduler;
  while (count < room && port.retry.again() != nullptr && scheduler.may_send(now)) {
    Packet* kept = port.retry.again();
    Packet* packet = second_of(port, kept);
    if (packet == nullptr) break;
    kept->input.port = kNoPort;
    if (packet != kept) copy_frame(*packet, *kept);
    restamp_again(*packet, life_units(life_left(*kept, now)));
    port.retry.sent_again();
    ++port.counters.copied_frames;
    port.counters.count(ProtocolEvent::sent_again);
    scheduler.sent(*packet, now);
    burst[count++] = packet;
  }
  return count;
}

void RetryFrames::send_records(Port& port, Nanos now) {
  const bool report = port.retry.report_due(now), ask = port.retry.ask_due(now);
  if (!report && !ask) return;
  Packet* packet = control_.make(port);
  if (packet == nullptr) return;  // both stay due
  start_records(*packet, HEDDLE_RETRY);
  if (report) {
    const RetryRecord record = port.retry.report();
    append_record(*packet, record);
    port.counters.count(record.flags & HEDDLE_RETRY_MISSING ? ProtocolEvent::retry_missed
                                                            : ProtocolEvent::retry_reported);
  }
  if (ask) {
    append_record(*packet, port.retry.ask(now));
    port.counters.count(ProtocolEvent::retry_asked);
  }
  control_.queue(port, packet);
}

void RetryFrames::let_go(Port& port, PacketQueue kept) {
  while (!kept.empty()) {
    ++port.counters.consumed_frames;
    turn_.discard(kept.pop());
  }
}

// One to send and one to keep: the packet itself with one more owner, or a fresh one to copy it into. nullptr: none
// now.
Packet* RetryFrames::second_of(Port& port, Packet* packet) {
  if (!port.device->passes_packets() && pool_.add_owner(packet)) return packet;
  Packet* second = nullptr;
  if (pool_.allocate(&second, 1) == 0) turn_.stay_busy();
  return second;
}

}  // namespace heddle
