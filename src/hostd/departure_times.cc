// SPDX-License-Identifier: Apache-2.0
#include "hostd/departure_times.h"

#include <algorithm>

#include "hostd/pacing.h"

namespace heddle::hostd {

namespace {

// What may leave between two looks, and fq has room for: a machine may stand still.
constexpr double kBetweenLooksSeconds = 0.2, kBetweenLooksBytes = 4e6;

}  // namespace

DepartureTimes::DepartureTimes(int interface, const Programs& programs)
    : interface_(static_cast<uint32_t>(interface)), programs_(programs) {
  for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) set_rate(minor, Pacing::kRestBytesPerSecond);
}

void DepartureTimes::set_rate(uint16_t minor, uint64_t bytes_per_second) {
  classes_[minor].bytes_per_second = bytes_per_second;
  tell(minor);
}

// Room in it grows with what has left.
void DepartureTimes::tell(uint16_t minor) const {
  const Class& one = classes_[minor];
  const auto between_looks = static_cast<uint64_t>(
      std::min(static_cast<double>(one.bytes_per_second) * kBetweenLooksSeconds, kBetweenLooksBytes));
  programs_.set_rate({interface_, minor}, {.bytes_per_second = one.bytes_per_second,
                                           .most_bytes = one.departed_bytes + kClassBytes + between_looks});
}

ClassStates DepartureTimes::look(uint64_t now_ns) {
  ClassStates states{};
  for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) {
    Class& one = classes_[minor];
    const hostd_departures given = programs_.departures({interface_, minor});
    const uint64_t departed_before = one.departed_bytes;
    if (given.bytes < one.departed_bytes) {  // others have the class now
      one.promises.clear();
      one.departed_bytes = 0;
    }
    if (one.promises.empty() || one.promises.back().bytes != given.bytes)
      one.promises.push_back({given.bytes, given.next_ns});
    while (!one.promises.empty() && one.promises.front().left_ns <= now_ns) {
      one.departed_bytes = one.promises.front().bytes;
      one.promises.pop_front();
    }
    if (one.departed_bytes != departed_before) tell(minor);
    states[minor] = {.sent_bytes = one.departed_bytes,
                     .waiting_bytes = static_cast<uint32_t>(given.bytes - one.departed_bytes),
                     .dropped_packets = given.dropped,
                     .delay_ns = given.next_ns > now_ns ? given.next_ns - now_ns : 0};
  }
  return states;
}

}  // namespace heddle::hostd
