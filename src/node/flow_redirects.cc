// SPDX-License-Identifier: Apache-2.0
#include "node/flow_redirects.h"

#include "flow/congestion_level.h"

namespace heddle {

void FlowRedirects::on_redirect(Port& port, Epoch epoch, FlowId id, uint16_t asked_by, Nanos now) {
  if (epoch != port.input.ref.epoch) return;
  InputFlow& flow = port.input.flows[id];
  if (flow.branch.flow == kNoFlow || flow.flow_extent() == 0 || (flow.flags & (kFlowLeaving | kFlowPending))) return;
  if ((flow.congestion & kCongestionLevelMask) != 0) return;
  if (!moves(site_.classes.of(flow.ftag).path)) return;
  const PathChoice::Frame frame = ways_.frame_of(port, id);
  const PortIndex output = flow.branch.output();
  const PortSet around = flow.destination.node == site_.address ? 0 : paths_.around(frame, output, asked_by);
  if (around == 0 && port.is_fabric()) {
    flow.flags |= kFlowRedirect;
    flow.asked_by = asked_by;
    return port.counters.count(ProtocolEvent::redirect_passed_on);
  }
  const bool better = paths_.better(around & ~frame.left, frame, output, asked_by, now) != kNoPort ||
                      paths_.has_detour_around(frame, output, asked_by, random_, now);
  if (better && flow_queues_.may_hold(port, flow)) {
    PathLease& lease = port.input.leases[id];
    if (!(flow.flags & kFlowMoved)) lease = {};
    // The others that lead to the bottleneck, too.
    const PortSet shortest = paths_.routes().primary(paths_.heading(flow.destination.node, frame.via));
    lease.leave((shortest & ~around) | PortSet{1} << output, asked_by, now);
    flow.flags |= kFlowLeaving | kFlowMoved;
    return port.counters.count(ProtocolEvent::redirect_obeyed);
  }
  port.counters.count(ProtocolEvent::redirect_ended);
}

}  // namespace heddle
