// SPDX-License-Identifier: Apache-2.0
#include "node/dead_neighbours.h"

#include <memory>

#include "memory_ports.h"
#include "node/port_setup.h"

namespace heddle::test::dead_neighbours_test {
namespace {

constexpr PortIndex kToDead = PortIndex::of(0), kToLeaf = PortIndex::of(1);
constexpr uint16_t kSelf = 0, kDead = 1, kOther = 2, kLeaf = 3;

// A node with links to one that may be dead, which has one to a third as well, and to a leaf with hosts.
class DeadNeighboursTest : public testing::Test {
 protected:
  DeadNeighboursTest() {
    turn_.begin(kSecond);
    link_state_.apply(kDead, {9, 0b11});
    link_state_.apply(kLeaf, {9, 0b10});
    other_says(0b1);
  }
  static Topology description() {
    Topology topology;
    topology.classes.emplace_back();
    for (uint16_t address = 1; address <= 4; ++address) add_node(topology, address, address == kLeaf + 1);
    add_link(topology, kSelf, kDead);
    add_link(topology, kDead, kOther);
    add_link(topology, kSelf, kLeaf);
    return topology;
  }
  NodeOptions options() {
    NodeOptions options;
    options.topology = &topology_;
    options.node_index = kSelf;
    options.devices.assign(2, &device_);
    options.complete_checksums.assign(2, false);
    options.pool = options.control_pool = &pool_;
    return options;
  }
  std::vector<Port*> make_ports() {
    for (PortIndex port : {kToDead, kToLeaf}) made_.push_back(make_port(options_, port));
    return {made_[0].get(), made_[1].get()};
  }
  // The third node's newest record.
  void other_says(PortSet up, PortSet kept_out = 0, uint64_t seen = 0, uint32_t ends = 0) {
    link_state_.apply(kOther, {++others_, up, ~up & 1, kept_out, seen, ends});
  }
  void lose(PortIndex port, LinkStanding standing = LinkStanding::settled) {
    dead_.session_ended(ports_.own(port));
    board_.publish_standing(port, standing);
  }
  void say_own() {
    const PortSet kept = board_.kept_out_with(kToDead) != 0 ? 1 : 0;
    link_state_.originate({.ports_settled = 0b1,
                           .ports_kept_out = kept,
                           .ends_seen = board_.kept_out_with(kToDead),
                           .session_ends = board_.session_ends()});
  }
  // All have lost it, and know of each other.
  void all_give_up() {
    lose(kToDead);
    say_own();
    other_says(0, 0, 0, 1);
    dead_.look();
  }
  void later(Nanos by) { turn_.begin(turn_.now() + by); }
  bool admits(PortIndex port = kToDead) const { return dead_.admits(ports_.own(port)); }
  bool nothing_is_left() const { return dead_.nothing_is_left(ports_.own(kToDead)); }
  Nanos life() const { return dead_after_ns(site_.classes.longest_life_ns()); }

