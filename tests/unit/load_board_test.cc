// SPDX-License-Identifier: Apache-2.0
// R3, R8: what is told of a node's ports and of its neighbours', and what who chooses reads of it.
#include "routing/load_board.h"

#include <gtest/gtest.h>

namespace heddle::load_board_test {
namespace {

constexpr uint64_t kByteANs = 8'000'000'000;  // bits per second
constexpr uint64_t kByteAUs = 8'000'000;
constexpr Nanos kLately = 32 * kMicrosecond;  // of a fast link
constexpr Nanos kNow = 10 * kSecond;
constexpr PortSet kFirst = 1, kLast = PortSet{1} << 63;

// What waits for nine ports is in two lines of each of three workers.
class LoadBoardTest : public testing::Test {
 protected:
  LoadBoardTest() {
    for (PortIndex port = 0; port < 9; ++port) board_.set_rate(port, kByteANs, 1500);
  }
  uint32_t sent_ns(PortIndex port, Nanos now) const { return board_.load(port, now).sent_ns; }

  LoadBoard board_{9, 3};
};

TEST_F(LoadBoardTest, AtFirstThereIsNothingToDoAndNoLinkIsUp) {
  const Load load = board_.load(8, 0);
  EXPECT_EQ(load.waiting_ns, 0u);
  EXPECT_EQ(load.sent_ns, 0u);
  EXPECT_EQ(load.lately_ns, kLately);
  EXPECT_EQ(load.flows, 0u);
  EXPECT_EQ(board_.queue_bytes(8), 0u);
  EXPECT_EQ(board_.waiting_bytes(8), 0u);
  EXPECT_EQ(board_.loaded(0), PortSet{0});
  EXPECT_EQ(board_.loaded_behind(8, 0, 0), PortSet{0});
  EXPECT_EQ(board_.behind(8, 0, 0).waiting_ns, 0u);
  EXPECT_EQ(board_.standing(8), LinkStanding::down);
  EXPECT_EQ(board_.free_buffers(8, kVirtualChannels - 1), 0u);
  EXPECT_FALSE(board_.takes_at_once(8));
}

// Two classes of a port, 10 KB of the first one waiting and half of what it sends lately sent.
class ClassLoadTest : public testing::Test {
 protected:
  static constexpr uint8_t kBulk = 0, kUrgent = 1;
  static constexpr uint32_t kHalf = static_cast<uint32_t>(kLately / 2);

  ClassLoadTest() {
    board_.set_rate(4, kByteANs, 1500);
    board_.publish_load(4, 4000, kHalf, kSecond);
    board_.publish_class(4, kBulk, 4000, kHalf);
    board_.add_waiting(1, 4, kBulk, 6000, 3);
    parts(0.5);
  }
  void parts(double urgent) {
    board_.publish_part(4, kUrgent, urgent);
    board_.publish_part(4, kBulk, 1 - urgent);
  }
  Load urgent(Nanos now = kSecond) const { return board_.load(4, kUrgent, now); }

