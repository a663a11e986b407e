// SPDX-License-Identifier: Apache-2.0
// May a flow that has its output flow ID hand on its next packet, as far as its path, its application, congestion and
// credits go (K9, A6, C4-C6, C8), and if not, why? The rules, for whoever sends, and all in one answer for whoever
// shows. Knows numbers, no tables.
#pragma once

#include "flow/flow_limit.h"
#include "flow/flow_meter.h"
#include "flow/input_flow.h"

namespace heddle {

// In the order in which they are told.
enum class Gate : uint8_t {
  open,
  lapsed,     // open, and the limit that nobody renews is over (K10)
  leaving,    // gives its output flow ID back, and has another when what is under way is settled (K9, R12, K11)
  injection,  // its application, or its port, has as much in the fabric as it may (A6: ingress/injection_limits.h)
  no_share,   // has its part of the next switch's buffers (C8)
  no_credit,  // the next switch has granted it no more (C6)
  paced,      // its next packet goes later (C5)
  window,     // as much under way as its share carries (C4)
};

constexpr bool is_open(Gate gate) { return gate <= Gate::lapsed; }

constexpr uint64_t kNoShare = ~uint64_t{0};  // for `free_bytes`: the flow takes credit of no channel that others need

// C8: a flow may have under way at most a quarter of what is left free of the next hop's buffers, so that however many
// have come to a halt downstream, one that has not finds some: of 64 that take all they may each has a 68th, and four
// are free. A new crowd is held so before any of it is told of congestion.
constexpr uint64_t kShareParts = 4;
inline bool within_share(const InputFlow& flow, uint64_t free_bytes) {
  return flow.flow_extent() == 0 || kShareParts * flow.flow_extent() <= free_bytes;
}

// Of a flow that stays on its path and may inject. `bytes` of the next packet; `free_bytes` of the next switch's
// buffers, or kNoShare. The limit and the meter are looked at if the flow's flags say that they hold.
inline Gate gate_on_path(const InputFlow& flow, const FlowLimit& limit, const FlowMeter& meter, uint64_t free_bytes,
                         uint32_t bytes, Nanos now) {
  const uint32_t extent = flow.flow_extent();
  if (free_bytes != kNoShare && !within_share(flow, free_bytes)) return Gate::no_share;
  // With nothing under way the next hop holds nothing of the flow, whatever it said last.
  if ((flow.flags & kFlowMetered) && extent != 0 && !meter.allows(flow.data_flow + bytes)) return Gate::no_credit;
  if (!(flow.flags & kFlowLimited)) return Gate::open;
  if (limit.lapsed(extent, now)) return Gate::lapsed;
  if (now < limit.release_ns()) return Gate::paced;
  return extent <= limit.window_bytes() ? Gate::open : Gate::window;
}

// Of any flow. `may_inject`: its injection limits are open, or it does not go from a host into the fabric.
inline Gate gate_of(const InputFlow& flow, const FlowLimit& limit, const FlowMeter& meter, uint64_t free_bytes,
                    bool may_inject, uint32_t bytes, Nanos now) {
  if (flow.flags & kFlowLeaving) return Gate::leaving;
  if (!may_inject) return Gate::injection;
  return gate_on_path(flow, limit, meter, free_bytes, bytes, now);
}

}  // namespace heddle
