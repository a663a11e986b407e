// SPDX-License-Identifier: Apache-2.0
#include "node/regrouping.h"

#include "component_fixture.h"

namespace heddle::test::regrouping_test {
namespace {

// A port of a node that tells applications apart by VLAN: 7 is group 1 and becomes group 2, 8 is group 3 and stays it.
class RegroupingTest : public ComponentTest {
 protected:
  static constexpr uint16_t kMoving = 7, kStaying = 8;

  RegroupingTest() {
    policy_.configured = true;
    policy_.rules.resize(3);
    policy_.rules[0] = rule(1, kMoving);
    policy_.rules[1] = rule(3, kStaying);
    policy_.rules[2] = rule(2, 99);  // it is known before
    policy_.port_bytes = 1 << 20;
    options_.applications = &policy_;
    port_ = make_port(options_, kEdge);
    std::vector<Port*> ports(6);
    ports[kEdge] = port_.get();
    own_ = std::make_unique<Ports>(ports);
  }
  static GroupRule rule(uint8_t group, uint16_t vlan) {
    GroupRule rule;
    rule.group = group;
    rule.vlan = vlan;
    return rule;
  }
  uint32_t match_of(uint16_t number, uint16_t vlan) {
    struct Nobody {
      bool idle(uint32_t) const { return false; }
    };
    MatchKey key{};
    store_mac(key.macs, number);
    key.vni = vlan;
    MatchTable& matches = edge_.matches();
    const uint32_t match = matches.add(key, matches.hash(key), Nobody{});
    matches[match].flags = kMatchUsed;
    matches[match].group = vlan == kMoving ? 1 : 3;
    matches[match].flow = kNoFlow;
    return match;
  }
  // A flow with so many packets of 100 bytes in its queue.
  FlowId begin(uint16_t vlan, uint32_t packets) {
    const uint32_t match = match_of(next_++, vlan);
    const FlowId id = port_->input.flows.take();
    InputFlow& flow = port_->input.flows[id];
    edge_.matches()[match].flow = id;
    flow.begin({1, kOutput}, kLossy, match, edge_.matches()[match].group);
    port_->input.waiting.shares.took(flow.group);
    for (uint32_t i = 0; i < packets; ++i) {
      flow.next_data_flow += 100;
      queues_.push(*port_, id, flow, packet(100), turn_.now());
    }
    return id;
  }
  // In the line for an output flow ID.
  void want(FlowId id) { port_->input.ids[kOutput].wanting.push(port_->input.flows, 0, id); }
  Packet* wait_for_id(uint16_t vlan) {
    Packet* packet = this->packet(100);
    packet->position = match_of(next_++, vlan);
    port_->input.waiting.push(edge_.matches()[packet->position].group, packet);
    return packet;
  }
  void regroup() {
    policy_.rules[0].group = 2;
    Regrouping(site_, *own_, edge_, flow_pauses_).run();
  }
  uint8_t group(FlowId id) const { return port_->input.flows[id].group; }
  uint64_t regrouped() const { return count_of(*port_, ProtocolEvent::flow_regrouped); }

