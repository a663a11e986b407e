// SPDX-License-Identifier: Apache-2.0
// The clocks of the real drivers: one that is monotonic and never set back, and the one that people read.
#pragma once

#include <ctime>

#include "wire/types.h"

namespace heddle {

inline Nanos monotonic_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Nanos>(time.tv_sec) * kSecond + static_cast<Nanos>(time.tv_nsec);
}

// Since 1970; may be set, so that only short differences mean anything.
inline Nanos wall_clock_now() {
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<Nanos>(time.tv_sec) * kSecond + static_cast<Nanos>(time.tv_nsec);
}

}  // namespace heddle
