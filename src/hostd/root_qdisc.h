// SPDX-License-Identifier: Apache-2.0
// What stands at the root of an interface, and how its flows are to be paced therefore (G3). Errors are
// std::runtime_error.
#pragma once

#include <cstdint>
#include <string>

#include "hostd/shared_maps.h"

namespace heddle::hostd {

constexpr uint32_t kOurRoot = uint32_t{HOSTD_QDISC} << 16;  // handle of the one that TrafficControl puts there

struct RootQdisc {
  std::string kind;                    // empty: none yet, the interface has never been up
  uint32_t handle = 0;                 // 0: it is the kernel's own
  uint32_t queues = 0, fq_queues = 0;  // below it

  bool is_ours() const { return handle == kOurRoot; }
};

// Throws where the kernel does not say.
RootQdisc root_of(int interface, const std::string& name);

enum class PacedBy : uint8_t {
  nothing,     // there is no root to be seen yet
  classes,     // of a root qdisc of ours, in place of the kernel's own
  departures,  // times that fq obeys, which all frames go through: nothing is replaced
};

// Throws where flows can't be paced, and says what is to be done: somebody has put another qdisc there, or there is one
// for each of the card's queues, which is not to be replaced.
PacedBy pacing_of(const RootQdisc& root, const std::string& name, bool replace_mq);

}  // namespace heddle::hostd
