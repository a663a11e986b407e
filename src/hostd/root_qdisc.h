// SPDX-License-Identifier: Apache-2.0
// What stands at the root of an interface, and how its flows are to be paced therefore (G3). Errors are
// std::runtime_error and say what is to be done.
#pragma once

#include <cstdint>
#include <string>

namespace heddle::hostd {

enum class PacedBy : uint8_t {
  classes,     // of a root qdisc of ours, in place of the kernel's own
  departures,  // times that fq obeys, which all frames go through: nothing is replaced
};

// Throws where neither can be: somebody has put another qdisc there, or one has a queue for each of the card's and is
// not to be replaced. Changes nothing.
PacedBy pacing_of(int interface, const std::string& name, bool replace_mq);

// The one that TrafficControl puts there.
bool has_our_root(int interface, const std::string& name);

}  // namespace heddle::hostd
