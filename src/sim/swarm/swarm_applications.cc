// SPDX-License-Identifier: Apache-2.0
#include "sim/swarm/swarm.h"

namespace heddle::sim {

namespace {

// From a byte, which one frame is more than, to what nobody reaches. None is closed (below).
void draw_limits(ApplicationPolicy& policy, Random& random) {
  if (one_in(random, 2)) return;
  const auto limit = [&random]() -> uint64_t {
    return one_in(random, 3) ? kNoInjectionLimit : pick(random, {1, 1500, 8000, 64'000, kInjectionLimitMax});
  };
  policy.port_bytes = limit();
  for (ApplicationPolicy::Limit& one : policy.limits) one.bytes = limit();
}

// Of addresses as hosts here have them (sim/hosts/sim_frame.cc).
IpPrefix prefix(Random& random) {
  const bool v6 = one_in(random, 2);
  const uint8_t host = static_cast<uint8_t>(random.below(8)), of_four = host & 4;
  const size_t last = v6 ? 15 : 3;
  IpPrefix prefix{.l3 = static_cast<uint8_t>(v6 ? 6 : 4), .address = {v6 ? uint8_t{0xfd} : uint8_t{10}}, .bits = 8};
  if (one_in(random, 3)) return prefix;
  const bool one = one_in(random, 2);
  prefix.address[last] = one ? host : of_four;
  prefix.bits = static_cast<uint8_t>(8 * (last + 1) - (one ? 0 : 2));
  return prefix;
}

// By one or more of what operators tell applications by.
GroupRule rule(Random& random) {
  GroupRule rule;
  rule.group = static_cast<uint8_t>(random.below(kNoFlowGroup));
  const uint64_t one = random.below(6);
  const auto has = [&random, one](uint64_t field) { return field == one || one_in(random, 5); };
  if (has(0)) rule.vlan = static_cast<uint16_t>(pick(random, {1, 10, 20}));
  if (has(1)) rule.port = PortIndex::of(static_cast<uint32_t>(random.below(4)));
  if (has(2)) rule.ftag = static_cast<uint8_t>(random.below(3));
  if (has(3)) rule.dscp = static_cast<uint8_t>(8 * random.below(3));
  if (has(4)) rule.source = prefix(random);
  if (has(5)) rule.destination = prefix(random);
  return rule;
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
  for (uint64_t rules = random.below(4); rules > 0; --rules) policy.rules.push_back(rule(random));
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
