// SPDX-License-Identifier: Apache-2.0
// Link retry (K6): frames of lossless classes go in a retry channel of their link (K2) and are kept until the other end
// has them. What the link loses is sent again, so no hole appears in it.
#include "node/worker.h"

namespace heddle {

// One to send and one to keep: the packet itself with one more owner, or a fresh one to copy it into. nullptr: none
// now.
Packet* Worker::second_of(Port& port, Packet* packet) {
  if (!port.device->passes_packets() && pool_.add_owner(packet)) return packet;
  Packet* second = nullptr;
  if (pool_.allocate(&second, 1) == 0) result_.busy = true;
  return second;
}

// What is to be kept of a frame that is about to be stamped; nullptr: it has to wait.
Packet* Worker::replica_for(Port& port, Packet* packet) {
  if (port.retry.may_stamp()) return second_of(port, packet);
  if (port.retry.full()) port.counters.count(ProtocolEvent::retry_full);
  return nullptr;
}

// The frame has its number.
void Worker::keep_for_retry(Port& port, const Packet& packet, Packet* replica, Nanos now) {
  if (replica != &packet) copy_frame(*replica, packet);
  ++port.counters.copied_frames;
  port.retry.keep(replica, now);
}

// Frames that the other end misses, before all others of the channel. They have their credit and room from the first
// time, and go on ageing (K8). How many are in the burst then.
uint32_t Worker::send_again(Port& port, Packet** burst, uint32_t count, Nanos now) {
  TokenBucket& pace = port.output.pace;
  while (count < kBurst && port.retry.again() != nullptr && (!pace.limits() || pace.allows(now))) {
    Packet* kept = port.retry.again();
    Packet* packet = second_of(port, kept);
    if (packet == nullptr) break;
    kept->input.port = kNoPort;
    kept->flags |= kPacketAgain;
    if (packet != kept) copy_frame(*packet, *kept);
    restamp_again(*packet, life_units(life_left(*kept, now)));
    port.retry.sent_again();
    ++port.counters.copied_frames;
    port.counters.count(ProtocolEvent::sent_again);
    pace.take(now, packet->length + kWireExtraBytes);
    burst[count++] = packet;
  }
  return count;
}

// A frame in a retry channel: only the next one is taken.
void Worker::receive_in_turn(Port& port, Packet* packet, const LinkFrame& frame, Nanos now) {
  if (frame.channel != HEDDLE_RETRY_CHANNEL || frame.kind != HEDDLE_DATA)
    return drop_at_input(port, packet, DropReason::bad_frame);
  switch (port.retry.judge(frame.sequence, now)) {
    case LinkRetry::Turn::next:
      return receive_data(port, packet, true, now);
    case LinkRetry::Turn::old:
      return drop_at_input(port, packet, DropReason::old_sequence);
    case LinkRetry::Turn::ahead:
      return drop_at_input(port, packet, DropReason::ahead_of_turn);
  }
}

// False if the other end contradicts itself.
bool Worker::receive_retry(Port& port, const LinkFrame& frame, Nanos now) {
  if (!lanes_.any_retry()) return false;
  for (const RetryRecord record : retry_records(frame)) {
    PacketQueue released;
    const LinkRetry::Outcome outcome = port.retry.apply(record, released, now);
    let_go(port, released);
    if (outcome == LinkRetry::Outcome::contradiction) return false;
    if (outcome == LinkRetry::Outcome::given_up) {  // it loses the same frame again and again
      reset_link(port, LinkDownReason::loses_frames, now);
      return true;
    }
  }
  return true;
}

void Worker::send_retry_records(Port& port, Nanos now) {
  const bool report = port.retry.report_due(now), ask = port.retry.ask_due(now);
  if (!report && !ask) return;
  Packet* packet = control_packet(port);
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
  queue_control(port, packet);
}

// Frames that need not be kept any more.
void Worker::let_go(Port& port, PacketQueue kept) {
  while (!kept.empty()) {
    ++port.counters.consumed_frames;
    discard(kept.pop());
  }
}

}  // namespace heddle
