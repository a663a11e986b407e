// SPDX-License-Identifier: Apache-2.0
#include "node/orphans.h"

#include "component_fixture.h"
#include "node/ended_paths.h"

namespace heddle::test::orphans_test {
namespace {

class OrphansTest : public ComponentTest {
 protected:
  LinkStanding standing() const { return board_.standing(kFabric); }
  Nanos first_life() const { return dead_after_ns(site_.classes.longest_life_ns()); }
  // Its first life is over: nothing of a former one is left.
  void grow_old() {
    orphans_.look(turn_.now());
    turn_.begin(turn_.now() + first_life());
    orphans_.look(turn_.now());
  }
};

TEST_F(OrphansTest, ALinkIsSettledWhenTheLastOneIsGone) {
  grow_old();
  orphans_.session_began(fabric_);
  EXPECT_EQ(standing(), LinkStanding::up);
  orphans_.session_ended(fabric_);
  orphans_.made(fabric_);
  orphans_.made(fabric_);
  orphans_.look(turn_.now());
  EXPECT_EQ(standing(), LinkStanding::down);
  orphans_.freed(fabric_, 1);
  orphans_.look(turn_.now());
  EXPECT_EQ(standing(), LinkStanding::down);
  orphans_.freed(fabric_, 1);
  orphans_.look(turn_.now());
  EXPECT_EQ(standing(), LinkStanding::settled);
  EXPECT_EQ(count_of(fabric_, ProtocolEvent::orphan_made), 2u);
}

TEST_F(OrphansTest, WithoutAnyItIsAtTheEndOfTheTurn) {
  grow_old();
  orphans_.session_began(fabric_);
  orphans_.session_ended(fabric_);
  EXPECT_EQ(standing(), LinkStanding::down);
  orphans_.look(turn_.now());
  EXPECT_EQ(standing(), LinkStanding::settled);
}

TEST_F(OrphansTest, ThoseOfALinkThatIsUpAgainAreNotSaid) {
  grow_old();
  orphans_.session_began(fabric_);
  orphans_.session_ended(fabric_);
  orphans_.made(fabric_);
  orphans_.session_began(fabric_);
  orphans_.freed(fabric_, 1);
  orphans_.look(turn_.now());
  EXPECT_EQ(standing(), LinkStanding::up);
}

// What it has sent before a restart may be on its way still.
TEST_F(OrphansTest, AFreshNodeIsSureOfNothing) {
  orphans_.look(turn_.now());
  EXPECT_EQ(standing(), LinkStanding::down);
  orphans_.session_began(fabric_);
  orphans_.session_ended(fabric_);
  orphans_.look(turn_.now() + first_life() - 1);
  EXPECT_EQ(standing(), LinkStanding::down);
  orphans_.look(turn_.now() + first_life());
  EXPECT_EQ(standing(), LinkStanding::settled);
}

TEST_F(OrphansTest, AFullQuotaAdmitsNoSession) {
  for (uint32_t i = 0; i < site_.settings.orphans_max; ++i) {
    EXPECT_TRUE(orphans_.admits(fabric_));
    orphans_.made(fabric_);
  }
  EXPECT_FALSE(orphans_.admits(fabric_));
  orphans_.freed(fabric_, 1);
  EXPECT_TRUE(orphans_.admits(fabric_));
}

// The first worker tells the fabric of all links of the node: it is called when another one's comes or goes.
TEST_F(OrphansTest, AnotherWorkerWakesTheFirst) {
  const Site second_site(options_, 1);
  Orphans second(second_site, ports_, outbox_, board_);
  second.look(turn_.now());
  second.look(turn_.now() + first_life());
  EXPECT_TRUE(outbox_.woken() & 1) << "a link that has no session is settled";
  for (const bool up : {true, false}) {
    outbox_.begin_turn();
    up ? second.session_began(fabric_) : second.session_ended(fabric_);
    EXPECT_TRUE(outbox_.woken() & 1);
  }
}

TEST_F(OrphansTest, TheFirstWorkerNeedNotBeWoken) {
  grow_old();
  orphans_.session_began(fabric_);
  orphans_.session_ended(fabric_);
  orphans_.look(turn_.now());
  EXPECT_FALSE(outbox_.woken() & 1);
}

}  // namespace
}  // namespace heddle::test::orphans_test
