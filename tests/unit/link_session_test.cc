// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "link/session.h"
#include "wire/random.h"

namespace heddle::link_session_test {
namespace {

constexpr uint32_t kLongBytes = 1568;

SessionOptions options(uint16_t self, uint16_t peer, bool sends_again = false) {
  return {.hello_interval_ns = 10 * kMillisecond,
          .hellos_missed = 3,
          .topology_hash = 42,
          .self = {self, 0},
          .peer = {peer, 0},
          .node_name = "node",
          .port_name = "port",
          .buffer_bytes = 2048,
          .credits = 64,
          .frame_bytes_max = kLongBytes,
          .sends_again = sends_again};
}

// Two ends and the hellos between them, carried by hand.
struct Ends : testing::Test {
  LinkSession a{options(1, 2)}, b{options(2, 1)};
  Random random{7};
  Nanos now = kSecond;

  uint32_t a_to_b_bytes = kLongBytes;  // the longest frame that passes
  uint32_t b_to_a_bytes = kLongBytes;

  SessionEvent deliver(LinkSession& to, const DueHello& due) {
    return to.receive(due.hello, due.frame_bytes, random.nonzero(), LinkDownReason::none, now);
  }
  void carry_due(bool a_to_b = true, bool b_to_a = true) {
    for (int rounds = 0; rounds < 4; ++rounds) {
      if (a.hello_due(now)) {
        const DueHello due = a.take_hello(0, now);
        if (a_to_b && due.frame_bytes <= a_to_b_bytes) deliver(b, due);
      }
      if (b.hello_due(now)) {
        const DueHello due = b.take_hello(0, now);
        if (b_to_a && due.frame_bytes <= b_to_a_bytes) deliver(a, due);
      }
    }
  }
  void run(Nanos duration, bool a_to_b = true, bool b_to_a = true) {
    for (const Nanos end = now + duration; now < end; now += kMillisecond) {
      a.tick(random.nonzero(), now);
      b.tick(random.nonzero(), now);
      carry_due(a_to_b, b_to_a);
    }
  }
};

TEST_F(Ends, AgreeOnOneTag) {
  run(20 * kMillisecond);
  ASSERT_TRUE(a.up() && b.up());
  EXPECT_EQ(a.tag(), b.tag());
  EXPECT_EQ(a.own_nonce(), b.peer_nonce());
}

TEST_F(Ends, StayDownWhileOneDirectionIsDead) {
  run(200 * kMillisecond, true, false);
  EXPECT_FALSE(a.up());
  EXPECT_FALSE(b.up());
  EXPECT_EQ(b.down_reason(), LinkDownReason::one_way);
}

// The direction dies when one end has begun the session and the other has not: what that one hears says that its hellos
// are heard, and yet they are not.
TEST_F(Ends, DoNotLiveByAnEchoOfThePast) {
  a.tick(random.nonzero(), now);
  b.tick(random.nonzero(), now);
  deliver(b, a.take_hello(0, now));
  deliver(a, b.take_hello(0, now));
  ASSERT_TRUE(a.up() && !b.up());
  run(300 * kMillisecond, false, true);
  EXPECT_FALSE(a.up() || b.up());
}

TEST_F(Ends, EndByTheDeadTimer) {
  run(20 * kMillisecond);
  const uint32_t tag = a.tag();
  run(60 * kMillisecond, false, false);
  EXPECT_FALSE(a.up());
  EXPECT_EQ(a.down_reason(), LinkDownReason::no_hello);
  run(20 * kMillisecond);
  ASSERT_TRUE(a.up() && b.up());
  EXPECT_NE(a.tag(), tag);
}

TEST_F(Ends, ALateHelloEndsNothing) {
  a.tick(random.nonzero(), now);
  const DueHello late = a.take_hello(0, now);  // of the nonce that a restart forgets
  a = LinkSession(options(1, 2));
  run(20 * kMillisecond);
  ASSERT_TRUE(a.up() && b.up());
  const uint32_t tag = b.tag();
  EXPECT_EQ(deliver(b, late), SessionEvent::none);
  run(100 * kMillisecond);
  EXPECT_TRUE(b.up());
  EXPECT_EQ(b.tag(), tag);
}

// A neighbour that restarts again and again, faster than the dead timer sees (K10).
TEST_F(Ends, ManyReplacedSessionsAreHeldDown) {
  run(20 * kMillisecond);
  bool was_held = false;
  for (int restart = 0; restart < 8; ++restart) {
    a = LinkSession(options(1, 2));
    run(5 * kMillisecond);
    was_held = was_held || (!b.up() && b.down_reason() == LinkDownReason::hold_down);
  }
  EXPECT_TRUE(was_held);
  run(10 * kSecond);
  EXPECT_TRUE(a.up() && b.up());
}

TEST_F(Ends, ARestartedEndReplacesTheSession) {
  run(20 * kMillisecond);
  const uint32_t tag = b.tag();
  a = LinkSession(options(1, 2));
  run(5 * kMillisecond);
  ASSERT_TRUE(a.up() && b.up());
  EXPECT_NE(b.tag(), tag);
  EXPECT_EQ(a.tag(), b.tag());
}

TEST_F(Ends, FindEachOtherAfterBothRestartedWithStaleNonces) {
  run(20 * kMillisecond);
  const DueHello old_a = a.take_hello(0, now), old_b = b.take_hello(0, now);
  a = LinkSession(options(1, 2));
  b = LinkSession(options(2, 1));
  deliver(a, old_b);  // both have learned a nonce that is gone
  deliver(b, old_a);
  run(30 * kMillisecond);
  ASSERT_TRUE(a.up() && b.up());
  EXPECT_EQ(a.tag(), b.tag());
}

// A path with too small an MTU in one direction: no session, and both ends know why.
TEST_F(Ends, StayDownWhereOnlyShortHellosPass) {
  a_to_b_bytes = kLongBytes - 1;
  run(200 * kMillisecond);
  EXPECT_FALSE(a.up() || b.up());
  EXPECT_EQ(a.down_reason(), LinkDownReason::too_long);
  EXPECT_EQ(b.down_reason(), LinkDownReason::too_long);
  a_to_b_bytes = kLongBytes;
  run(30 * kMillisecond);
  EXPECT_TRUE(a.up() && b.up());
  EXPECT_EQ(a.last_reason(), LinkDownReason::too_long);
}

TEST_F(Ends, StayDownWhereNeitherDirectionPassesLongHellos) {
  a_to_b_bytes = b_to_a_bytes = 1500;
  run(200 * kMillisecond);
  EXPECT_EQ(a.down_reason(), LinkDownReason::too_long);
  EXPECT_EQ(b.down_reason(), LinkDownReason::too_long);
}

TEST_F(Ends, EndWhenLongHellosNoLongerPass) {
  run(20 * kMillisecond);
  b_to_a_bytes = 1500;
  run(200 * kMillisecond);
  EXPECT_TRUE(a.up()) << "a few of them may be lost";
  run(300 * kMillisecond);
  EXPECT_FALSE(a.up() || b.up());
  EXPECT_EQ(a.down_reason(), LinkDownReason::too_long);
  EXPECT_EQ(b.down_reason(), LinkDownReason::too_long);
}

TEST_F(Ends, WhatWasHeardHoldsAsLongAsItIsHeard) {
  EXPECT_EQ(a.since_ns(), 0u);
  LinkSession c{options(3, 1)};
  c.tick(random.nonzero(), now);
  deliver(a, c.take_hello(0, now));
  EXPECT_EQ(a.down_reason(), LinkDownReason::wrong_cable);
  EXPECT_EQ(a.since_ns(), now);
  run(50 * kMillisecond, false, false);
  EXPECT_EQ(a.down_reason(), LinkDownReason::no_hello);
  EXPECT_EQ(a.last_reason(), LinkDownReason::wrong_cable);
  a.hear_other_version(now);
  EXPECT_EQ(a.down_reason(), LinkDownReason::wrong_version);
  run(50 * kMillisecond);
  ASSERT_TRUE(a.up());
  a.hear_other_version(now);
  EXPECT_EQ(a.down_reason(), LinkDownReason::none) << "a session is not ended by strangers";
}

TEST_F(Ends, EndWithTheCarrierAndSayNothingWithoutIt) {
  run(20 * kMillisecond);
  EXPECT_EQ(a.set_carrier(true, 1, now), SessionEvent::none);
  EXPECT_EQ(a.set_carrier(false, random.nonzero(), now), SessionEvent::ended);
  EXPECT_EQ(a.down_reason(), LinkDownReason::no_carrier);
  run(200 * kMillisecond, true, false);
  EXPECT_FALSE(a.hello_due(now));
  EXPECT_EQ(a.next_wake(), kNever);
  EXPECT_EQ(a.down_reason(), LinkDownReason::no_carrier);
  EXPECT_EQ(b.down_reason(), LinkDownReason::no_hello);
  EXPECT_EQ(a.set_carrier(true, random.nonzero(), now), SessionEvent::none);
  run(30 * kMillisecond);
  EXPECT_TRUE(a.up() && b.up());
  EXPECT_EQ(a.last_reason(), LinkDownReason::no_carrier);
}

// What is lost in a moment without carrier is sent again (K6), so such a moment ends nothing, a longer one does.
TEST_F(Ends, ThatSendAgainOutliveAMomentWithoutCarrier) {
  a = LinkSession{options(1, 2, true)};
  b = LinkSession{options(2, 1, true)};
  run(20 * kMillisecond);
  const uint32_t tag = a.tag();
  EXPECT_EQ(a.set_carrier(false, random.nonzero(), now), SessionEvent::none);
  run(10 * kMillisecond, false, false);
  run(100 * kMillisecond);  // the device says nothing of it
  EXPECT_TRUE(a.up() && b.up());
  EXPECT_EQ(a.tag(), tag);
  a.set_carrier(false, random.nonzero(), now);
  EXPECT_LE(a.next_wake(), now + 30 * kMillisecond);
  run(50 * kMillisecond, false, false);
  EXPECT_FALSE(a.up() || a.hello_due(now));
  EXPECT_EQ(a.down_reason(), LinkDownReason::no_carrier);
  EXPECT_EQ(a.next_wake(), kNever);
}

TEST_F(Ends, AHelloIsBetterThanTheDevicesWord) {
  a.set_carrier(false, random.nonzero(), now);
  deliver(a, b.take_hello(0, now));
  run(30 * kMillisecond);
  EXPECT_TRUE(a.up() && b.up());
}

TEST_F(Ends, WhoWasLateItselfReadsWhatCameMeanwhileBeforeItJudges) {
  run(20 * kMillisecond);
  while (a.hello_due(now = a.next_wake())) a.take_hello(0, now);  // up to the dead timer
  constexpr Nanos kLate = 5 * kMillisecond;
  now += kLate;
  a.forgive_silence(kLate, now);
  EXPECT_EQ(a.tick(random.nonzero(), now), SessionEvent::none);
  EXPECT_EQ(a.tick(random.nonzero(), now + 1), SessionEvent::ended);
}

// It may have lain in the queue since before the cable was pulled.
TEST_F(Ends, AHelloThatCameLateSaysNothingOfTheCarrierForLong) {
  for (const bool sends_again : {false, true}) {
    a = LinkSession{options(1, 2, sends_again)};
    b = LinkSession{options(2, 1, sends_again)};
    run(20 * kMillisecond);
    ASSERT_TRUE(a.up() && b.up());
    now += 10 * kMillisecond;
    const DueHello late = b.take_hello(0, now);
    a.set_carrier(false, random.nonzero(), now);
    deliver(a, late);
    run(100 * kMillisecond, false, false);
    EXPECT_EQ(a.down_reason(), LinkDownReason::no_carrier);
    EXPECT_FALSE(a.hello_due(now));
    EXPECT_EQ(a.next_wake(), kNever);
    EXPECT_EQ(a.set_carrier(true, random.nonzero(), now), SessionEvent::none);
    run(100 * kMillisecond);
    EXPECT_TRUE(a.up() && b.up());
  }
}

TEST_F(Ends, NameAWrongCable) {
  LinkSession c{options(3, 1)};
  c.tick(random.nonzero(), now);
  deliver(a, c.take_hello(0, now));
  EXPECT_FALSE(a.up());
  EXPECT_EQ(a.down_reason(), LinkDownReason::wrong_cable);
  EXPECT_EQ(a.last_hello().node, 3);
}

TEST_F(Ends, RefuseAnotherTopology) {
  SessionOptions other = options(2, 1);
  other.topology_hash = 43;
  b = LinkSession(other);
  run(50 * kMillisecond);
  EXPECT_FALSE(a.up());
  EXPECT_EQ(a.down_reason(), LinkDownReason::wrong_topology);
}

TEST_F(Ends, HoldAFlappingLinkDownLongerEachTime) {
  Nanos last = 0;
  for (int flap = 0; flap < 6; ++flap) {
    const Nanos start = now;
    while (!(a.up() && b.up())) run(kMillisecond);
    const Nanos took = now - start;
    if (flap > 3) {
      EXPECT_GT(took, last);
    }
    last = took;
    run(40 * kMillisecond, false, false);
  }
}

TEST_F(Ends, DoNotJudgeSilenceWhileTheWorkerWasAway) {
  run(20 * kMillisecond);
  now += kSecond;
  a.forgive_silence(kSecond, now);
  EXPECT_EQ(a.tick(random.nonzero(), now), SessionEvent::none);
  EXPECT_TRUE(a.up());
}

// A worker that is late now and then still finds out that a neighbour is dead.
TEST_F(Ends, JudgeSilenceByTheTimeTheWorkerWasThere) {
  run(20 * kMillisecond);
  for (int turn = 0; turn < 20 && a.up(); ++turn) {
    now += 5 * kMillisecond;
    a.tick(random.nonzero(), now);
    now += 11 * kMillisecond;
    a.forgive_silence(11 * kMillisecond, now);
    a.tick(random.nonzero(), now);
  }
  EXPECT_FALSE(a.up());
}

TEST_F(Ends, StayDownWhileTheOrphanQuotaIsFull) {
  a.tick(random.nonzero(), now);
  b.tick(random.nonzero(), now);
  const DueHello from_b = b.take_hello(0, now);
  EXPECT_EQ(a.receive(from_b.hello, from_b.frame_bytes, 5, LinkDownReason::orphans, now), SessionEvent::none);
  EXPECT_EQ(a.down_reason(), LinkDownReason::orphans);
  EXPECT_EQ(a.receive(from_b.hello, from_b.frame_bytes, 6, LinkDownReason::kept_out, now), SessionEvent::none);
  EXPECT_EQ(a.down_reason(), LinkDownReason::kept_out);
}

// Each of the four numbers that say which cable it is.
TEST_F(Ends, NameEachWrongEndOfACable) {
  const auto hears = [this](SessionOptions of) {
    a = LinkSession(options(1, 2));
    LinkSession other(of);
    other.tick(random.nonzero(), now);
    deliver(a, other.take_hello(0, now));
    return a.down_reason();
  };
  EXPECT_EQ(hears(options(2, 1)), LinkDownReason::no_hello) << "nothing is wrong";
  SessionOptions of = options(2, 1);
  of.self.port = 1;
  EXPECT_EQ(hears(of), LinkDownReason::wrong_cable);
  of = options(2, 3);
  EXPECT_EQ(hears(of), LinkDownReason::wrong_cable);
  of = options(2, 1);
  of.peer.port = 1;
  EXPECT_EQ(hears(of), LinkDownReason::wrong_cable);
}

// Up, with the next hello just sent.
struct EndsAtWork : Ends {
  EndsAtWork() {
    while (!(a.up() && b.up())) run(kMillisecond);
    while (!a.hello_due(now)) ++now;
    sent_ns = now;
    a.take_hello(0, now);
  }
  DueHello next_hello() {
    now = a.next_wake();
    EXPECT_TRUE(a.hello_due(now));
    return a.take_hello(7, now);
  }
  Nanos sent_ns;
};

TEST_F(EndsAtWork, SayHelloOnceAnInterval) {
  EXPECT_FALSE(a.hello_due(sent_ns + 10 * kMillisecond - 1));
  EXPECT_TRUE(a.hello_due(sent_ns + 10 * kMillisecond));
  EXPECT_EQ(a.next_wake(), sent_ns + 10 * kMillisecond);
}

TEST_F(EndsAtWork, EveryTenthHelloIsLong) {
  std::string lengths;
  for (int i = 0; i < 25; ++i) {
    const DueHello due = next_hello();
    EXPECT_TRUE(due.frame_bytes == 0 || due.frame_bytes == kLongBytes);
    lengths += due.frame_bytes != 0 ? 'L' : 's';
    deliver(a, b.take_hello(0, now));
  }
  const size_t first = lengths.find('L');
  ASSERT_LT(first, 10u);
  EXPECT_EQ(lengths.substr(first, 15), "LsssssssssLssss");
}

TEST_F(EndsAtWork, AHelloSaysAllThatTheOtherEndHasToKnow) {
  const DueHello due = next_hello();
  const Hello& hello = due.hello;
  EXPECT_EQ(hello.nonce, a.own_nonce());
  EXPECT_EQ(hello.echo, a.peer_nonce());
  EXPECT_EQ(hello.topology_hash, 42u);
  EXPECT_EQ(hello.notice_digest, 7u);
  EXPECT_EQ(hello.node, 1);
  EXPECT_EQ(hello.port, 0);
  EXPECT_EQ(hello.peer_node, 2);
  EXPECT_EQ(hello.peer_port, 0);
  EXPECT_EQ(hello.buffer_bytes, 2048u);
  EXPECT_EQ(hello.credits, 64u);
  EXPECT_FALSE(hello.hears_only_short);
}

// Three intervals of silence, no more and no less.
TEST_F(EndsAtWork, EndAfterThreeIntervalsOfSilence) {
  deliver(a, b.take_hello(0, now));
  const Nanos heard = now;
  while (a.next_wake() < heard + 30 * kMillisecond) next_hello();
  EXPECT_EQ(a.next_wake(), heard + 30 * kMillisecond);
  EXPECT_EQ(a.tick(9, heard + 30 * kMillisecond), SessionEvent::none);
  EXPECT_EQ(a.tick(9, heard + 30 * kMillisecond + 1), SessionEvent::ended);
  EXPECT_EQ(a.own_nonce(), 9u);
  EXPECT_EQ(a.since_ns(), heard + 30 * kMillisecond + 1);
  EXPECT_TRUE(a.hello_due(heard + 30 * kMillisecond + 1)) << "the other end learns of it at once";
}

TEST_F(EndsAtWork, AHelloOfAnotherEchoIsNoLife) {
  DueHello of_another = b.take_hello(0, now);
  of_another.hello.echo ^= 1;
  now += 30 * kMillisecond;
  deliver(a, of_another);
  EXPECT_EQ(a.last_hello().echo, of_another.hello.echo) << "but it is shown";
  EXPECT_EQ(a.tick(9, now + 1), SessionEvent::ended);
}

// K10: the first two times a link comes back at once; then it waits the dead time, each time twice as long, 64 times at
// most.
TEST_F(EndsAtWork, AHoldDownDoubles) {
  std::vector<uint64_t> holds;  // in dead times
  for (int flap = 1; flap <= 10; ++flap) {
    a.reset(random.nonzero(), LinkDownReason::protocol_error, now);
    EXPECT_EQ(a.flaps(), static_cast<uint32_t>(flap));
    EXPECT_EQ(a.down_reason(), LinkDownReason::protocol_error);
    const Nanos start = now;
    LinkSession c{options(2, 1)};
    const auto hear = [&] {
      c.tick(random.nonzero(), now);
      deliver(c, a.take_hello(0, now));
      DueHello due = c.take_hello(0, now);
      due.frame_bytes = kLongBytes;
      return deliver(a, due);
    };
    while (hear() != SessionEvent::began) {
      EXPECT_EQ(a.down_reason(), LinkDownReason::hold_down);
      now += 30 * kMillisecond;
    }
    holds.push_back((now - start) / (30 * kMillisecond));
  }
  EXPECT_EQ(holds, (std::vector<uint64_t>{0, 0, 2, 4, 8, 16, 32, 64, 64, 64}));
}

TEST_F(EndsAtWork, AFlapIsForgottenAfterTenSeconds) {
  a.reset(random.nonzero(), LinkDownReason::protocol_error, now);
  EXPECT_EQ(a.flaps(), 1u);
  while (!(a.up() && b.up())) run(kMillisecond);
  const Nanos up = a.since_ns();
  a.reset(random.nonzero(), LinkDownReason::protocol_error, up + 10 * kSecond);
  EXPECT_EQ(a.flaps(), 2u);
  now = up + 10 * kSecond;
  while (!(a.up() && b.up())) run(kMillisecond);
  a.reset(random.nonzero(), LinkDownReason::protocol_error, a.since_ns() + 10 * kSecond + 1);
  EXPECT_EQ(a.flaps(), 1u);
}

// While there is none, hellos are long and short by turns, the first one long.
TEST_F(Ends, LookForShortAndLongWays) {
  a.tick(1, now);
  std::string lengths;
  for (int i = 0; i < 6; ++i, now = a.next_wake()) {
    EXPECT_TRUE(a.hello_due(now));
    lengths += a.take_hello(0, now).frame_bytes != 0 ? 'L' : 's';
  }
  EXPECT_EQ(lengths, "LsLsLs");
}

TEST_F(Ends, AnAnswerIsLongAndDueAtOnce) {
  a.tick(1, now);
  a.take_hello(0, now);
  b.tick(2, now);
  deliver(a, b.take_hello(0, now));
  EXPECT_EQ(a.next_wake(), 0u);
  EXPECT_TRUE(a.hello_due(now));
  const DueHello answer = a.take_hello(0, now);
  EXPECT_EQ(answer.frame_bytes, kLongBytes);
  EXPECT_EQ(answer.hello.nonce, 1u);
  EXPECT_EQ(answer.hello.echo, 2u);
  EXPECT_FALSE(a.hello_due(now));
  EXPECT_EQ(a.next_wake(), now + 10 * kMillisecond) << "besides those of each interval";
}

// Somebody else speaks from there while the session runs: the answer bears a nonce made for it, and the session goes on
// until that is echoed.
TEST_F(EndsAtWork, AStrangerIsAnsweredWithANonceOfItsOwn) {
  const uint64_t own = a.own_nonce();
  LinkSession c{options(2, 1)};
  c.tick(50, now);
  const DueHello stranger = c.take_hello(0, now);
  EXPECT_EQ(a.receive(stranger.hello, kLongBytes - 1, 60, LinkDownReason::none, now), SessionEvent::none);
  EXPECT_FALSE(a.hello_due(now)) << "a short one makes no session";
  EXPECT_EQ(a.receive(stranger.hello, kLongBytes, 61, LinkDownReason::none, now), SessionEvent::none);
  const DueHello answer = a.take_hello(0, now);
  EXPECT_EQ(answer.hello.nonce, 61u);
  EXPECT_EQ(answer.hello.echo, 50u);
  EXPECT_EQ(a.receive(stranger.hello, kLongBytes, 62, LinkDownReason::none, now), SessionEvent::none);
  EXPECT_EQ(a.take_hello(0, now).hello.nonce, 61u) << "the same one again";
  EXPECT_EQ(a.own_nonce(), own);
  deliver(c, answer);
  const DueHello echo = c.take_hello(0, now);
  EXPECT_EQ(a.receive(echo.hello, kLongBytes, 63, LinkDownReason::orphans, now), SessionEvent::none)
      << "not while its orphans are many";
  EXPECT_EQ(a.receive(echo.hello, kLongBytes, 63, LinkDownReason::none, now), SessionEvent::ended_and_began);
  EXPECT_EQ(a.own_nonce(), 61u);
  EXPECT_EQ(a.tag(), c.tag());
  EXPECT_EQ(a.since_ns(), now);
  EXPECT_EQ(a.flaps(), 1u);
  EXPECT_TRUE(a.hello_due(now)) << "the other end waits for the echo";
  EXPECT_EQ(a.take_hello(0, now).hello.nonce, 61u);
}

TEST_F(Ends, OneThatHearsOnlyShortOnesSaysSo) {
  a.tick(1, now);
  b.tick(2, now);
  DueHello due = b.take_hello(0, now);
  due.frame_bytes = 0;
  deliver(a, due);
  EXPECT_FALSE(a.take_hello(0, now).hello.hears_only_short);
  now += 30 * kMillisecond - 1;
  deliver(a, due);
  EXPECT_FALSE(a.take_hello(0, now).hello.hears_only_short);
  EXPECT_EQ(a.down_reason(), LinkDownReason::no_hello);
  ++now;
  deliver(a, due);
  EXPECT_TRUE(a.take_hello(0, now).hello.hears_only_short);
  EXPECT_EQ(a.down_reason(), LinkDownReason::too_long);
}

}  // namespace
}  // namespace heddle::link_session_test