  ApplicationPolicy policy_;
  NodeOptions options_ = options(0);
  std::unique_ptr<Port> port_;
  std::unique_ptr<Ports> own_;
  EdgeInput edge_{topology_, policy_, 64, 64, HashKey{{1, 2, 3, 4}}, *std::pmr::get_default_resource()};
  FlowPauses flow_pauses_{site_, turn_, edge_, control_, events_};
  FlowQueues queues_{site_, flow_credits_, flow_pauses_, waiting_};
  uint16_t next_ = 1;
};

TEST_F(RegroupingTest, FlowsHaveTheGroupOfTheNewPolicy) {
  const FlowId moving = begin(kMoving, 0), staying = begin(kStaying, 0);
  const uint32_t version = edge_.stations().version();
  regroup();
  EXPECT_EQ(group(moving), 2);
  EXPECT_EQ(group(staying), 3);
  EXPECT_EQ(edge_.matches()[port_->input.flows[moving].match].group, 2);
  EXPECT_EQ(regrouped(), 1u);
  EXPECT_NE(edge_.stations().version(), version) << "entries without a flow are looked at anew";
  IdShares& shares = port_->input.waiting.shares;
  EXPECT_EQ(shares.held(1), 0u);
  EXPECT_EQ(shares.held(2), 1u);
  EXPECT_EQ(shares.held(3), 1u);
  regroup();
  EXPECT_EQ(regrouped(), 1u) << "nothing changes any more";
  EXPECT_EQ(shares.held(2), 1u);
}

TEST_F(RegroupingTest, WhatIsQueuedGoesAlong) {
  begin(kMoving, 3);
  begin(kStaying, 2);
  const InputQueues& queues = port_->input.queues;
  ASSERT_EQ(queues.packets(1, false), 3u);
  regroup();
  EXPECT_EQ(queues.packets(1, false), 0u);
  EXPECT_EQ(queues.packets(2, false), 3u);
  EXPECT_EQ(queues.packets(3, false), 2u);
  EXPECT_EQ(queues.packets(), 5u);
}

TEST_F(RegroupingTest, WhoWantsAnIdKeepsItsPlace) {
  const FlowId first = begin(kMoving, 1), second = begin(kMoving, 1), other = begin(kStaying, 1);
  for (const FlowId id : {first, second, other}) want(id);
  regroup();
  WantingFlows& wanting = port_->input.ids[kOutput].wanting;
  EXPECT_EQ(wanting.count(0), 3u);
  EXPECT_EQ(wanting.shares(0).waiting(1), 0u);
  EXPECT_EQ(wanting.shares(0).waiting(2), 2u);
  EXPECT_EQ(wanting.shares(0).waiting(3), 1u);
  std::vector<FlowId> of_two;
  while (!wanting.empty())
    if (const FlowId id = wanting.pop(port_->input.flows, 0); group(id) == 2) of_two.push_back(id);
  EXPECT_EQ(of_two, (std::vector<FlowId>{first, second}));
}

TEST_F(RegroupingTest, AnOutputFlowIdCountsForTheNewGroup) {
  const FlowId id = begin(kMoving, 1);
  InputFlow& flow = port_->input.flows[id];
  flow.branch.set_output(kOutput);
  flow.branch.voq = site_.voq_index(kOutput, 0);
  flow.branch.flow = FlowId::of(5);
  WantingFlows& wanting = port_->input.ids[kOutput].wanting;
  regroup();
  EXPECT_EQ(wanting.shares(0).held(1), 0u);
  EXPECT_EQ(wanting.shares(0).held(2), 1u);
}

// A6: counted anew, of what leaves by the fabric.
TEST_F(RegroupingTest, WhatIsInjectedIsStillCounted) {
  InputArbiter& arbiter = port_->input.arbiter;
  const VoqIndex away = site_.voq_index(kFabric, 0), here = site_.voq_index(kOutput, 0);
  ASSERT_TRUE(arbiter[away].injects);
  ASSERT_FALSE(arbiter[here].injects);
  for (const auto& [queue, bytes] : {std::pair(away, 300u), {here, 200u}, {away, 0u}}) {
    InputFlow& flow = port_->input.flows[begin(kMoving, 0)];
    flow.branch.voq = queue;
    flow.data_flow = flow.next_data_flow = flow.ack_flow + bytes;
  }
  arbiter.inject(arbiter.injects_as(arbiter[away], 1), 300);
  policy_.groups[2].limit = 4;
  regroup();
  EXPECT_EQ(arbiter.injection().injected_bytes(4), 300u);
  EXPECT_EQ(arbiter.injection().injected_bytes(), 300u);
}

TEST_F(RegroupingTest, WithoutALimitNothingIsCountedAsInjected) {
  const VoqIndex away = site_.voq_index(kFabric, 0);
  InputFlow& flow = port_->input.flows[begin(kMoving, 0)];
  flow.branch.voq = away;
  flow.data_flow = flow.next_data_flow = flow.ack_flow + 300;
  const InputArbiter& arbiter = port_->input.arbiter;
  policy_.port_bytes = kNoInjectionLimit;
  regroup();
  EXPECT_FALSE(arbiter[away].injects);
  EXPECT_EQ(arbiter.injection().injected_bytes(), 0u);
  policy_.limits[7].bytes = 1000;
  Regrouping(site_, *own_, edge_, flow_pauses_).run();
  EXPECT_TRUE(arbiter[away].injects);
  EXPECT_EQ(arbiter.injection().injected_bytes(), 300u);
}

// Of the first output as well, and with the last flow ID.
TEST_F(RegroupingTest, NoneIsForgotten) {
  while (port_->input.flows.available() > 1) port_->input.flows.take();
  const FlowId last = begin(kMoving, 1);
  EXPECT_EQ(last, port_->input.flows.size());
  port_->input.ids[0].wanting.push(port_->input.flows, 0, last);
  regroup();
  EXPECT_EQ(group(last), 2);
  EXPECT_EQ(port_->input.ids[0].wanting.shares(0).waiting(2), 1u);
  EXPECT_EQ(port_->input.ids[0].wanting.pop(port_->input.flows, 0), last);
}

TEST_F(RegroupingTest, ReadyQueuesKeepTheirOrder) {
  const FlowId first = begin(kMoving, 1), second = begin(kMoving, 1);
  const VoqIndex queue = site_.voq_index(kOutput, 0);
  for (const FlowId id : {first, second}) {
    port_->input.flows[id].branch.set_output(kOutput);
    port_->input.arbiter.push(queue, id);
  }
  regroup();
  InputArbiter& arbiter = port_->input.arbiter;
  ASSERT_EQ(arbiter[queue].ready(), 2u);
  EXPECT_EQ(arbiter.peek(queue), first);
  arbiter.commit(queue, false, 100);
  EXPECT_EQ(arbiter.peek(queue), second);
}

TEST_F(RegroupingTest, FramesThatWaitForAFlowIdStayInOrder) {
  const Packet* first = wait_for_id(kMoving);
  const Packet* second = wait_for_id(kMoving);
  const Packet* other = wait_for_id(kStaying);
  regroup();
  WaitingFrames& waiting = port_->input.waiting;
  EXPECT_EQ(waiting.count(), 3u);
  EXPECT_EQ(waiting.shares.waiting(1), 0u);
  EXPECT_EQ(waiting.shares.waiting(2), 2u);
  std::vector<const Packet*> moved;
  while (!waiting.empty())
    if (const Packet* packet = waiting.pop_any(); packet != other) moved.push_back(packet);
  EXPECT_EQ(moved, (std::vector<const Packet*>{first, second}));
}

// A node gets its first policy, and has none any more: tables by group come and go, and nothing that stood in one is
// lost.
TEST_F(RegroupingTest, ANodeMayHaveNoApplicationsAnyMore) {
  const FlowId queued = begin(kMoving, 3), wants = begin(kStaying, 2), ready = begin(kStaying, 1);
  const FlowId detached = port_->input.flows.take();
  port_->input.flows[detached].begin({1, kOutput}, kLossy, kNoMatch, 3);
  want(wants);
  const VoqIndex away = site_.voq_index(kFabric, 0);
  InputFlow& injecting = port_->input.flows[ready];
  injecting.branch.set_output(kFabric);
  injecting.branch.flow = FlowId::of(5);
  injecting.branch.voq = away;
  injecting.data_flow = injecting.ack_flow + 300;
  injecting.branch.injects = port_->input.arbiter.injects_as(port_->input.arbiter[away], 3);
  port_->input.arbiter.inject(injecting.branch.injects, 300);
  port_->input.arbiter.push(away, ready);
  Packet* waits = wait_for_id(kMoving);
  InputSide& input = port_->input;

  policy_.configured = false;
  Regrouping(site_, *own_, edge_, flow_pauses_).run();
  for (const FlowId id : {queued, wants, ready, detached}) EXPECT_EQ(group(id), 0) << id;
  EXPECT_EQ(edge_.matches()[input.flows[queued].match].group, 0);
  EXPECT_EQ(input.arbiter.groups(), 1u);
  EXPECT_FALSE(input.arbiter[away].injects);
  EXPECT_EQ(input.arbiter.injection().injected_bytes(), 0u) << "nobody counts it";
  EXPECT_EQ(injecting.branch.injects, kInjectsNothing);
  EXPECT_EQ(input.arbiter.peek(away), ready);
  input.arbiter.commit(away, true, 100);
  EXPECT_EQ(input.arbiter.peek(away), ready) << "it has more, and is alone";
  EXPECT_EQ(input.queues.packets(0, false), 6u);
  EXPECT_EQ(input.queues.of_group(0).dropped_frames, 0u) << "what was counted of groups is gone";
  EXPECT_EQ(input.queues.packets(), 6u);
  EXPECT_EQ(input.ids[kOutput].wanting.of(0, 0).head, wants);
  EXPECT_EQ(input.ids[kFabric].wanting.held(0), 1u);
  EXPECT_EQ(input.waiting.first(0), waits);
  EXPECT_TRUE(input.waiting.has_room(0, 2)) << "one group may have all";

  policy_.configured = true;
  Regrouping(site_, *own_, edge_, flow_pauses_).run();
  EXPECT_EQ(input.arbiter.groups(), kGroups);
  EXPECT_EQ(group(queued), 1);
  EXPECT_EQ(group(wants), 3);
  EXPECT_EQ(group(detached), 0);
  EXPECT_TRUE(input.arbiter[away].injects);
  EXPECT_EQ(input.arbiter.injection().injected_bytes(), 300u);
  EXPECT_EQ(input.arbiter.peek(away), ready);
  EXPECT_EQ(input.queues.packets(0, false), 0u);
  EXPECT_EQ(input.queues.packets(1, false), 3u);
  EXPECT_EQ(input.queues.packets(3, false), 3u);
  EXPECT_EQ(input.ids[kOutput].wanting.of(0, 3).head, wants);
  EXPECT_EQ(input.ids[kFabric].wanting.shares(0).held(3), 1u);
  EXPECT_EQ(input.waiting.shares.held(1), 1u);
  EXPECT_EQ(input.waiting.shares.held(3), 2u);
  EXPECT_EQ(input.waiting.first(1), waits);
}

TEST_F(RegroupingTest, AFlowWhoseEntryIsAnothersKeepsItsGroup) {
  const FlowId resting = begin(kMoving, 0), other = begin(kStaying, 0);
  const uint32_t match = port_->input.flows[resting].match;
  edge_.matches()[match].flow = other;  // evicted while it rested, and used again
  regroup();
  EXPECT_EQ(group(resting), 1);
}

TEST_F(RegroupingTest, AFlowWithoutAMatchKeepsItsGroup) {
  const FlowId id = port_->input.flows.take();
  port_->input.flows[id].begin({1, kOutput}, kLossy, kNoMatch, 3);
  regroup();
  EXPECT_EQ(group(id), 3);
  EXPECT_EQ(regrouped(), 0u);
}

}  // namespace
}  // namespace heddle::test::regrouping_test
