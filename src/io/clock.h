// SPDX-License-Identifier: Apache-2.0
// The one clock of the real drivers: monotonic, never set back.
#pragma once

#include <ctime>

#include "wire/types.h"

namespace heddle {

inline Nanos monotonic_now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Nanos>(time.tv_sec) * kSecond + static_cast<Nanos>(time.tv_nsec);
}

}  // namespace heddle
