// SPDX-License-Identifier: Apache-2.0
// What an operator is told of a queue, or of several together: what waits there, the most that did (the high water),
// and what found no room there or did not get out in time. Since restart(), or since there is the queue.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle {

struct QueueMark {
  uint32_t bytes = 0;  // of original frames, as all below
  uint32_t most_bytes = 0;
  uint64_t dropped_frames = 0;

  void joined(uint32_t more) {
    bytes += more;
    most_bytes = std::max(most_bytes, bytes);
  }
  void left(uint32_t less) { bytes -= less; }
  void restart() {
    most_bytes = bytes;
    dropped_frames = 0;
  }
};

}  // namespace heddle