  const Topology topology_ = description();
  HeapPool pool_;
  MemoryDevice device_{pool_};
  const NodeOptions options_ = options();
  std::vector<std::unique_ptr<Port>> made_;
  const Site site_{options_, 0};
  Ports ports_{make_ports()};
  Turn turn_{site_, pool_};
  Outbox outbox_{2, {0, 0}};
  LoadBoard board_{2};
  LinkState link_state_{topology_, kSelf, true};
  DeadNeighbours dead_{site_, ports_, turn_, outbox_, board_, link_state_};
  uint32_t others_ = 0;
};

TEST_F(DeadNeighboursTest, ANodeThatAllHaveGivenUpIsKeptOutForALife) {
  EXPECT_TRUE(admits());
  all_give_up();
  EXPECT_FALSE(admits());
  EXPECT_TRUE(admits(kToLeaf));
  EXPECT_EQ(board_.kept_out_with(kToDead), link_state_.ends_seen());
  constexpr auto kEvent = static_cast<unsigned>(ProtocolEvent::neighbour_kept_out);
  EXPECT_EQ(ports_.own(kToDead).counters.events[kEvent], 1u);
  later(life() - 1);
  other_says(0, 0, 0, 1);
  dead_.look();
  EXPECT_FALSE(admits());
  later(1);
  EXPECT_TRUE(admits()) << "that was no news of an end";
  EXPECT_EQ(outbox_.woken(), 0u) << "this worker speaks for the node itself";
}

TEST_F(DeadNeighboursTest, NotWhileAnotherNodeHasIt) {
  lose(kToDead);
  say_own();
  dead_.look();
  EXPECT_TRUE(admits());
  EXPECT_EQ(board_.kept_out_with(kToDead), 0u);
}

TEST_F(DeadNeighboursTest, NotWhileSomethingOfItIsLeftHere) {
  lose(kToDead, LinkStanding::down);
  say_own();
  other_says(0);
  dead_.look();
  EXPECT_TRUE(admits());
  board_.publish_standing(kToDead, LinkStanding::settled);
  dead_.look();
  EXPECT_FALSE(admits());
}

TEST_F(DeadNeighboursTest, NorOneThatHasNotBegunYet) {
  LinkState fresh(topology_, kSelf, true);
  DeadNeighbours dead(site_, ports_, turn_, outbox_, board_, fresh);
  board_.publish_standing(kToDead, LinkStanding::settled);
  fresh.apply(kOther, {5, 0, 1});
  dead.look();
  EXPECT_TRUE(dead.admits(ports_.own(kToDead)));
}

// No flow of others goes by it, so nobody waits for that.
TEST_F(DeadNeighboursTest, NorOneThatLeadsNowhere) {
  lose(kToLeaf);
  say_own();
  dead_.look();
  EXPECT_TRUE(admits(kToLeaf));
}

TEST_F(DeadNeighboursTest, WhoeverIsKeptOutIsSoForEachEndAnew) {
  all_give_up();
  const uint64_t seen = board_.kept_out_with(kToDead);
  later(life() / 2);
  other_says(0, 0, 0, 2);
  dead_.look();
  EXPECT_NE(board_.kept_out_with(kToDead), seen);
  EXPECT_EQ(board_.kept_out_with(kToDead), link_state_.ends_seen());
  later(life() - 1);
  EXPECT_FALSE(admits());
}

// Whoever waits for it does so for no longer than a life.
TEST_F(DeadNeighboursTest, ButNotForEver) {
  all_give_up();
  later(life());
  other_says(0, 0, 0, 2);
  dead_.look();
  EXPECT_TRUE(admits());
  other_says(1, 0, 0, 2);
  dead_.look();
  other_says(0, 0, 0, 3);
  dead_.look();
  EXPECT_FALSE(admits()) << "given up another time";
}

TEST_F(DeadNeighboursTest, NothingIsLeftOfItWhenAllKeepItOut) {
  all_give_up();
  say_own();
  EXPECT_FALSE(nothing_is_left()) << "the other one does not say so yet";
  other_says(0, 1, link_state_.ends_seen(), 1);
  EXPECT_TRUE(nothing_is_left());
  other_says(0, 0b10, link_state_.ends_seen(), 1);
  EXPECT_FALSE(nothing_is_left()) << "that is another port";
  other_says(0, 1, link_state_.ends_seen() + 1, 1);
  EXPECT_FALSE(nothing_is_left()) << "it had seen other ends";
}

TEST_F(DeadNeighboursTest, AlsoWhereTheFlowWaits) {
  lose(kToDead);
  say_own();
  other_says(0, 1, link_state_.ends_seen(), 0);
  EXPECT_FALSE(nothing_is_left());
}

// The end that a flow waits for is one that the others have seen.
TEST_F(DeadNeighboursTest, AnEndThatHasNotBeenSaidIsLaterThanWhatOthersSay) {
  all_give_up();
  say_own();
  other_says(0, 1, link_state_.ends_seen(), 1);
  ASSERT_TRUE(nothing_is_left());
  dead_.session_ended(ports_.own(kToDead));
  EXPECT_FALSE(nothing_is_left());
}

TEST_F(DeadNeighboursTest, EndsAreCountedPastTheLargestNumber) {
  board_.begin_session_ends(~uint32_t{0} - 1);
  lose(kToLeaf);
  say_own();
  all_give_up();
  ASSERT_EQ(board_.session_ends(), 0u);
  say_own();
  other_says(0, 1, link_state_.ends_seen(), 1);
  EXPECT_TRUE(nothing_is_left());
}

TEST_F(DeadNeighboursTest, TheFirstWorkerIsToSaySo) {
  const Site second(options_, 1);
  DeadNeighbours dead(second, ports_, turn_, outbox_, board_, link_state_);
  lose(kToDead);
  say_own();
  other_says(0);
  dead.look();
  EXPECT_EQ(outbox_.woken(), 1u);
}

}  // namespace
}  // namespace heddle::test::dead_neighbours_test
