// SPDX-License-Identifier: Apache-2.0
#include "node/flow_redirects.h"

#include "flow/congestion_level.h"

namespace heddle {

void FlowRedirects::on_redirect(Port& port, Epoch epoch, FlowId id, uint16_t asked_by, Nanos now) {
  if (epoch != port.input.ref.epoch) return;
  InputFlow& flow = port.input.flows[id];
  if (flow.branch.flow == kNoFlow || flow.flow_extent() == 0 || (flow.flags & (kFlowLeaving | kFlowPending))) return;
  if ((flow.congestion & kCongestionLevelMask) != 0) return;
  if (site_.classes.of(flow.ftag).path != PathPolicy::adaptive) return;
  const PortSet around = ways_around(port, flow, asked_by);
  if (around == 0 && port.is_fabric()) {
    flow.flags |= kFlowRedirect;
    flow.asked_by = asked_by;
    return port.counters.count(ProtocolEvent::redirect_passed_on);
  }
  const PortSet left = flow.flags & kFlowMoved ? port.input.leases[id].left(now) : 0;
  const bool better = paths_.better(around & ~left, flow.branch.output, asked_by, now) != kNoPort;
  if (better && flow_queues_.may_hold(flow)) {
    PathLease& lease = port.input.leases[id];
    if (!(flow.flags & kFlowMoved)) lease = {};
    // The others that lead to the bottleneck, too.
    lease.leave((paths_.routes().primary(flow.destination.node) & ~around) | PortSet{1} << flow.branch.output, now);
    flow.flags |= kFlowLeaving | kFlowMoved;
    return port.counters.count(ProtocolEvent::redirect_obeyed);
  }
  port.counters.count(ProtocolEvent::redirect_ended);
}

PortSet FlowRedirects::ways_around(const Port& port, const InputFlow& flow, uint16_t asked_by) const {
  if (flow.destination.node == site_.address) return 0;
  const PathChoice::Frame frame{.input = port.index,
                                .channel = port.input.arbiter[flow.branch.voq].came_in,
                                .hop_limit = 1,
                                .destination = flow.destination};
  return paths_.around(frame, flow.branch.output, asked_by);
}

}  // namespace heddle