  LoadBoard board_{5, 2, 2};
};

TEST_F(ClassLoadTest, AllTogetherHaveWhatEachHas) {
  board_.add_waiting(0, 4, kUrgent, 500, 1);
  const Load load = board_.load(4, kSecond);
  EXPECT_EQ(load.waiting_ns, 10'500u);
  EXPECT_EQ(load.flows, 4u);
  EXPECT_EQ(load.sent_ns, kHalf);
  EXPECT_EQ(load.others_ns, 0u);
  EXPECT_EQ(load.part, 1.0);
  EXPECT_EQ(board_.waiting_bytes(4), 10'500u);
}

TEST_F(ClassLoadTest, WhatWaitsOfOthersIsInNobodysWayWhoHasNothing) {
  EXPECT_EQ(urgent().waiting_ns, 0u);
  EXPECT_EQ(urgent().flows, 0u);
  EXPECT_EQ(board_.load(4, kBulk, kSecond).waiting_ns, 10'000u);
  EXPECT_EQ(board_.load(4, kBulk, kSecond).flows, 3u);
}

TEST_F(ClassLoadTest, ElseSoMuchOfItAsComesInBetween) {
  board_.add_waiting(0, 4, kUrgent, 500, 1);
  EXPECT_EQ(urgent().waiting_ns, 1'000u) << "a byte each in turn";
  parts(0.25);
  EXPECT_EQ(urgent().waiting_ns, 2'000u);
  board_.add_waiting(0, 4, kUrgent, 5'500, 0);
  EXPECT_EQ(urgent().waiting_ns, 16'000u) << "all that there is";
}

TEST_F(ClassLoadTest, WhatOthersHaveSentLeavesAClassItsPart) {
  EXPECT_EQ(urgent().sent_ns, kHalf) << "half of the link is idle, and is its part";
  EXPECT_EQ(urgent().others_ns, kHalf);
  EXPECT_EQ(urgent().part, 0.5);
  parts(0.75);
  EXPECT_EQ(urgent().sent_ns, kHalf / 2);
  EXPECT_EQ(urgent().others_ns, kHalf / 2);
  parts(0.25);
  EXPECT_EQ(urgent().sent_ns, kHalf);
  parts(1);
  EXPECT_EQ(urgent().sent_ns, 0u);
  board_.publish_class(4, kUrgent, 0, 1000);
  EXPECT_EQ(urgent().sent_ns, 1000u);
  EXPECT_EQ(urgent().others_ns, 0u);
  EXPECT_EQ(urgent(kSecond + kLately / 2).sent_ns, 500u) << "it fades as all does";
}

TEST_F(ClassLoadTest, WhatWaitsAtTheInputsIsKnownOfEach) {
  uint32_t flows = 0;
  EXPECT_EQ(board_.waiting_bytes(4, kBulk, flows), 6000u);
  EXPECT_EQ(flows, 3u);
  EXPECT_EQ(board_.waiting_bytes(4, kUrgent, flows), 0u);
  EXPECT_EQ(flows, 0u);
}

TEST_F(ClassLoadTest, APartIsMoreThanNothing) {
  parts(0);
  board_.add_waiting(0, 4, kUrgent, 1, 1);
  EXPECT_EQ(urgent().waiting_ns, 1'024u);
}

TEST(LoadBoardRates, BytesTakeTheirTimeOnTheLink) {
  LoadBoard board(4);
  board.set_rate(1, 100'000'000'000, 1500);
  board.set_rate(2, 100'000'000, 1500);
  board.set_rate(3, 1, 1500);
  EXPECT_EQ(board.time_ns(0, 10'000), 8'000u) << "of a link whose rate nobody has said";
  EXPECT_EQ(board.time_ns(1, 12), 0u) << "960 ps";
  EXPECT_EQ(board.time_ns(1, 13), 1u);
  EXPECT_EQ(board.time_ns(1, 1'000'000), 80'000u);
  EXPECT_EQ(board.time_ns(2, 1'000'000), 80'000'000u);
  EXPECT_EQ(board.time_ns(3, 1'000), 8'000 * kSecond);
}

TEST(LoadBoardRates, LatelyIsTheTimeOfEightFramesButNeitherVeryShortNorLong) {
  LoadBoard board(1);
  EXPECT_EQ(board.lately_ns(0), kLately);
  const auto lately_ns = [&](uint64_t rate_bps, uint32_t frame_bytes) {
    board.set_rate(0, rate_bps, frame_bytes);
    return board.lately_ns(0);
  };
  EXPECT_EQ(lately_ns(kByteANs, 3'999), kLately);
  EXPECT_EQ(lately_ns(kByteANs, 4'000), kLately);
  EXPECT_EQ(lately_ns(kByteANs, 4'001), kLately + 8);
  EXPECT_EQ(lately_ns(kByteAUs, 1'500), 12 * kMillisecond);
  EXPECT_EQ(lately_ns(kByteAUs, 12'499), 100 * kMillisecond - 8 * kMicrosecond);
  EXPECT_EQ(lately_ns(kByteAUs, 12'500), 100 * kMillisecond);
  EXPECT_EQ(lately_ns(kByteAUs, 12'501), 100 * kMillisecond);
}

TEST_F(LoadBoardTest, WhatWaitsAtTheInputsOfAllWorkersIsOfItsPortAlone) {
  board_.add_waiting(0, 0, 0, 100, 1);
  board_.add_waiting(2, 0, 0, 20, 2);
  board_.add_waiting(0, 8, 0, 3'000, 4);
  board_.add_waiting(1, 8, 0, 40'000, 8);
  board_.add_waiting(1, 1, 0, 500'000, 16);
  struct Waiting {
    PortIndex port;
    uint64_t bytes;
    uint32_t flows;
  };
  for (const Waiting& waiting :
       {Waiting{0, 120, 3}, Waiting{8, 43'000, 12}, Waiting{1, 500'000, 16}, Waiting{7, 0, 0}}) {
    EXPECT_EQ(board_.waiting_bytes(waiting.port), waiting.bytes) << waiting.port;
    EXPECT_EQ(board_.load(waiting.port, kNow).waiting_ns, waiting.bytes) << waiting.port;
    EXPECT_EQ(board_.load(waiting.port, kNow).flows, waiting.flows) << waiting.port;
  }
}

TEST_F(LoadBoardTest, WhatWaitsCanBeLessAgain) {
  board_.add_waiting(1, 3, 0, 100, 2);
  board_.add_waiting(1, 3, 0, 0u - 99, 0u - 1);
  EXPECT_EQ(board_.waiting_bytes(3), 1u);
  EXPECT_EQ(board_.load(3, kNow).flows, 1u);
  board_.add_waiting(1, 3, 0, 0u - 1, 0u - 1);
  EXPECT_EQ(board_.waiting_bytes(3), 0u);
  EXPECT_EQ(board_.load(3, kNow).flows, 0u);
}

TEST_F(LoadBoardTest, WhatIsQueuedAtTheOutputWaitsAsWell) {
  board_.set_rate(3, kByteANs / 4, 1500);
  board_.publish_load(3, 700, 0, kNow);
  board_.add_waiting(2, 3, 0, 50, 1);
  EXPECT_EQ(board_.queue_bytes(3), 700u);
  EXPECT_EQ(board_.waiting_bytes(3), 750u);
  EXPECT_EQ(board_.load(3, kNow).waiting_ns, 3'000u) << "four times as long";
  board_.publish_load(3, 0, 0, kNow);
  EXPECT_EQ(board_.waiting_bytes(3), 50u);
}

TEST_F(LoadBoardTest, WhatWasSentCountsLessAndLess) {
  board_.publish_load(2, 0, 32'000, kNow);
  EXPECT_EQ(sent_ns(2, kNow), 32'000u);
  EXPECT_EQ(sent_ns(2, kNow + 1), 31'999u);
  EXPECT_EQ(sent_ns(2, kNow + kLately / 2), 16'000u);
  EXPECT_EQ(sent_ns(2, kNow + kLately - 1), 1u);
  EXPECT_EQ(sent_ns(2, kNow + kLately), 0u);
  EXPECT_EQ(sent_ns(2, kNow + kSecond), 0u);
  board_.set_rate(1, kByteAUs, 1500);
  board_.publish_load(1, 0, 6'000, kNow);
  EXPECT_EQ(sent_ns(1, kNow), 6 * kMillisecond);
  EXPECT_EQ(sent_ns(1, kNow + 6 * kMillisecond), 3 * kMillisecond);
}

TEST(LoadBoardRates, BytesFadeEvenly) {
  EXPECT_EQ(faded(1'000, 0, kLately), 1'000u);
  EXPECT_EQ(faded(1'000, kLately / 4, kLately), 750u);
  EXPECT_EQ(faded(1'000, kLately - 1, kLately), 0u) << "less than a byte";
  EXPECT_EQ(faded(1'000, kLately, kLately), 0u);
  EXPECT_EQ(faded(1'000, kLately + 1, kLately), 0u);
  EXPECT_EQ(faded(4'000'000'000, kLately / 2, kLately), 2'000'000'000u);
}

TEST_F(LoadBoardTest, APortHasSentNoMoreThanTwiceWhatItsLinkTakes) {
  board_.publish_load(2, 0, 63'999, kNow);
  EXPECT_EQ(sent_ns(2, kNow), 63'999u);
  board_.publish_load(2, 0, 64'001, kNow);
  EXPECT_EQ(sent_ns(2, kNow), 64'000u);
}

TEST_F(LoadBoardTest, WhatWasToldInALaterTurnThanTheReadersIsNew) {
  board_.publish_load(2, 0, 32'000, kNow);
  EXPECT_EQ(sent_ns(2, kNow - 1), 32'000u);
  EXPECT_EQ(sent_ns(2, kNow - 100 * kMillisecond), 32'000u);
  EXPECT_EQ(sent_ns(2, kNow - 100 * kMillisecond - 1), 0u) << "no turn takes so long";
}

TEST_F(LoadBoardTest, AgesAreRightWhereTheLowerHalfOfTheClockBeginsAnew) {
  constexpr Nanos kAnew = Nanos{1} << 32;
  board_.publish_load(2, 0, 32'000, kAnew - 1'000);
  EXPECT_EQ(sent_ns(2, kAnew + 1'000), 30'000u);
  board_.publish_load(2, 0, 32'000, kAnew + 1'000);
  EXPECT_EQ(sent_ns(2, kAnew - 1'000), 32'000u);
}

TEST_F(LoadBoardTest, EachPortSaysWhetherItHasMuchToDo) {
  board_.publish_loaded(3, 0, true);
  EXPECT_EQ(board_.loaded(0), PortSet{0b1000});
  board_.publish_loaded(0, 0, true);
  board_.publish_loaded(3, 0, true);
  EXPECT_EQ(board_.loaded(0), PortSet{0b1001}) << "said again";
  board_.publish_loaded(3, 0, false);
  board_.publish_loaded(3, 0, false);
  EXPECT_EQ(board_.loaded(0), PortSet{0b0001});
  board_.publish_loaded(PortIndex::of(63), 0, true);
  EXPECT_EQ(board_.loaded(0), kFirst | kLast);
  board_.publish_loaded(0, 0, false);
  EXPECT_EQ(board_.loaded(0), kLast);
}

TEST_F(LoadBoardTest, WhatANeighbourSaysIsForgottenUnlessSaidAgain) {
  constexpr Nanos kRemembered = 512 * kMicrosecond;
  board_.heard(2, 0, kFirst, kNow);
  EXPECT_EQ(board_.loaded_behind(2, 0, kNow), kFirst);
  EXPECT_EQ(board_.loaded_behind(1, 0, kNow), PortSet{0}) << "another neighbour's";
  EXPECT_EQ(board_.loaded_behind(2, 0, kNow + kRemembered), kFirst);
  EXPECT_EQ(board_.loaded_behind(2, 0, kNow + kRemembered + 1), PortSet{0});
  board_.heard(2, 0, kLast | kFirst, kNow + 1);
  EXPECT_EQ(board_.loaded_behind(2, 0, kNow + kRemembered + 1), kLast | kFirst);
  board_.heard(2, 0, 0, kNow + 2);
  EXPECT_EQ(board_.loaded_behind(2, 0, kNow + 2), PortSet{0});
}

TEST_F(LoadBoardTest, OnASlowLinkNeighboursSpeakMoreSeldom) {
  board_.set_rate(2, kByteAUs, 1500);
  board_.heard(2, 0, kFirst, kNow);
  EXPECT_EQ(board_.loaded_behind(2, 0, kNow + 16 * 12 * kMillisecond), kFirst);
  EXPECT_EQ(board_.loaded_behind(2, 0, kNow + 16 * 12 * kMillisecond + 1), PortSet{0});
}

TEST_F(LoadBoardTest, ANeighboursPortIsReadAsItWasTold) {
  const PortIndex last = PortIndex::of(63);
  board_.hear(2, last, 0, {0xfffffffe, 0xffff, 255, 0xffff});
  const Load most = board_.behind(2, last, 0);
  EXPECT_EQ(most.waiting_ns, 0xfffffffe);
  EXPECT_EQ(most.sent_ns, kLately) << "never idle";
  EXPECT_EQ(most.lately_ns, kLately);
  EXPECT_EQ(most.flows, 255u);
  board_.hear(2, last, 0, {1, 0x8000, 0, 0xffff});
  const Load some = board_.behind(2, last, 0);
  EXPECT_EQ(some.waiting_ns, 1u);
  EXPECT_EQ(some.sent_ns, kLately / 2);
  EXPECT_EQ(some.flows, 0u);
  for (const Load& other : {board_.behind(2, 0, 0), board_.behind(1, last, 0)}) {
    EXPECT_EQ(other.waiting_ns, 0u);
    EXPECT_EQ(other.sent_ns, 0u);
    EXPECT_EQ(other.flows, 0u);
  }
}

// Of two equal classes the one without traffic sees a port full of the other as half busy, not less.
TEST(LoadBoardClasses, HalfOfAnOddTimeIsHalf) {
  LoadBoard board(2, 1, 2);
  board.set_rate(1, 70'000'000, 1554);
  ASSERT_EQ(board.lately_ns(1) % 2, 1u);
  for (const uint8_t of_class : {0, 1}) board.publish_part(1, of_class, 0.5);
  const auto bytes = static_cast<uint32_t>(board.lately_ns(1) * 70 / 8000 + 1000);
  board.publish_load(1, 0, bytes, kNow);
  board.publish_class(1, 0, 0, bytes);
  EXPECT_GE(2 * board.load(1, 1, kNow).sent_ns, board.lately_ns(1));
}

TEST(LoadBoardClasses, WhatANeighbourTellsIsOfOneClass) {
  LoadBoard board(4, 1, 3);
  board.publish_loaded(1, 2, true);
  EXPECT_EQ(board.loaded(2), PortSet{0b10});
  EXPECT_EQ(board.loaded(0) | board.loaded(1), PortSet{0});
  board.hear(3, 5, 1, {1000, 0x8000, 0xffff, 0x4000});
  board.heard(3, 1, PortSet{1} << 5, kNow);
  EXPECT_EQ(board.loaded_behind(3, 1, kNow), PortSet{1} << 5);
  EXPECT_EQ(board.loaded_behind(3, 0, kNow) | board.loaded_behind(3, 2, kNow), PortSet{0});
  EXPECT_EQ(board.behind(3, 5, 1).waiting_ns, 1000u);
  EXPECT_EQ(board.behind(3, 5, 1).flows, 0xffffu);
  EXPECT_NEAR(board.behind(3, 5, 1).part, 0.25, 0.001);
  EXPECT_EQ(board.behind(3, 5, 2).waiting_ns, 0u);
  EXPECT_EQ(board.behind(3, 5, 2).part, 1.0);
  EXPECT_EQ(board.behind(2, 5, 1).waiting_ns, 0u) << "of another neighbour";
}

// A neighbour's ports are taken to be as fast as the link to it.
TEST_F(LoadBoardTest, HowBusyANeighboursPortIsCountsInTheLinksTime) {
  board_.set_rate(1, kByteAUs, 1500);
  board_.hear(1, 0, 0, {0, 0xffff, 0, 0xffff});
  EXPECT_EQ(board_.behind(1, 0, 0).sent_ns, 12 * kMillisecond);
  EXPECT_EQ(board_.behind(1, 0, 0).lately_ns, 12 * kMillisecond);
}

TEST(LoadBoardStandings, OnlyPortsWhoseLinkIsUpAreUp) {
  LoadBoard board(kPortsMax);
  board.publish_standing(0, LinkStanding::up);
  board.publish_standing(2, LinkStanding::up);
  board.publish_standing(5, LinkStanding::settled);
  board.publish_standing(PortIndex::of(63), LinkStanding::up);
  EXPECT_TRUE(board.up(2));
  EXPECT_FALSE(board.up(1));
  EXPECT_FALSE(board.up(5));
  EXPECT_EQ(board.standing(5), LinkStanding::settled);
  EXPECT_EQ(board.up_of(~PortSet{0}), kLast | 0b101);
  EXPECT_EQ(board.up_of(0b110), PortSet{0b100});
  EXPECT_EQ(board.up_of(0b100010), PortSet{0});
  EXPECT_EQ(board.up_of(0), PortSet{0});
  board.publish_standing(2, LinkStanding::down);
  EXPECT_EQ(board.up_of(0b111), PortSet{0b001});
}

TEST(LoadBoardStandings, EachChangeOfAStandingMakesANewVersion) {
  LoadBoard board(2);
  EXPECT_EQ(board.version(), 1u) << "0 is of who has not looked yet";
  board.publish_standing(0, LinkStanding::up);
  EXPECT_EQ(board.version(), 2u);
  board.publish_standing(1, LinkStanding::settled);
  EXPECT_EQ(board.version(), 3u);
  board.publish_kept_out(1, 77);
  EXPECT_EQ(board.version(), 4u);
  EXPECT_EQ(board.kept_out_with(1), 77u);
  EXPECT_EQ(board.kept_out_with(0), 0u);
  board.begin_session_ends(40);
  EXPECT_EQ(board.count_session_end(), 41u);
  EXPECT_EQ(board.session_ends(), 41u);
  board.publish_load(0, 1, 1, kNow);
  board.publish_loaded(0, 0, true);
  EXPECT_EQ(board.version(), 4u) << "loads are no standings";
}

TEST_F(LoadBoardTest, FreeBuffersAreThoseOfOneChannel) {
  board_.publish_free(1, 0, 5);
  board_.publish_free(1, kVirtualChannels - 1, 0xffff);
  EXPECT_EQ(board_.free_buffers(1, 0), 5u);
  EXPECT_EQ(board_.free_buffers(1, 1), 0u);
  EXPECT_EQ(board_.free_buffers(1, kVirtualChannels - 1), 0xffffu);
  EXPECT_EQ(board_.free_buffers(0, 0), 0u);
  board_.publish_free(1, 0, 0x10000);
  EXPECT_EQ(board_.free_buffers(1, 0), 0xffffu) << "it counts no further";
}

TEST_F(LoadBoardTest, AnEdgePortSaysWhetherFramesMayCrossToItAtOnce) {
  board_.publish_at_once(4, true);
  EXPECT_TRUE(board_.takes_at_once(4));
  EXPECT_FALSE(board_.takes_at_once(3));
  board_.publish_at_once(4, false);
  EXPECT_FALSE(board_.takes_at_once(4));
}

}  // namespace
}  // namespace heddle::load_board_test
