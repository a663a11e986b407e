// SPDX-License-Identifier: Apache-2.0
// Classes that are times at which frames may leave (G3): the program gives each frame of a class the one after the
// last, by the class's rate, and fq keeps it until then. What has a time keeps it, so a new rate shows behind what
// waits. kClassBytes of a class may wait, and no more frames than fq takes of a socket; the program drops the rest,
// counted.
#pragma once

#include <array>
#include <cstdint>
#include <deque>

#include "hostd/paced_classes.h"

namespace heddle::hostd {

// What it and the program in the kernel tell each other of a class. Errors are std::runtime_error.
class DepartureMaps {
 public:
  virtual void add_departures(const hostd_class& one) = 0;
  virtual void remove_departures(const hostd_class& one) = 0;
  virtual void set_rate(const hostd_class& one, const hostd_rate& rate) = 0;
  virtual hostd_departures departures(const hostd_class& one) const = 0;

 protected:
  ~DepartureMaps() = default;
};

class DepartureTimes : public PacedClasses {
 public:
  // `maps` stay longer than this.
  DepartureTimes(int interface, DepartureMaps& maps);
  ~DepartureTimes() override;
  DepartureTimes(const DepartureTimes&) = delete;

  void set_rate(uint16_t minor, uint64_t bytes_per_second) override;
  ClassStates look(uint64_t now_ns) override;

 private:
  struct Sent {
    uint64_t bytes = 0, frames = 0;  // in all
  };
  struct Promise {
    Sent sent;
    uint64_t left_ns;           // will have left then, the last of it
    uint64_t bytes_per_second;  // at that rate
  };
  struct Class {
    uint64_t bytes_per_second = 0;
    Sent given, departed;            // at the last look
    uint64_t next_ns = 0;            // as it was told then
    uint64_t frame_bytes = 1514;     // of a frame, about
    Sent before{};                   // had left before what the first promise is about
    std::deque<Promise> promises{};  // at looks before, the oldest first
  };
  static Sent departed_by(const Class& one, uint64_t at_ns);
  void tell(uint16_t minor);

  const uint32_t interface_;
  DepartureMaps& maps_;
  uint64_t looked_ns_ = 0;
  std::array<Class, HOSTD_CLASSES + 1> classes_;
};

}  // namespace heddle::hostd
