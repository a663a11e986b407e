// SPDX-License-Identifier: Apache-2.0
// Classes that are times at which frames may leave (G3): the program gives each frame of a class the one after the
// last, by the class's rate, and fq keeps it until then. What has a time keeps it, so a new rate shows behind what
// waits. A class takes kClassBytes and what it sends between two looks; the program drops the rest, counted.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "hostd/paced_classes.h"
#include "hostd/programs.h"

namespace heddle::hostd {

class DepartureTimes : public PacedClasses {
 public:
  // `programs` stay longer than this.
  DepartureTimes(int interface, const Programs& programs);

  void set_rate(uint16_t minor, uint64_t bytes_per_second) override;
  ClassStates look(uint64_t now_ns) override;

 private:
  struct Promise {
    uint64_t bytes;    // in all
    uint64_t left_ns;  // will have left then
  };
  struct Class {
    uint64_t bytes_per_second = 0;
    uint64_t departed_bytes = 0;
    std::deque<Promise> promises;  // at looks before, the oldest first
  };
  void tell(uint16_t minor) const;

  const uint32_t interface_;
  const Programs& programs_;
  std::array<Class, HOSTD_CLASSES + 1> classes_;
};

}  // namespace heddle::hostd
