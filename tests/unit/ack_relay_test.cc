// SPDX-License-Identifier: Apache-2.0
#include "node/ack_relay.h"

#include "flow_fixture.h"

namespace heddle::test::ack_relay_test {
namespace {

class AckRelayTest : public FlowTest {
 protected:
  // An entry of port 2 with something to tell to flow 7 of an input port.
  OutputFlow& telling(PortIndex input, uint32_t settled, uint32_t lost = 0) {
    id_ = output_.output.flows.reserve(InputFlowRef::of(1, input, 7), kLossy, 0);
    OutputFlow& entry = output_.output.flows[id_];
    entry.pending_ack = settled;
    entry.pending_lost = lost;
    settlement_.mark(output_, id_, entry);
    return entry;
  }
  std::vector<Settled> settled() {
    outbox_.hand_over_all();
    std::vector<Settled> all(8);
    all.resize(crossing_.settled.take(all.data(), 8));
    return all;
  }
  // Flow 7 of port 0, with so many bytes under way by the entry.
  InputFlow& input_flow(uint32_t bytes) {
    InputFlow& flow = edge_.input.flows[7];
    flow.begin({1, kOutput}, kLossy, kNoMatch);
    flow.data_flow = flow.next_data_flow = bytes;
    flow.branch.set_output(kOutput);
    flow.branch.flow = id_;
    return flow;
  }

  FlowId id_ = kNoFlow;
};

TEST_F(AckRelayTest, AnInputOfThisWorkerHearsAtOnce) {
  OutputFlow& entry = telling(kEdge, 600, 50);
  const InputFlow& flow = input_flow(1000);
  ack_relay_.run(0);
  EXPECT_EQ(flow.flow_extent(), 400u);
  EXPECT_EQ(flow.lost_total, 50u);
  EXPECT_EQ(entry.pending_ack | entry.pending_lost, 0u);
  EXPECT_FALSE(entry.flags & kOutputDirty);
  EXPECT_FALSE(flow.flags & kFlowLeaving);
  ack_relay_.run(0);
  EXPECT_EQ(flow.flow_extent(), 400u) << "once";
}

TEST_F(AckRelayTest, WithItWhatItIsToKnowBesides) {
  OutputFlow& entry = telling(kEdge, 100);
  const InputFlow& flow = input_flow(1000);
  settlement_.tell_congestion(output_, id_, entry, 5);
  entry.flags |= kOutputCredit | kOutputMetered | kOutputEndDue;
  poke(entry.credit_limit, 900);
  entry.credit_base = 200;
  ack_relay_.run(0);
  EXPECT_TRUE(flow.flags & kFlowLimited);
  EXPECT_EQ(entry.told, 5);
  EXPECT_TRUE(flow.flags & kFlowMetered);
  EXPECT_TRUE(edge_.input.meters[7].allows(700));
  EXPECT_FALSE(edge_.input.meters[7].allows(701));
  EXPECT_TRUE(flow.flags & kFlowLeaving) << "the path has ended";
  EXPECT_EQ(entry.flags, kOutputMetered);
}

// One thing to tell has no other one with it.
TEST_F(AckRelayTest, CreditAloneIsCreditAlone) {
  OutputFlow& entry = telling(kEdge, 100);
  const InputFlow& flow = input_flow(1000);
  entry.flags |= kOutputCredit | kOutputMetered;
  poke(entry.credit_limit, 900);
  ack_relay_.run(0);
  EXPECT_TRUE(flow.flags & kFlowMetered);
  EXPECT_FALSE(flow.flags & (kFlowLimited | kFlowLeaving));
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 0u);
}

TEST_F(AckRelayTest, ARedirectAloneLeavesCreditAsItIs) {
  OutputFlow& entry = telling(kEdge, 100);
  InputFlow& flow = input_flow(1000);
  flow.flags |= kFlowMetered;
  entry.flags |= kOutputRedirect;
  ack_relay_.run(0);
  EXPECT_EQ(count_of(edge_, ProtocolEvent::redirect_ended), 1u) << "there is no other way to a host here";
  EXPECT_TRUE(flow.flags & kFlowMetered);
  EXPECT_FALSE(flow.flags & kFlowLimited);
}

TEST_F(AckRelayTest, ARedirectOfAnotherWorkersFlowSaysWhoAsks) {
  OutputFlow& entry = telling(kOther, 100);
  entry.flags |= kOutputRedirect;
  output_.output.asked_by[id_] = 3;
  ack_relay_.run(0);
  const std::vector<Settled> told = settled();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].redirect);
  EXPECT_EQ(told[0].asked_by, 3);
  EXPECT_FALSE(told[0].tells);
  EXPECT_FALSE(told[0].path_ended);
  EXPECT_TRUE(messages().empty());
}

