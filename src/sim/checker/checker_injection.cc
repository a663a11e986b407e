// SPDX-License-Identifier: Apache-2.0
// Invariant 5: what an edge port's applications have in the fabric is what their flows have, by injection limit ID, and
// never grows above a limit. And the flow IDs that groups have are counted right.
#include <algorithm>

#include "sim/checker/checker.h"

namespace heddle::sim {

// Each packet went while its ID and the port were below their limits, so that a limit is passed by one frame at most.
// One that has fallen meanwhile, since others have become active, may be passed by more: then nothing goes any more.
void Checker::check_injection(uint16_t node, const Port& port) {
  const ApplicationPolicy& policy = fabric_.setup().nodes[node].applications;
  if (port.is_fabric()) return;
  auto& before = injected_[node][port.index];
  if (!policy.limits_injection()) {
    if (port.input.arbiter.injection().injected_bytes() != 0)
      fail(5, place(node, port.index) + ": bytes are counted as injected without a limit");
    before.port_bytes = kNoInjectionLimit;  // a limit that comes finds what there is
    before.ids.fill(kNoInjectionLimit);
    return;
  }
  const std::vector<TopologyPort>& ports = fabric_.topology().nodes[node].ports;
  std::array<InjectionGhost, kNoLimitId> now{};
  uint64_t of_port = 0, promised_of_port = 0;
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const InputFlow& flow = port.input.flows[FlowId::of(i)];
    if (flow.flow_extent() == 0 || flow.branch.output() == kNoPort || !ports[flow.branch.output()].fabric) continue;
    now[policy.groups[flow.group].limit].bytes += flow.flow_extent();
    of_port += flow.flow_extent();
  }
  for (VoqIndex queue = 0; queue < port.input.arbiter.size(); ++queue) {
    const Voq& voq = port.input.arbiter[queue];
    for (uint8_t id = 0; id < kNoLimitId; ++id) {
      if (!(port.input.arbiter.promised(queue) >> id & 1)) continue;
      now[id].promised += voq.bytes.largest;
      promised_of_port += voq.bytes.largest;
    }
    if (voq.ready() == 0 || !ports[voq.output].fabric) continue;
    for (uint8_t group = 0; group < kGroups; ++group)
      if (!port.input.arbiter.ready(queue, group).empty()) now[policy.groups[group].limit].waits = true;
  }
  uint32_t weights = 0;
  for (uint8_t id = 0; id < kNoLimitId; ++id)
    if ((now[id].bytes != 0 || now[id].waits) && policy.limits[id].bytes != 0) weights += policy.limits[id].weight;

  const InjectionLimits& known = port.input.arbiter.injection();
  const uint64_t frame = fabric_.topology().edge_mtu_bytes + kEthernetHeaderBytes + kVlanTagBytes;
  const auto where = [&] { return place(node, port.index) + ": "; };
  if (known.injected_bytes() != of_port)
    fail(5, where() + std::to_string(known.injected_bytes()) + " bytes counted as injected, flows have " +
                std::to_string(of_port) + " in the fabric");
  if (!may_be_injected(of_port, before.port_bytes, policy.port_bytes, frame))
    fail(5, where() + std::to_string(of_port) + " bytes injected, " + std::to_string(policy.port_bytes) +
                " are the limit");
  before.port_bytes = of_port;
  if (of_port != 0 && of_port >= policy.port_bytes) coverage_.reach("limit: the port is at its limit");
  if (promised_of_port != 0) coverage_.reach("limit: room is kept for a queue that has none");
  bool all_open = true;
  for (uint8_t id = 0; id < kNoLimitId; ++id) all_open &= (known.open() >> id & 1) != 0;
  for (uint8_t id = 0; id < kNoLimitId; ++id) {
    const InjectionGhost& one = now[id];
    const auto of_id = [&] { return where() + "injection limit ID " + std::to_string(id) + ": "; };
    if (known.injected_bytes(id) != one.bytes)
      fail(5, of_id() + std::to_string(known.injected_bytes(id)) + " bytes counted as injected, flows have " +
                  std::to_string(one.bytes) + " in the fabric");
    uint64_t limit = std::min(policy.limits[id].bytes, policy.port_bytes);
    if (!may_be_injected(one.bytes, before.ids[id], limit, frame))
      fail(5, of_id() + std::to_string(one.bytes) + " bytes injected, " + std::to_string(limit) + " are the limit");
    before.ids[id] = one.bytes;
    cover_limit(one, limit, frame);
    // As long as nobody is held, those that have become idle may count.
    if (all_open) continue;
    if ((one.bytes != 0 || one.waits) && limit != 0 && policy.port_bytes != kNoInjectionLimit)
      limit = std::min(limit, std::max<uint64_t>(1, policy.port_bytes * policy.limits[id].weight / weights));
    if (known.limit_bytes(id) != limit)
      fail(5, of_id() + std::to_string(known.limit_bytes(id)) + " bytes are in force as its limit, not " +
                  std::to_string(limit));
    const bool open = one.bytes + one.promised < limit && of_port + promised_of_port < policy.port_bytes;
    if (open != ((known.open() >> id & 1) != 0)) fail(5, of_id() + (open ? "closed" : "open") + ", and is not to be");
  }
}

void Checker::cover_limit(const InjectionGhost& one, uint64_t limit, uint64_t frame) {
  if (one.bytes == 0 || limit == kNoInjectionLimit) return;
  if (one.waits && one.bytes >= limit) coverage_.reach("limit: an application waits at its limit");
  if (one.bytes >= limit + frame) coverage_.reach("limit: lowered below what is injected");
}

bool Checker::may_be_injected(uint64_t bytes, uint64_t before, uint64_t limit, uint64_t frame) {
  return limit == kNoInjectionLimit || bytes < limit + frame || bytes <= before;
}

// Flow IDs that groups have, of the port and of its outputs: a change of the policy counts them anew.
void Checker::check_group_counts(uint16_t node, const Port& port) {
  if (port.is_fabric() || port.input.arbiter.groups() == 1) return;
  std::array<uint32_t, kGroups> own{};
  std::vector<std::array<uint32_t, kGroups>> of_outputs(port.input.ids.size());
  for (uint32_t i = 1; i <= port.input.flows.size(); ++i) {
    const InputFlow& flow = port.input.flows[FlowId::of(i)];
    if (!flow.in_use()) continue;
    ++own[flow.group];
    if (flow.branch.flow != kNoFlow) ++of_outputs[flow.branch.output()][flow.group];
  }
  for (uint8_t group = 0; group < kGroups; ++group) {
    if (port.input.waiting.shares.held(group) != own[group])
      fail(9, place(node, port.index) + ": group " + std::to_string(group) + " has " + std::to_string(own[group]) +
                  " flow IDs, " + std::to_string(port.input.waiting.shares.held(group)) + " are counted");
    for (size_t output = 0; output < of_outputs.size(); ++output) {
      uint32_t counted = 0;
      for (uint8_t channel = 0; channel < port.channels; ++channel)
        counted += port.input.ids[output].wanting.shares(channel).held(group);
      if (counted != of_outputs[output][group])
        fail(9, place(node, port.index) + ": group " + std::to_string(group) + " has " +
                    std::to_string(of_outputs[output][group]) + " flow IDs of port " + std::to_string(output) + ", " +
                    std::to_string(counted) + " are counted");
    }
  }
}

}  // namespace heddle::sim
