// SPDX-License-Identifier: Apache-2.0
#include "node/flow_ways.h"

namespace heddle {

PortIndex FlowWays::choose_way_for(Port& port, FlowId id, const Packet& packet, DropReason& reason) {
  PathChoice::Frame frame = frame_of(port, packet);
  frame.left = left_by(port, id);
  const PathChoice::Way way = paths_.choose(frame, random_, reason, turn_.now());
  port.input.flows.steer(id, way.via);
  return way.port;
}

bool FlowWays::stays(const Port& port, FlowId id, const Packet& packet) {
  if (surely_stays(port.input.flows[id])) return true;
  DropReason reason = DropReason::none;
  PathChoice::Frame frame = frame_of(port, packet);
  frame.had = {port.input.flows[id].branch.output(), port.input.flows.via(id)};
  frame.left = left_by(port, id);
  return paths_.choose(frame, random_, reason, turn_.now()) == frame.had;
}

bool FlowWays::has_choice(const Port& port, FlowId id) const {
  const PathChoice::Frame frame = frame_of(port, id);
  return paths_.may_detour(frame) || paths_.ways(frame).ports != PortSet{1} << port.input.flows[id].branch.output();
}

bool FlowWays::is_stale(const Port& port, FlowId id, PortIndex output) const {
  const uint16_t to = port.input.flows[id].destination.node;
  return to != site_.address && !(paths_.routes().primary(paths_.heading(to, port.input.flows.via(id))) >> output & 1);
}

PathChoice::Frame FlowWays::frame_of(const Port& port, FlowId id) const {
  const InputFlow& flow = port.input.flows[id];
  const TrafficClass& traffic_class = site_.classes.of(flow.ftag);
  return {.input = port.index,
          .channel = port.input.arbiter[flow.branch.voq].came_in,
          .hop_limit = kHopLimit,
          .destination = flow.destination,
          .via = port.is_fabric() ? port.input.flows.via(id) : uint16_t{0},
          .left = left_by(port, id),
          .policy = traffic_class.path,
          .lossless = traffic_class.lossless,
          .of_class = site_.lanes.class_of(flow.ftag)};
}

}  // namespace heddle
