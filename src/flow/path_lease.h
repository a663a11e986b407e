// SPDX-License-Identifier: Apache-2.0
// Ports that a flow was asked to leave and keeps off for a while (R9): right after it has left one that one is the
// idlest. Beside the flow table, by flow ID: only touched while kFlowMoved is set.
#pragma once

#include "wire/types.h"

namespace heddle {

class PathLease {
 public:
  // Of all that it was asked to leave within the time, the last asked says when they may be taken again.
  static constexpr Nanos kLeaseNs = 500 * kMicrosecond;

  // `asked_by`: address of the node whose port asks.
  void leave(PortSet ports, uint16_t asked_by, Nanos now) {
    left_ = left(now) | ports;
    until_ns_ = now + kLeaseNs;
    asked_by_ = asked_by;
  }
  PortSet left(Nanos now) const { return now < until_ns_ ? left_ : 0; }
  // When it was asked last, and by whom (telemetry).
  Nanos asked_ns() const { return until_ns_ - kLeaseNs; }
  uint16_t asked_by() const { return asked_by_; }

 private:
  PortSet left_ = 0;
  Nanos until_ns_ = 0;
  uint16_t asked_by_ = 0;
};

}  // namespace heddle
