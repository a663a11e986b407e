// SPDX-License-Identifier: Apache-2.0
#include "node/fabric_records.h"

#include "flow_fixture.h"

namespace heddle::test::fabric_records_test {
namespace {

class FabricRecordsTest : public FlowTest {
 protected:
  FabricRecordsTest() {
    bring_up();
    entry_ = &reserve(fabric_, id_);
    before_ = entry_->ack_flow;
    entry_->data_flow += 1000;
  }
  template <typename... Records>
  void receive(uint8_t kind, const Records&... records) {
    Packet* packet = nullptr;
    pool_.allocate(&packet, 1);
    start_records(*packet, kind);
    (append_record(*packet, records), ...);
    finish_records(*packet, fabric_.session.tag(), 1, peer_->mac);
    LinkFrame frame{};
    ASSERT_EQ(check_frame(packet->data, packet->length, frame), DropReason::none);
    records_.receive(fabric_, frame, turn_.now());
  }
  // Of the entry's flow, so many bytes more are settled.
  AckRecord ack(uint32_t settled) const {
    return {.flow = id_,
            .flags = 0,
            .severity = 0,
            .ack_flow = entry_->ack_flow + settled,
            .lost_total = entry_->lost_total,
            .credit_limit = 0,
            .asked_by = 0};
  }
  bool reset() const { return count_of(fabric_, ProtocolEvent::session_reset) != 0; }

  FlowId id_ = kNoFlow;
  OutputFlow* entry_ = nullptr;
  uint32_t before_ = 0;
};

TEST_F(FabricRecordsTest, AnAckThatContradictsEndsTheSession) {
  receive(HEDDLE_ACK, ack(1000));
  EXPECT_EQ(entry_->ack_flow, before_ + 1000);
  EXPECT_FALSE(reset());
  receive(HEDDLE_ACK, ack(1));
  EXPECT_TRUE(reset());
  EXPECT_FALSE(fabric_.session.up());
}

TEST_F(FabricRecordsTest, AProbeIsAnsweredAtOnceAndFindsHoles) {
  InputFlow& flow = fabric_.input.flows[9];
  const uint32_t at = flow.next_data_flow;
  receive(HEDDLE_PROBE, ProbeRecord{9, at + 300});
  EXPECT_EQ(flow.lost_total, 300u);
  EXPECT_TRUE(fabric_.input.ack_urgent);
  EXPECT_TRUE(flow.flags & kFlowAckDue);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::probe_answered), 1u);
  receive(HEDDLE_PROBE, ProbeRecord{10, fabric_.input.flows[10].next_data_flow});
  EXPECT_TRUE(fabric_.input.flows[10].flags & kFlowAckDue) << "also where nothing is missing";
  EXPECT_FALSE(reset());
  receive(HEDDLE_PROBE, ProbeRecord{9, at + 300 + (1u << 30) + 1});
  EXPECT_TRUE(reset());
}

TEST_F(FabricRecordsTest, AProbeOfAFlowThatCannotBeIsAContradiction) {
  receive(HEDDLE_PROBE, ProbeRecord{FlowId::of(fabric_.input.flows.size() + 1), 0});
  EXPECT_TRUE(reset());
}

TEST_F(FabricRecordsTest, CreditsOfTheLinkAreTakenByChannel) {
  LinkCredits& credits = fabric_.credits[kFirstLosslessChannel];
  receive(HEDDLE_CREDIT, CreditRecord{.vc = kFirstLosslessChannel, .flags = 0, .sent_total = 0, .limit = 40});
  EXPECT_EQ(credits.limit(), 40u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::credit_loss_synced), 0u);
  receive(HEDDLE_CREDIT, CreditRecord{.vc = kFirstLosslessChannel, .flags = 0, .sent_total = 3, .limit = 40});
  EXPECT_EQ(credits.received_total(), 3u);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::credit_loss_synced), 1u);
  EXPECT_FALSE(reset());
  credits.take(kSecond);
  EXPECT_FALSE(credits.due(kMillisecond));
  receive(HEDDLE_CREDIT,
          CreditRecord{.vc = kFirstLosslessChannel, .flags = HEDDLE_CREDIT_ASK, .sent_total = 3, .limit = 40});
  EXPECT_TRUE(credits.due(kMillisecond)) << "it was asked";
}

TEST_F(FabricRecordsTest, CreditsThatCannotBeAreAContradiction) {
  receive(HEDDLE_CREDIT, CreditRecord{.vc = kLossyChannel, .flags = 0, .sent_total = 0, .limit = 1u << 20});
  EXPECT_TRUE(reset());
}

TEST_F(FabricRecordsTest, AChannelThatTheLinkHasNotIsAContradiction) {
  receive(HEDDLE_CREDIT,
          CreditRecord{.vc = static_cast<uint8_t>(fabric_.channels), .flags = 0, .sent_total = 0, .limit = 0});
  EXPECT_TRUE(reset());
}

TEST_F(FabricRecordsTest, WhatTheOtherEndHasNeedNotBeKept) {
  Packet* kept = packet(100, kWithRetry);
  const uint32_t first = fabric_.retry.next_sequence();
  fabric_.retry.keep(kept, 0);
  receive(HEDDLE_RETRY, RetryRecord{.sequence = first});
  EXPECT_TRUE(gone(kept));
  EXPECT_EQ(fabric_.retry.kept(), 0u);
  EXPECT_FALSE(reset());
  receive(HEDDLE_RETRY, RetryRecord{.sequence = first + 1});
  EXPECT_TRUE(reset()) << "that was never sent";
}

TEST_F(FabricRecordsTest, NewsOfLinksAreTakenOnce) {
  link_states_.take_effect();
  receive(HEDDLE_NOTICE, NoticeRecord{2, 7, 3, 0}, NoticeRecord{999, 7, 3, 0});
  EXPECT_EQ(link_state_.record(1).sequence, 7u);
  EXPECT_TRUE(link_states_.take_effect());
  receive(HEDDLE_NOTICE, NoticeRecord{2, 7, 3, 0});
  EXPECT_FALSE(link_states_.take_effect());
  EXPECT_FALSE(reset());
}

}  // namespace
}  // namespace heddle::test::fabric_records_test
