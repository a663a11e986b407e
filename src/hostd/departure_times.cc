// SPDX-License-Identifier: Apache-2.0
#include "hostd/departure_times.h"

#include <algorithm>

#include "hostd/pacing.h"

namespace heddle::hostd {

DepartureTimes::DepartureTimes(int interface, DepartureMaps& maps)
    : interface_(static_cast<uint32_t>(interface)), maps_(maps) {
  for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) {
    maps_.add_departures({interface_, minor});
    set_rate(minor, Pacing::kRestBytesPerSecond);
  }
}

DepartureTimes::~DepartureTimes() {
  for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) maps_.remove_departures({interface_, minor});
}

void DepartureTimes::set_rate(uint16_t minor, uint64_t bytes_per_second) {
  classes_[minor].bytes_per_second = bytes_per_second;
  tell(minor);
}

// What leaves until the next look: what has a time before that, and what comes behind it at the rate.
void DepartureTimes::tell(uint16_t minor) {
  const Class& one = classes_[minor];
  const uint64_t next_look_ns = looked_ns_ + HOSTD_TICK_NS;
  const uint64_t behind_ns = std::max(looked_ns_, one.promises.empty() ? 0 : one.promises.back().left_ns);
  const Sent then = departed_by(one, next_look_ns);
  const double behind_bytes = behind_ns >= next_look_ns ? 0
                                                        : static_cast<double>(next_look_ns - behind_ns) * 1e-9 *
                                                              static_cast<double>(one.bytes_per_second);
  const auto behind = static_cast<uint64_t>(behind_bytes);
  maps_.set_rate({interface_, minor}, {.bytes_per_second = one.bytes_per_second,
                                       .departed_bytes = one.departed.bytes,
                                       .departed_frames = one.departed.frames,
                                       .looked_ns = looked_ns_,
                                       .leaving_bytes = then.bytes - one.departed.bytes + behind,
                                       .leaving_frames = then.frames - one.departed.frames + behind / one.frame_bytes});
}

// All that was promised for before then, and of what was promised next as much as its rate says.
DepartureTimes::Sent DepartureTimes::departed_by(const Class& one, uint64_t at_ns) {
  Sent before = one.before;
  for (const Promise& next : one.promises) {
    if (next.left_ns > at_ns) {
      const Sent all{next.sent.bytes - before.bytes, next.sent.frames - before.frames};
      const double still =
          static_cast<double>(next.left_ns - at_ns) * 1e-9 * static_cast<double>(next.bytes_per_second);
      if (still >= static_cast<double>(all.bytes)) return before;
      const uint64_t left = all.bytes - static_cast<uint64_t>(still);
      return {before.bytes + left, before.frames + all.frames * left / all.bytes};
    }
    before = next.sent;
  }
  return before;
}

ClassStates DepartureTimes::look(uint64_t now_ns) {
  ClassStates states{};
  looked_ns_ = now_ns;
  for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) {
    Class& one = classes_[minor];
    const hostd_departures given = maps_.departures({interface_, minor});
    if (given.frames != one.given.frames)
      one.frame_bytes = std::max<uint64_t>(1, (given.bytes - one.given.bytes) / (given.frames - one.given.frames));
    if (given.bytes != one.given.bytes || given.frames != one.given.frames || given.next_ns != one.next_ns) {
      one.promises.push_back({{given.bytes, given.frames}, given.next_ns, one.bytes_per_second});
      one.given = {given.bytes, given.frames};
      one.next_ns = given.next_ns;
    }
    const bool waited = !one.promises.empty();
    for (; !one.promises.empty() && one.promises.front().left_ns <= now_ns; one.promises.pop_front())
      one.before = one.promises.front().sent;
    one.departed = departed_by(one, now_ns);
    if (waited) tell(minor);
    const uint64_t waiting = given.bytes - one.departed.bytes;
    states[minor] = {.sent_bytes = one.departed.bytes,
                     .waiting_bytes = static_cast<uint32_t>(waiting),
                     .dropped_packets = given.dropped,
                     .keeps_times = true,
                     .delay_ns = given.next_ns > now_ns ? given.next_ns - now_ns : 0};
  }
  return states;
}

}  // namespace heddle::hostd
