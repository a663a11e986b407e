// SPDX-License-Identifier: Apache-2.0
// Classes of an interface, each with a rate, that flows which are held back are put into (G3). Two kinds: of a root
// qdisc (traffic_control.h), and departure times (departure_times.h). One thread. Errors are std::runtime_error.
#pragma once

#include <array>
#include <cstdint>

#include "hostd/shared_maps.h"

namespace heddle::hostd {

struct ClassState {
  uint64_t sent_bytes = 0;  // that have left it; counts on while flows have the class
  uint32_t waiting_bytes = 0;
  uint64_t dropped_packets = 0;
  bool keeps_times = false;  // what waits leaves when it was to as it came, whatever the rate is now:
  uint64_t delay_ns = 0;     // until a new one shows
};

using ClassStates = std::array<ClassState, HOSTD_CLASSES + 1>;  // by minor number; [0] is nobody's

class PacedClasses {
 public:
  virtual ~PacedClasses() = default;

  // `minor`: 1 to HOSTD_CLASSES. `bytes_per_second`: not 0.
  virtual void set_rate(uint16_t minor, uint64_t bytes_per_second) = 0;
  // `now_ns`: of CLOCK_MONOTONIC. Every few milliseconds while flows are held back.
  virtual ClassStates look(uint64_t now_ns) = 0;
};

}  // namespace heddle::hostd
