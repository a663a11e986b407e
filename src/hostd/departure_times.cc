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

void DepartureTimes::tell(uint16_t minor) {
  const Class& one = classes_[minor];
  maps_.set_rate({interface_, minor}, {.bytes_per_second = one.bytes_per_second,
                                       .departed_bytes = one.departed.bytes,
                                       .departed_frames = one.departed.frames,
                                       .looked_ns = looked_ns_,
                                       .frame_bytes = one.frame_bytes});
}

// All that was promised for before now, and of what was promised next as much as its rate says.
void DepartureTimes::depart(Class& one, uint64_t now_ns) {
  for (; !one.promises.empty() && one.promises.front().left_ns <= now_ns; one.promises.pop_front())
    one.departed = one.promises.front().sent;
  if (one.promises.empty()) return;
  const Promise& next = one.promises.front();
  const Sent all{next.sent.bytes - one.departed.bytes, next.sent.frames - one.departed.frames};
  const auto left = static_cast<uint64_t>(static_cast<double>(next.left_ns - now_ns) * 1e-9 *
                                          static_cast<double>(next.bytes_per_second));
  if (left >= all.bytes) return;
  one.departed.bytes = next.sent.bytes - left;
  one.departed.frames += all.frames * (all.bytes - left) / all.bytes;
}

ClassStates DepartureTimes::look(uint64_t now_ns) {
  ClassStates states{};
  looked_ns_ = now_ns;
  for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) {
    Class& one = classes_[minor];
    const hostd_departures given = maps_.departures({interface_, minor});
    if (given.frames != one.given.frames) {
      one.promises.push_back({{given.bytes, given.frames}, given.next_ns, one.bytes_per_second});
      one.frame_bytes = std::max<uint64_t>(1, (given.bytes - one.given.bytes) / (given.frames - one.given.frames));
      one.given = {given.bytes, given.frames};
    }
    const bool waited = one.departed.bytes != one.given.bytes;
    depart(one, now_ns);
    if (waited || !one.promises.empty()) tell(minor);
    const uint64_t waiting = given.bytes - one.departed.bytes;
    states[minor] = {.sent_bytes = one.departed.bytes,
                     .waiting_bytes = static_cast<uint32_t>(waiting),
                     .dropped_packets = given.dropped,
                     .delay_ns = given.next_ns > now_ns ? given.next_ns - now_ns : 0};
  }
  return states;
}

}  // namespace heddle::hostd
