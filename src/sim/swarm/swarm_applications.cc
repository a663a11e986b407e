// SPDX-License-Identifier: Apache-2.0
#include "sim/swarm/swarm.h"

namespace heddle::sim {

namespace {

// From a byte, which one frame is more than, to what nobody reaches. None is closed (below).
void draw_limits(ApplicationPolicy& policy, Random& random) {
  if (one_in(random, 2)) return;
  const auto limit = [&random]() -> uint64_t {
    return one_in(random, 3) ? kNoInjectionLimit : pick(random, {1, 1500, 8000, 64'000, 1 << 30});
  };
  policy.port_bytes = limit();
  for (ApplicationPolicy::Limit& one : policy.limits) one.bytes = limit();
}

ApplicationPolicy policy(Random& random) {
  ApplicationPolicy policy;
  policy.configured = true;
  for (uint8_t group = 0; group < kNoFlowGroup; ++group) {
    policy.groups[group].weight = static_cast<uint8_t>(pick(random, {1, 1, 2, 3, kWeightMax}));
    policy.groups[group].limit = static_cast<uint8_t>(random.below(kNoLimitId));
  }
  for (ApplicationPolicy::Limit& limit : policy.limits) limit.weight = static_cast<uint8_t>(pick(random, {1, 1, 3}));
  draw_limits(policy, random);
  for (GroupIndex& index : policy.indices) {
    index.bits = static_cast<uint8_t>(random.below(5));
    index.base = static_cast<uint8_t>(random.below(kNoFlowGroup - 16));
    index.field = static_cast<IndexField>(random.below(4));
  }
  if (one_in(random, 2)) {
    GroupRule rule;
    rule.group = static_cast<uint8_t>(random.below(kNoFlowGroup));
    rule.vlan = static_cast<uint16_t>(pick(random, {1, 10, 20}));
    policy.rules.push_back(rule);
  }
  return policy;
}

// Some of its applications inject nothing, or none does.
void close_some(ApplicationPolicy& policy, Random& random) {
  if (one_in(random, 4)) policy.port_bytes = 0;
  for (ApplicationPolicy::Limit& limit : policy.limits)
    if (one_in(random, 3)) limit.bytes = 0;
}

}  // namespace

void draw_applications(Swarm& swarm, Random random) {
  if (one_in(random, 2)) return;
  for (NodeSetup& node : swarm.setup.nodes)
    if (one_in(random, 2)) node.applications = policy(random);
  if (one_in(random, 2)) return;
  // Closed ones only while there are faults: after them all flows have to come through, with the first one.
  for (int i = 0; i < 3; ++i) swarm.faults.policies.push_back(policy(random));
  if (one_in(random, 2)) close_some(swarm.faults.policies.back(), random);
  if (one_in(random, 2)) swarm.faults.policies.emplace_back();  // none
  swarm.faults.kinds |= 1u << static_cast<unsigned>(FaultKind::regroup);
}

}  // namespace heddle::sim
