// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <vector>

#include "flow/input_flow.h"
#include "flow/match_table.h"
#include "flow/output_flow.h"
#include "flow/timer_wheel.h"
#include "flow/token_bucket.h"
#include "poke.h"
#include "wire/random.h"

namespace heddle::flow_tables_test {
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

TEST(InputFlow, LostBytesAdvanceAllTotalsTogether) {
  InputFlow flow{};
  flow.next_data_flow = flow.data_flow = flow.ack_flow = 0xffffff00;
  flow.next_data_flow += 0x200;
  flow.settle_lost(0x200);
  EXPECT_EQ(flow.queue_extent(), 0u);
  EXPECT_EQ(flow.flow_extent(), 0u);
  EXPECT_EQ(flow.lost_total, 0x200u);
}

TEST(InputFlow, BeginsAnewAtThePositionWhereItsIdIs) {
  InputFlow flow{};
  flow.data_flow = flow.next_data_flow = flow.ack_flow = 5000;
  flow.branch.output = 3;
  flow.branch.turn_start = 1000;
  test::poke(flow.congestion, 9);
  flow.begin({12, 4}, 2, 33);
  EXPECT_TRUE(flow.in_use());
  EXPECT_EQ(flow.destination, (FabricAddress{12, 4}));
  EXPECT_EQ(flow.ftag, 2);
  EXPECT_EQ(flow.match, 33u);
  EXPECT_EQ(flow.branch.output, kNoPort);
  EXPECT_EQ(flow.branch.turn_start, 5000u) << "it has had no turn yet (K11)";
  EXPECT_EQ(flow.congestion, 0);
  EXPECT_EQ(flow.queue_extent() + flow.flow_extent(), 0u) << "positions run on";
}

// Its totals still go upstream: there it has not come to rest, and its level holds.
TEST(InputFlow, ThatIsStillToBeToldUpstreamKeepsItsLevel) {
  InputFlow flow{};
  flow.flags = kFlowAckDue;
  test::poke(flow.congestion, 9);
  flow.begin({12, 4}, 2, kNoMatch);
  EXPECT_EQ(flow.congestion, 9);
  EXPECT_EQ(flow.flags, kFlowInUse | kFlowAckDue);
}

TEST(SerialNumbers, AreComparedAcrossTheirWrap) {
  EXPECT_TRUE(serial_before(0xfffffff0, 5));
  EXPECT_FALSE(serial_before(5, 0xfffffff0));
  EXPECT_FALSE(serial_before(5, 5));
  EXPECT_EQ(serial_distance(0xfffffff0, 5), 21);
  EXPECT_EQ(serial_distance(5, 0xfffffff0), -21);
}

TEST(InputFlowTable, ListsKeepOrder) {
  InputFlowTable flows(5);
  FlowList list;
  for (FlowId id = 1; id <= 5; ++id) flows.push(list, id);
  for (FlowId id = 1; id <= 5; ++id) EXPECT_EQ(flows.pop(list), id);
  EXPECT_TRUE(list.empty());
}

TEST(InputFlowTable, HandsOutEachIdOnce) {
  InputFlowTable flows(3);
  EXPECT_EQ(flows.available(), 3u);
  const std::set<FlowId> ids{flows.take(), flows.take(), flows.take()};
  EXPECT_EQ(ids, (std::set<FlowId>{1, 2, 3}));
  EXPECT_EQ(flows.take(), kNoFlow);
  flows.put(2);
  EXPECT_EQ(flows.available(), 1u);
  EXPECT_EQ(flows.take(), 2);
}

struct Wheel : testing::Test {
  TimerWheel wheel{kMillisecond};
  std::vector<uint32_t> links = std::vector<uint32_t>(100, kNoItem);
  std::vector<uint32_t> due;
  void add(uint32_t item, Nanos at) {
    wheel.add(item, at, [this](uint32_t i) -> uint32_t& { return links[i]; });
  }
  void advance(Nanos now) {
    wheel.advance(
        now, [this](uint32_t i) -> uint32_t& { return links[i]; }, [this](uint32_t i) { due.push_back(i); });
  }
};

TEST_F(Wheel, ItemsComeDueNotBeforeTheirTime) {
  add(1, 5 * kMillisecond);
  add(2, 9 * kMillisecond);
  advance(5 * kMillisecond);
  EXPECT_TRUE(due.empty());
  EXPECT_EQ(wheel.next_due(), 6 * kMillisecond);
  advance(6 * kMillisecond);
  EXPECT_EQ(due, std::vector<uint32_t>{1});
  advance(100 * kMillisecond);
  EXPECT_EQ(due, (std::vector<uint32_t>{1, 2}));
  EXPECT_EQ(wheel.next_due(), kNever);
}

TEST_F(Wheel, SurvivesALongGap) {
  add(1, 5 * kMillisecond);
  advance(3600 * kSecond);
  EXPECT_EQ(due, std::vector<uint32_t>{1});
  add(2, 3600 * kSecond + 2 * kMillisecond);
  advance(3600 * kSecond + 4 * kMillisecond);
  EXPECT_EQ(due, (std::vector<uint32_t>{1, 2}));
}

TEST(TokenBucket, LetsTheRateThrough) {
  TokenBucket bucket(1e9 / 1000, kMillisecond);  // 1,000 units per second
  uint32_t taken = 0;
  for (Nanos now = 0; now < kSecond; now += 10 * kMicrosecond)
    if (bucket.allows(now)) {
      bucket.take(now, 1);
      ++taken;
    }
  EXPECT_NEAR(taken, 1000, 3);
}

// As drawn at random: a key of small numbers is none.
constexpr HashKey kHashKey{{0x9e3779b97f4a7c15, 0xd1b54a32d192ed03, 0x8cb92ba72f3d8dd7, 0xf1357aea2e62a9c5}};

// Against a map: every key that was added is found, no other one, whatever was removed in between.
TEST(KeyedTable, KeepsWhatAMapKeeps) {
  constexpr uint32_t kCapacity = 1000;
  KeyedTable<uint32_t> table(kCapacity);
  std::map<uint64_t, uint32_t> kept;
  Random random(3);
  const auto hash = [](uint64_t key) { return keyed_hash(key, kHashKey); };
  for (int step = 0; step < 200'000; ++step) {
    const uint64_t key = random.below(2 * kCapacity);
    const auto known = kept.find(key);
    ASSERT_EQ(table.find(key, hash(key)), known == kept.end() ? kNotFound : known->second);
    if (known != kept.end()) {
      table.remove(key, hash(key));
      kept.erase(known);
    } else if (const uint32_t index = table.add(key, hash(key)); index != kNotFound) {
      EXPECT_EQ(table.key_at(index), key);
      EXPECT_TRUE(kept.emplace(key, index).second);
    } else {
      EXPECT_GT(kept.size(), kCapacity * 9 / 10);  // only a full table refuses
    }
  }
}

// All in one bucket: probes are bounded (K12), and what stands behind full buckets is found.
TEST(KeyedTable, BoundsItsProbes) {
  KeyedTable<uint32_t> table(1000);
  uint32_t added = 0;
  for (uint64_t key = 0; key < 100; ++key) added += table.add(key, 0x10000) != kNotFound;
  EXPECT_EQ(added, 32u);
  for (uint64_t key = 0; key < 100; ++key) EXPECT_EQ(table.find(key, 0x10000) != kNotFound, key < 32) << key;
  for (uint64_t key = 0; key < 8; ++key) table.remove(key, 0x10000);
  for (uint64_t key = 8; key < 32; ++key) EXPECT_NE(table.find(key, 0x10000), kNotFound) << key;
}

// Every byte of a key reaches both the bucket and the tag.
TEST(KeyedHash, HangsOnEveryByte) {
  const MatchTable table(MatchTable::kEntriesMin, kHashKey);
  const uint32_t hash = table.hash(MatchKey{});
  for (size_t at = 0; at < sizeof(MatchKey); ++at) {
    std::set<uint32_t> buckets, tags;
    for (unsigned value = 1; value < 256; ++value) {
      MatchKey key{};
      reinterpret_cast<uint8_t*>(&key)[at] = static_cast<uint8_t>(value);
      const uint32_t other = table.hash(key);
      EXPECT_NE(other, hash);
      buckets.insert(other % 1024);
      tags.insert(other >> 16);
    }
    EXPECT_GT(buckets.size(), 200u) << at;  // 255 balls into 1,024 buckets fill about 226
    EXPECT_GT(tags.size(), 250u) << at;
  }
}

TEST(KeyedHash, SpreadsNeighbouringKeysUnderAnyKey) {
  Random random(1);
  for (int round = 0; round < 20; ++round) {
    const HashKey key{{random.next(), random.next(), random.next(), random.next()}};
    std::set<uint32_t> buckets;
    for (uint64_t i = 0; i < 1000; ++i) buckets.insert(keyed_hash(i, key) % 1024);
    EXPECT_GT(buckets.size(), 550u);  // 1,000 balls into 1,024 buckets fill about 640
  }
}

}  // namespace
}  // namespace heddle::flow_tables_test
