// SPDX-License-Identifier: Apache-2.0
#include "flow/round_trips.h"

#include <algorithm>

#include "flow/congestion_level.h"

namespace heddle {

void RoundTrips::begin(PortIndex port, FlowId id, const InputFlow& flow, uint16_t node, bool alone, Nanos now) {
  timed_ = true;
  port_ = port;
  flow_id_ = id;
  node_ = node;
  alone_ = alone;
  may_rise_ = alone || !(flow.flags & kFlowLimited);
  position_ = flow.data_flow;
  lost_total_ = flow.lost_total;
  begun_ns_ = now;
}

void RoundTrips::look(const InputFlow& flow, Nanos now) {
  if (flow.lost_total != lost_total_ || now - begun_ns_ > patience_ns_)
    timed_ = false;  // what was lost has been settled without its round trip, or only after a probe
  else if (!serial_before(flow.ack_flow, position_))
    end(now);
}

void RoundTrips::arrived(PortIndex port, FlowId id, Nanos now) {
  if (timed_ && port_ == port && flow_id_ == id && alone_) end(now);
}

void RoundTrips::end(Nanos now) {
  const Nanos elapsed = std::max<Nanos>(now - begun_ns_, 1);
  Nanos& known = known_ns_[node_];
  timed_ = false;
  if (!may_rise_ && known != 0 && elapsed >= known) return;
  // The least seen, and slowly more: what queues on the way add now is not the way's. A first one out of a burst is
  // mended by those of limited flows, which are seldom alone under way and whose own queue says nothing of a longer
  // way.
  known = known == 0 || elapsed < known ? elapsed : known + (elapsed - known) / 64;
  if (node_ != farthest_ && known <= known_ns_[farthest_]) return;
  farthest_ = static_cast<uint16_t>(std::max_element(known_ns_.begin(), known_ns_.end()) - known_ns_.begin());
  code_bits_ = static_cast<uint8_t>(round_trip_code(known_ns_[farthest_]) << 4);
}

}  // namespace heddle
