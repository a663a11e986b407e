// SPDX-License-Identifier: Apache-2.0
// What a run of heddle-traffic is asked for.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::traffic {

struct TrafficOptions {
  std::array<std::string, 2> devices;  // the first sends, the second receives
  bool both = false;                   // directions
  uint32_t flows = 1;
  uint32_t stations = 1;  // MAC pairs; flow f is of pair f modulo stations
  std::string size = "64";
  std::vector<uint16_t> frame_bytes;  // of `size`; frames take them in turn
  uint16_t burst = 32;
  uint32_t window = 512;  // frames in flight, of each direction; closed loop
  double rate = 0;        // frames per second, of each direction; above 0: open loop
  double seconds = 2;
  double warm_up_seconds = 0.2;
  double patience_seconds = 0.5;  // frames not back after that are given up
  double announce_rate = 20000;   // stations per second
  uint32_t check_every = 1;       // the pattern of one frame in so many is looked at
  uint16_t descriptors = 1024;
  uint16_t receive_queues = 1;
  double link_wait_seconds = 20;
};

inline uint16_t largest_frame(const TrafficOptions& options) {
  uint16_t largest = 0;
  for (const uint16_t bytes : options.frame_bytes) largest = bytes > largest ? bytes : largest;
  return largest;
}

}  // namespace heddle::traffic
