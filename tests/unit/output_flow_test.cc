// SPDX-License-Identifier: Apache-2.0
#include "flow/output_flow.h"

#include <gtest/gtest.h>

#include <vector>

#include "poke.h"

namespace heddle::output_flow_test {
namespace {

// So many inputs, whose flows go on in these channels.
std::vector<ChannelSet> inputs(size_t count, ChannelSet channels = 1) {
  return std::vector<ChannelSet>(count, channels);
}

// How many more an input can have in a channel.
uint32_t take_all(OutputFlowTable& table, PortIndex input, uint8_t channel) {
  uint32_t taken = 0;
  for (; table.may_reserve(input, channel); ++taken) EXPECT_NE(table.reserve({1, input, 1}, 0, channel), kNoFlow);
  EXPECT_EQ(table.reserve({1, input, 1}, 0, channel), kNoFlow);
  return taken;
}

TEST(OutputFlow, IsPlainWhileReservedWithNothingToTell) {
  OutputFlow plain{};
  plain.state = OutputFlowState::reserved;
  plain.backoff = plain.ftag = 0xff;
  EXPECT_TRUE(plain.is_plain());
  for (unsigned bit = 0; bit < 16; ++bit) {
    OutputFlow entry = plain;
    entry.flags = static_cast<uint16_t>(1u << bit);
    EXPECT_EQ(entry.is_plain(), entry.flags == kOutputTimed) << "flag " << entry.flags;
  }
  for (unsigned bit = 0; bit < 8; ++bit) {
    OutputFlow congested = plain, told = plain;
    test::poke(congested.congestion, static_cast<uint8_t>(1u << bit));
    test::poke(told.told, static_cast<uint8_t>(1u << bit));
    EXPECT_FALSE(congested.is_plain() || told.is_plain());
  }
  for (const OutputFlowState state : {OutputFlowState::free, OutputFlowState::orphan}) {
    plain.state = state;
    EXPECT_FALSE(plain.is_plain());
  }
}

TEST(OutputFlowTable, GivesEachIdOnceAndTheLastFreedFirst) {
  OutputFlowTable table(4, inputs(1));
  const FlowId first = table.reserve({1, 0, 10}, 0, 0), second = table.reserve({1, 0, 11}, 0, 0);
  EXPECT_NE(first, second);
  EXPECT_EQ(table[first].input.flow, 10);
  table.free(first);
  EXPECT_EQ(table.reserve({1, 0, 12}, 0, 0), first);  // its entry is still in the cache
  EXPECT_EQ(table.used(), 2u);
}

TEST(OutputFlowTable, NoInputTakesAllIds) {
  OutputFlowTable table(16, inputs(4));  // each has its one, and one of the half of the 12 others
  EXPECT_EQ(take_all(table, 0, 0), 16u - 3 * 2);
  for (PortIndex input = 1; input < 4; ++input) EXPECT_EQ(take_all(table, input, 0), 2u);
  EXPECT_EQ(table.used(), 16u);
}

// K11: whatever flows of another channel have, of this input or of others.
TEST(OutputFlowTable, NoChannelTakesAllIds) {
  OutputFlowTable table(22, {0b0110, 0b0110, 0, 0b0001});  // five, and 2 of the 8 for each of three
  EXPECT_EQ(take_all(table, 0, 2), 22u - 1 - 2 * 2 - 2 - 1);
  EXPECT_EQ(take_all(table, 0, 1), 1u);
  EXPECT_EQ(take_all(table, 3, 0), 1u + 2);
  EXPECT_EQ(take_all(table, 1, 1), 1u + 2);
  EXPECT_EQ(take_all(table, 1, 2), 1u);
  EXPECT_EQ(table.used(), 22u);
}

TEST(OutputFlowTable, AsManyIdsAsChannelsAreEnough) {
  OutputFlowTable table(5, {0b0110, 0b0110, 0b0001});
  for (PortIndex input = 0; input < 2; ++input)
    for (uint8_t channel = 1; channel < 3; ++channel) EXPECT_EQ(take_all(table, input, channel), 1u);
  EXPECT_EQ(take_all(table, 2, 0), 1u);
}

// Who has no channel there has of what is anybody's.
TEST(OutputFlowTable, NothingIsKeptForAChannelThatAnInputHasNot) {
  OutputFlowTable table(5, {0b0010, 0});
  EXPECT_EQ(take_all(table, 1, 1), 2u);
  EXPECT_EQ(take_all(table, 0, 3), 2u) << "the half of the other four";
  EXPECT_EQ(take_all(table, 0, 1), 1u);
}

TEST(OutputFlowTable, AGuaranteeComesBackWithItsId) {
  for (const auto& [channel, others] : {std::pair{uint8_t{0}, uint8_t{0}}, std::pair{uint8_t{1}, uint8_t{1}}}) {
    OutputFlowTable table(10, inputs(2, static_cast<ChannelSet>(1u << channel)));
    std::vector<FlowId> mine;
    for (FlowId id; (id = table.reserve({1, 0, 1}, 0, channel)) != kNoFlow;) mine.push_back(id);
    EXPECT_EQ(mine.size(), 7u);
    for (FlowId id : mine) table.free(id);
    EXPECT_EQ(take_all(table, 1, others), 7u);
    EXPECT_EQ(take_all(table, 0, channel), 3u);
  }
}

TEST(OutputFlowTable, TheFirstOfAChannelComesBackLast) {
  OutputFlowTable table(6, {0b0110, 0b0110});
  const FlowId first = table.reserve({1, 0, 1}, 0, 1), second = table.reserve({1, 0, 2}, 0, 1);
  table.free(first);
  EXPECT_EQ(table[second].channel, 1);
  EXPECT_EQ(take_all(table, 1, 2), 3u) << "one is the input's in its other channel, two are kept for the other input";
  EXPECT_EQ(take_all(table, 0, 2), 1u);
  EXPECT_FALSE(table.may_reserve(0, 1)) << "the one that is left is its own";
  table.free(second);
  EXPECT_EQ(take_all(table, 0, 1), 1u);
}

TEST(OutputFlowTable, CountsTheIdsOfEachClass) {
  OutputFlowTable table(8, inputs(1));
  EXPECT_EQ(table.size(), 8u);
  const FlowId one = table.reserve({1, 0, 1}, 3, 0);
  table.reserve({1, 0, 2}, 3, 0);
  EXPECT_EQ(table.used_of(3), 2u);
  table.set_class(table[one], 5);
  EXPECT_EQ(table[one].ftag, 5);
  EXPECT_EQ(table.used_of(3), 1u);
  EXPECT_EQ(table.used_of(5), 1u);
  table.free(one);
  EXPECT_EQ(table.used_of(5), 0u);
  EXPECT_EQ(table.used(), 1u);
}

TEST(OutputFlowTable, KnowsWhichIdsThereAre) {
  OutputFlowTable table(3, inputs(1));
  for (const uint16_t id : {1, 2, 3}) EXPECT_TRUE(table.valid(FlowId::of(id))) << id;
  for (const uint16_t id : {0, 4, 0xffff}) EXPECT_FALSE(table.valid(FlowId::of(id))) << id;
  for (int id = 1; id <= 3; ++id) EXPECT_EQ(table.reserve({1, 0, 1}, 0, 0), FlowId::of(id)) << "the first one first";
  table.timer_link(2) = 77;
  EXPECT_EQ(table.timer_link(2), 77u);
  EXPECT_NE(table.timer_link(1), 77u);
}

TEST(OutputFlowTable, AnIdThatIsGivenOutKnowsNothingOfTheFlowBefore) {
  OutputFlowTable table(2, inputs(1, 0b0010));
  const FlowId id = table.reserve({1, 0, 9}, 2, 1);
  OutputFlow& flow = table[id];
  EXPECT_EQ(flow.state, OutputFlowState::reserved);
  flow.data_flow = flow.ack_flow = 7000;
  flow.backoff = 3;
  flow.flags = kOutputTimed | kOutputMetered | kOutputTell;
  test::poke(flow.congestion, 5);
  test::poke(flow.told, 6);
  table.free(id);
  EXPECT_EQ(flow.state, OutputFlowState::free);
  EXPECT_EQ(flow.flags, kOutputTimed) << "its timer runs on";
  EXPECT_EQ(table.reserve({4, 0, 8}, 1, 1), id);
  EXPECT_EQ(flow.input.flow, 8);
  EXPECT_EQ(flow.input.epoch, 4);
  EXPECT_EQ(flow.ftag, 1);
  EXPECT_EQ(flow.channel, 1);
  EXPECT_EQ(flow.backoff, 0);
  EXPECT_EQ(flow.congestion, 0);
  EXPECT_EQ(flow.told, 0);
  EXPECT_EQ(flow.credit_base, 7000u);
}

TEST(OutputFlow, IsAtRestWhenNothingIsLeftOfIt) {
  OutputFlow flow{};
  flow.data_flow = flow.ack_flow = 0xfffffff0;
  flow.data_flow += 0x20;
  EXPECT_EQ(flow.extent(), 0x20u);
  EXPECT_FALSE(flow.at_rest());
  flow.ack_flow = flow.data_flow;
  EXPECT_TRUE(flow.at_rest());
  flow.queued = 1;
  EXPECT_FALSE(flow.at_rest());
  flow.queued = 0;
  for (const uint16_t flag : {kOutputDirty, kOutputCounted, kOutputEnded}) {
    flow.flags = flag;
    EXPECT_FALSE(flow.at_rest()) << flag;
  }
  flow.flags = kOutputTimed | kOutputTell | kOutputMetered;
  EXPECT_TRUE(flow.at_rest());
}

TEST(OutputFlow, WhatWasLostIsToldWithWhatWasSettled) {
  OutputFlow flow{};
  flow.pending_ack = 1000;
  flow.settle_lost(300);
  flow.settle_lost(20);
  EXPECT_EQ(flow.pending_ack, 1320u);
  EXPECT_EQ(flow.pending_lost, 320u);
  flow.flags = kOutputTimed | kOutputMetered | kOutputEndDue | kOutputTell | kOutputCredit | kOutputRedirect;
  flow.take_pending();
  EXPECT_EQ(flow.pending_ack + flow.pending_lost, 0u);
  EXPECT_EQ(flow.flags, kOutputTimed | kOutputMetered);
}

}  // namespace
}  // namespace heddle::output_flow_test