TEST_F(AckRelayTest, TheOtherWorkersInputHearsByTheOutbox) {
  OutputFlow& entry = telling(kOther, 600, 50);
  settlement_.tell_congestion(output_, id_, entry, 5);
  entry.flags |= kOutputEndDue;
  ack_relay_.run(0);
  const std::vector<Settled> told = settled();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].input, InputFlowRef::of(1, kOther, 7));
  EXPECT_EQ(told[0].acknowledged, 600u);
  EXPECT_EQ(told[0].lost, 50u);
  EXPECT_TRUE(told[0].path_ended);
  EXPECT_TRUE(told[0].tells);
  EXPECT_FALSE(told[0].redirect);
  EXPECT_EQ(told[0].congestion, 5);
  EXPECT_EQ(entry.told, 5);
  EXPECT_EQ(entry.pending_ack, 0u);
  EXPECT_EQ(entry.flags, 0u);
  EXPECT_TRUE(messages().empty());
}

TEST_F(AckRelayTest, CreditByItselfIsAMessage) {
  OutputFlow& entry = telling(kOther, 0);
  entry.flags |= kOutputCredit | kOutputMetered;
  poke(entry.credit_limit, 900);
  entry.credit_base = 200;
  ack_relay_.run(0);
  const std::vector<Message> told = messages();
  ASSERT_EQ(told.size(), 1u);
  const auto credit = std::get<TellCredit>(told[0]);
  EXPECT_EQ(credit.input, InputFlowRef::of(1, kOther, 7));
  EXPECT_TRUE(credit.metered);
  EXPECT_EQ(credit.limit, 700u);
  EXPECT_TRUE(settled().empty());
  EXPECT_EQ(entry.flags, kOutputMetered);
  settlement_.mark(output_, id_, entry);
  entry.flags = static_cast<uint16_t>((entry.flags | kOutputCredit) & ~kOutputMetered);
  entry.pending_ack = 1;
  ack_relay_.run(0);
  const std::vector<Message> again = messages();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_FALSE(std::get<TellCredit>(again[0]).metered);
  EXPECT_EQ(settled().size(), 1u) << "what is settled besides";
}

TEST_F(AckRelayTest, WhatAFullRingDoesNotTakeIsToldNextTurn) {
  OutputFlow& entry = telling(kOther, 600);
  Settled other{};
  other.input = InputFlowRef::of(1, kOther, 1);
  while (outbox_.settled(other)) {
  }
  ack_relay_.run(0);
  EXPECT_EQ(entry.pending_ack, 600u);
  EXPECT_EQ(told(), std::vector<uint32_t>{flow_item(kOutput, id_)});
  entry.flags = kOutputCredit;
  fill_messages();
  settlement_.mark(output_, id_, entry);
  ack_relay_.run(0);
  EXPECT_TRUE(entry.flags & kOutputCredit);
  EXPECT_EQ(settlement_.begin_telling().size(), 1u);
}

TEST_F(AckRelayTest, AnOrphanHasNobodyToTellAndIsFreeThen) {
  OutputFlow& entry = telling(kEdge, 600);
  const InputFlow& flow = input_flow(1000);
  entry.state = OutputFlowState::orphan;
  ack_relay_.run(0);
  EXPECT_EQ(flow.flow_extent(), 1000u);
  EXPECT_EQ(entry.state, OutputFlowState::free);
  EXPECT_EQ(entry.pending_ack, 0u);
  EXPECT_EQ(count_of(output_, ProtocolEvent::ack_absorbed), 1u);
}

}  // namespace
}  // namespace heddle::test::ack_relay_test
