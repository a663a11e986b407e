// SPDX-License-Identifier: Apache-2.0
#include "node/port_loads.h"

#include <algorithm>
#include <bit>

namespace heddle {

namespace {
constexpr uint32_t kControlWaiting = 8;  // frames made here that a port may have waiting when it tells loads
}  // namespace

void PortLoads::look(Port& port, Nanos now) {
  OutputSide& output = port.output;
  ToldLoad& told = output.told;
  if (now >= told.next_neighbour_ns_) tell(port, now);
  const uint32_t queued = output.scheduler.bytes();
  const uint64_t sent = port.counters.sent_bytes;
  if (sent == told.sent_ && queued == told.queued_) return;
  if (board_.classes() > 1) publish_classes(port, now);
  told.sent_lately_ = faded(told.sent_lately_, now - told.told_ns_, board_.lately_ns(port.index)) +
                      static_cast<uint32_t>(sent - told.sent_);
  told.queued_ = queued;
  told.sent_ = sent;
  told.told_ns_ = now;
  board_.publish_load(port.index, queued, told.sent_lately_, now);
  if (output.redirects.due(now))
    output.redirects.look(board_.waiting_bytes(port.index), board_.load(port.index, now).flows, sent, random_, now);
}

// Before the time of what was told is another one.
void PortLoads::publish_classes(Port& port, Nanos now) {
  OutputSide& output = port.output;
  ToldLoad& told = output.told;
  for (uint8_t of_class = 0; of_class < board_.classes(); ++of_class) {
    const uint64_t sent = output.sent_of_class[of_class];
    uint32_t& lately = told.sent_lately_of_[of_class];
    lately = faded(lately, now - told.told_ns_, board_.lately_ns(port.index)) +
             static_cast<uint32_t>(sent - told.sent_of_[of_class]);
    told.sent_of_[of_class] = sent;
    board_.publish_class(port.index, of_class, output.scheduler.bytes_of(of_class), lately);
  }
}

// Of a class all that have much to do for it, of the others nothing: what is said once more is of no harm, and what is
// lost is said again. One frame, however many classes there are: those that it has no room for are the first of the
// next. Not while the device takes nothing: hellos and ACKs need the room.
void PortLoads::tell(Port& port, Nanos now) {
  ToldLoad& told = port.output.told;
  told.next_neighbour_ns_ = now + kTellLatelies * board_.lately_ns(port.index);
  const auto classes = static_cast<uint8_t>(board_.classes());
  for (uint8_t of_class = 0; of_class < classes; ++of_class) {
    const Load own = board_.load(port.index, of_class, now);
    board_.publish_loaded(port.index, of_class, own.waiting_ns > own.lately_ns / 4 || 2 * own.sent_ns >= own.lately_ns);
  }
  if (!port.session.up() || port.output.transmitter.room() == 0 || port.output.control_packets > kControlWaiting)
    return;
  Packet* packet = nullptr;
  for (uint8_t number = 0, of_class = told.next_class_; number < classes; ++number) {
    const PortSet loaded = board_.loaded(of_class) & ~(PortSet{1} << port.index);
    PortSet& before = told.loaded_[of_class];
    const PortSet about = loaded != 0 ? loaded : before & -before;  // one that has no more: no news
    if (about != 0) {
      if (packet == nullptr) {
        packet = control_.make(port);
        if (packet == nullptr) return;
        start_records(*packet, HEDDLE_LOAD);
      }
      if (record_count(*packet) + static_cast<uint32_t>(std::popcount(about)) > HEDDLE_LOAD_RECORDS_MAX) {
        told.next_class_ = of_class;
        break;
      }
      for (PortSet rest = about; rest != 0; rest &= rest - 1)
        append_record(*packet, record_of(PortIndex::of(std::countr_zero(rest)), of_class, now));
      before = loaded;
    }
    of_class = of_class + 1 == classes ? 0 : of_class + 1;
  }
  if (packet == nullptr) return;
  control_.queue(port, packet);
  port.counters.count(ProtocolEvent::load_told);
}

LoadRecord PortLoads::record_of(PortIndex port, uint8_t of_class, Nanos now) const {
  const Load load = board_.load(port, of_class, now);
  const uint64_t busy = std::min<uint64_t>(0xffff, load.sent_ns * uint64_t{0xffff} / load.lately_ns);
  return {.port = port,
          .ftag = site_.lanes.ftag(LaneIndex::of(of_class)),
          .flows = static_cast<uint16_t>(std::min(load.flows, 0xffffu)),
          .busy = static_cast<uint16_t>(busy),
          .part = static_cast<uint16_t>(std::max(1.0, load.part * 0xffff)),
          .waiting_ns = static_cast<uint32_t>(std::min<uint64_t>(load.waiting_ns, 0xffffffff))};
}

void PortLoads::hear(Port& port, const LinkFrame& frame, Nanos now) {
  std::array<PortSet, kClassesMax> loaded{};
  for (const LoadRecord record : load_records(frame)) {
    if (!site_.lanes.has(record.ftag)) continue;
    const uint8_t of_class = site_.lanes.class_of(record.ftag);
    board_.hear(port.index, record.port, of_class, {record.waiting_ns, record.busy, record.flows, record.part});
    loaded[of_class] |= PortSet{1} << record.port;
  }
  for (uint8_t of_class = 0; of_class < board_.classes(); ++of_class)
    if (loaded[of_class] != 0) board_.heard(port.index, of_class, loaded[of_class], now);
  port.counters.count(ProtocolEvent::load_heard);
}

void PortLoads::ask(Port& port, Packet* const* burst, uint32_t count, Nanos now) {
  for (uint32_t i = 0; i < count && port.output.redirects.asking(now); ++i)
    if (burst[i]->input.port != kNoPort) ask(port, *burst[i]);  // not made here
}

void PortLoads::ask(Port& port, const Packet& packet) {
  if (packet.output_flow == kNoFlow || !moves(site_.classes.of(packet.ftag).path)) return;
  OutputFlow& entry = port.output.flows[packet.output_flow];
  if (((entry.congestion | entry.told) & kCongestionLevelMask) != 0 || (entry.flags & kOutputRedirect)) return;
  entry.flags |= kOutputRedirect;
  port.output.asked_by[packet.output_flow] = site_.address;
  settlement_.mark(port, packet.output_flow, entry);
  port.output.redirects.asked(entry.extent());
  port.counters.count(ProtocolEvent::redirect_asked);
}

}  // namespace heddle
