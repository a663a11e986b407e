// SPDX-License-Identifier: Apache-2.0
#include "ingress/input_arbiter.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <memory>
#include <string>

namespace heddle::input_arbiter_test {
namespace {

constexpr uint32_t kLargest = 1524;

bool anything_left(const Voq& voq) { return voq.ready() != 0 || voq.fifos() != 0; }

// Four virtual output queues of a port with 16 flows.
class InputArbiterTest : public testing::Test {
 protected:
  InputArbiterTest() {
    for (Voq& voq : arbiter_) voq.bytes = {.overhead = 24, .largest = kLargest, .turn_max = kLargest};
  }
  // Who goes next of a queue, and so on, a number each; all that go have more, and packets of so many bytes.
  std::string next(VoqIndex queue, int count, uint32_t bytes = kLargest) {
    std::string order;
    for (; count > 0; --count) {
      order += std::to_string(arbiter_.peek(queue)) + " ";
      arbiter_.commit(queue, true, bytes);
    }
    return order;
  }
  std::string flows_of(VoqIndex queue) {
    std::string all;
    for (FlowId flow = arbiter_.ready(queue, 0).head; flow != kNoFlow; flow = flows_[flow].next_in_list)
      all += std::to_string(flow) + " ";
    return all;
  }

  InputFlowTable flows_{16};
  InputArbiter arbiter_{flows_, 4, kNoApplications};
};

TEST_F(InputArbiterTest, NothingIsNext) {
  EXPECT_EQ(arbiter_.size(), 4u);
  EXPECT_EQ(arbiter_.count(), 0u);
  EXPECT_EQ(arbiter_.peek(2), kNoFlow);
  EXPECT_FALSE(anything_left(arbiter_[2]));
}

TEST_F(InputArbiterTest, FlowsOfAQueueGoByTurns) {
  for (FlowId flow : {FlowId::of(5), FlowId::of(3), FlowId::of(9)}) arbiter_.push(1, flow);
  EXPECT_EQ(next(1, 7), "5 3 9 5 3 9 5 ");
  EXPECT_EQ(arbiter_[1].waiting(), 3u);
}

// A10: a flow with short packets sends more of them.
TEST_F(InputArbiterTest, FlowsShareByBytes) {
  for (FlowId flow : {FlowId::of(5), FlowId::of(3)}) arbiter_.push(1, flow);
  EXPECT_EQ(next(1, 4, kLargest / 4), "5 5 5 5 ");
  EXPECT_EQ(next(1, 1), "3 ");
  EXPECT_EQ(next(1, 3, 600), "5 5 5 ") << "276 bytes more than its share";
  EXPECT_EQ(next(1, 1), "3 ");
  EXPECT_EQ(next(1, 3, 600), "5 5 5 ") << "552, of a share that was so much less";
  EXPECT_EQ(next(1, 1), "3 ");
  EXPECT_EQ(next(1, 2, 600), "5 5 ");
  EXPECT_EQ(next(1, 1), "3 ");
}

// Whatever comes: of a packet longer than the largest no more than a share is owed.
TEST_F(InputArbiterTest, PacketsLongerThanTheLargestGoToo) {
  for (FlowId flow : {FlowId::of(5), FlowId::of(3)}) arbiter_.push(1, flow);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(next(1, 1, 9000), i % 2 == 0 ? "5 " : "3 ");
}

// What it took too much stays with the flow when its queue runs empty; what it left does not.
TEST_F(InputArbiterTest, ADebtOutlivesAnEmptyQueue) {
  for (FlowId flow : {FlowId::of(5), FlowId::of(3)}) arbiter_.push(1, flow);
  EXPECT_EQ(next(1, 1, 1500), "5 ");
  arbiter_.commit(1, false, 1500);
  arbiter_.push(1, 5);
  arbiter_.commit(1, false, 24);
  arbiter_.push(1, 3);
  EXPECT_EQ(next(1, 2, 40), "5 5 ");
  EXPECT_EQ(next(1, 1, 8), "3 ") << "48 bytes were left of 5's share";
  EXPECT_EQ(next(1, 2, kLargest - 8), "3 5 ") << "3's share is one of the largest, as if it had not left some";
}

TEST_F(InputArbiterTest, WhoHasNoMoreLeaves) {
  for (FlowId flow : {FlowId::of(5), FlowId::of(3), FlowId::of(9)}) arbiter_.push(1, flow);
  arbiter_.commit(1, false, kLargest);
  EXPECT_EQ(next(1, 3), "3 9 3 ");
  arbiter_.commit(1, false, kLargest);
  arbiter_.commit(1, false, kLargest);
  EXPECT_EQ(arbiter_.peek(1), kNoFlow);
  EXPECT_FALSE(anything_left(arbiter_[1]));
  arbiter_.push(1, 7);
  EXPECT_EQ(arbiter_.peek(1), 7);
}

TEST_F(InputArbiterTest, WhoIsSetAsideComesBackBehindTheOthers) {
  for (FlowId flow : {FlowId::of(5), FlowId::of(3), FlowId::of(9)}) arbiter_.push(1, flow);
  arbiter_.set_aside(1);
  EXPECT_EQ(flows_of(1), "3 9 ");
  arbiter_.push(1, 5);
  EXPECT_EQ(next(1, 4), "3 9 5 3 ");
}

// A4: whoever finds that the flow may not go after all leaves it where it was.
TEST_F(InputArbiterTest, AnAbandonedLookChangesNothing) {
  for (FlowId flow : {FlowId::of(5), FlowId::of(3)}) arbiter_.push(1, flow);
  arbiter_.push(2, 9);
  arbiter_.push_fifo(2, 3);
  const InputArbiter& looked_at = arbiter_;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(looked_at.peek(1), 5);
    EXPECT_EQ(looked_at.peek(2), 9);
    EXPECT_EQ(looked_at.peek(0), kNoFlow);
  }
  EXPECT_EQ(flows_of(1), "5 3 ");
  EXPECT_EQ(flows_of(2), "9 ");
  EXPECT_EQ(arbiter_[2].fifos(), 0b1000u);
  EXPECT_EQ(arbiter_.count(), 2u);
  EXPECT_EQ(arbiter_.begin_turn(), 1);
  EXPECT_EQ(next(1, 3), "5 3 5 ");
}

TEST_F(InputArbiterTest, QueuesAreServedInTheOrderInWhichTheyWoke) {
  arbiter_.push(2, 4);
  arbiter_.wake(0);
  arbiter_.push(2, 6);  // it is listed already
  EXPECT_EQ(arbiter_.count(), 2u);
  EXPECT_EQ(arbiter_.begin_turn(), 2);
  arbiter_.wake(2);  // behind the other one
  EXPECT_EQ(arbiter_.begin_turn(), 0);
  EXPECT_EQ(arbiter_.begin_turn(), 2);
  EXPECT_EQ(arbiter_.count(), 0u);
  arbiter_.wake(3);
  EXPECT_EQ(arbiter_.count(), 1u);
  EXPECT_EQ(arbiter_.begin_turn(), 3);
}

// Ports of one worker: whose queue has waited longest, over all of them.
TEST_F(InputArbiterTest, PortsThatShareTheirOrderTellWhoWokeFirst) {
  InputArbiter other(flows_, 4, kNoApplications);
  uint64_t order = 0;
  arbiter_.share_order(order);
  other.share_order(order);
  other.wake(3);
  arbiter_.wake(1);
  other.wake(0);
  EXPECT_LT(other.woken(), arbiter_.woken());
  other.begin_turn();
  EXPECT_GT(other.woken(), arbiter_.woken()) << "its second one woke last";
  other.wake(3);
  arbiter_.wake(1);  // is listed, and keeps its place
  EXPECT_LT(arbiter_.woken(), other.woken());
}

TEST_F(InputArbiterTest, FifosWaitBesideFlows) {
  arbiter_.push_fifo(1, 2);
  arbiter_.push_fifo(1, 0);
  EXPECT_EQ(arbiter_.count(), 1u);
  EXPECT_TRUE(anything_left(arbiter_[1]));
  EXPECT_EQ(arbiter_[1].waiting(), 2u);
  arbiter_.push(1, 8);
  EXPECT_EQ(arbiter_[1].waiting(), 3u);
  arbiter_.take_fifo(1, 2);
  EXPECT_EQ(arbiter_[1].fifos(), 0b1u);
  arbiter_.take_fifo(1, 0);
  EXPECT_TRUE(anything_left(arbiter_[1])) << "the flow";
}

TEST_F(InputArbiterTest, AnEndedSessionLeavesNobodyWaiting) {
  arbiter_.push(1, 8);
  arbiter_.push_fifo(3, 1);
  arbiter_.clear();
  EXPECT_EQ(arbiter_.peek(1), kNoFlow);
  for (const Voq& voq : arbiter_) EXPECT_FALSE(anything_left(voq));
  EXPECT_EQ(arbiter_.count(), 2u) << "they are looked at once more";
}

// A port that is shared by applications: flow n is of group n / 10, groups 1 to 3; 1 and 2 have injection limit ID 1,
// group 3 has ID 2.
class GroupArbiterTest : public testing::Test {
 protected:
  GroupArbiterTest() {
    for (FlowId flow = 1; flow <= 40; ++flow) flows_[flow].group = static_cast<uint8_t>(flow / 10);
  }
  void make() {
    policy_.configured = true;
    policy_.groups[1].limit = policy_.groups[2].limit = 1;
    policy_.groups[3].limit = 2;
    arbiter_ = std::make_unique<InputArbiter>(flows_, 2, policy_);
    for (Voq& voq : *arbiter_) voq.bytes = {.overhead = 24, .largest = kLargest, .turn_max = kLargest};
  }
  void push(std::initializer_list<int> flows) {
    for (const int flow : flows) arbiter_->push(1, FlowId::of(flow));
  }
  std::string next(int count, uint32_t bytes = kLargest) {
    std::string order;
    for (; count > 0; --count) {
      order += std::to_string(arbiter_->peek(1)) + " ";
      arbiter_->commit(1, true, bytes);
    }
    return order;
  }

  InputFlowTable flows_{40};
  ApplicationPolicy policy_;
  std::unique_ptr<InputArbiter> arbiter_;
};

// A3: by application, not by number of flows.
TEST_F(GroupArbiterTest, GroupsShareWhateverFlowsTheyHave) {
  make();
  push({11, 21, 22, 23});
  EXPECT_EQ(next(8), "11 21 11 22 11 23 11 21 ");
  EXPECT_EQ((*arbiter_)[1].ready(), 4u);
}

TEST_F(GroupArbiterTest, GroupsShareByBytes) {
  make();
  push({11, 21});
  EXPECT_EQ(next(4, kLargest / 4), "11 11 11 11 ");
  EXPECT_EQ(next(1), "21 ");
  EXPECT_EQ(next(2, kLargest / 4), "11 11 ");
}

TEST_F(GroupArbiterTest, AGroupHasTurnsByItsWeight) {
  policy_.groups[2].weight = 3;
  make();
  push({11, 21, 22});
  EXPECT_EQ(next(8), "11 21 22 21 11 22 21 22 ");
}

// A2, A3: IDs share first, whatever groups they have.
TEST_F(GroupArbiterTest, IdsShareBeforeTheirGroups) {
  make();
  push({11, 21, 31});
  EXPECT_EQ(next(8), "11 31 21 31 11 31 21 31 ");
}

TEST_F(GroupArbiterTest, AnIdHasTurnsByItsWeight) {
  policy_.limits[2].weight = 2;
  make();
  push({11, 21, 31, 32});
  EXPECT_EQ(next(6), "11 31 32 21 31 32 ");
}

// A debt is the group's own, also when none of its flows is ready meanwhile.
TEST_F(GroupArbiterTest, AGroupKeepsItsDebt) {
  make();
  push({11, 21});
  EXPECT_EQ(next(1, 1000), "11 ");
  arbiter_->commit(1, false, 1500);  // 976 bytes more than its turn
  push({12});
  EXPECT_EQ(next(1), "21 ");
  EXPECT_EQ(next(2, 500), "12 12 ") << "548 bytes are left of the next one";
  EXPECT_EQ(next(1), "21 ");
}

TEST_F(GroupArbiterTest, WhoIsSetAsideTakesItsGroupWithIt) {
  make();
  push({11, 21, 31});
  EXPECT_EQ(arbiter_->peek(1), 11);
  arbiter_->set_aside(1);
  EXPECT_EQ((*arbiter_)[1].ready(), 2u);
  EXPECT_EQ(next(4), "21 31 21 31 ");
  arbiter_->set_aside(1);
  EXPECT_EQ(next(2), "31 31 ") << "the ID has no group left";
  arbiter_->set_aside(1);
  EXPECT_EQ(arbiter_->peek(1), kNoFlow);
  push({21});
  EXPECT_EQ(next(1), "21 ");
}

// A4: whoever looks and lets it be finds the same flow next, of that ID and of the others.
TEST_F(GroupArbiterTest, AnAbandonedLookChangesNothing) {
  make();
  push({11, 12, 21, 31});
  next(3);
  const FlowId flow = arbiter_->peek(1);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(arbiter_->peek(1), flow);
  EXPECT_EQ(next(5), "31 12 31 21 31 ");
}

TEST_F(GroupArbiterTest, AnEndedSessionLeavesNobodyWaiting) {
  make();
  push({11, 21, 31});
  arbiter_->clear();
  EXPECT_EQ(arbiter_->peek(1), kNoFlow);
  for (uint8_t group = 0; group < arbiter_->groups(); ++group) EXPECT_TRUE(arbiter_->ready(1, group).empty());
  push({31});
  EXPECT_EQ(next(2), "31 31 ");
}

// Three queues towards the fabric and one that is not. Flow f is of group f / 10; group 1 has ID 1, group 3 ID 2.
class InjectingArbiterTest : public testing::Test {
 protected:
  InjectingArbiterTest() {
    for (FlowId flow = FlowId::of(1); flow <= 40; ++flow) flows_[flow].group = static_cast<uint8_t>(flow / 10);
    policy_.configured = true;
    policy_.groups[1].limit = 1;
    policy_.groups[3].limit = 2;
    policy_.limits[1].bytes = 3000;
    arbiter_ = std::make_unique<InputArbiter>(flows_, 4, policy_);
    for (Voq& voq : *arbiter_) {
      voq.bytes = {.overhead = 24, .largest = kLargest, .turn_max = kLargest};
      voq.leads_in = &voq != &(*arbiter_)[3];
    }
    arbiter_->begin_policy();
  }
  void push(VoqIndex queue, int flow) { arbiter_->push(queue, FlowId::of(flow)); }
  // What packets of the group count as, towards the fabric.
  uint8_t as(uint8_t group) const { return arbiter_->injects_as((*arbiter_)[0], group); }
  // The port has room for one packet, of three groups that wait at three outputs.
  void make_port_short() {
    policy_.limits[1].bytes = kNoInjectionLimit;
    policy_.port_bytes = 1500;
    arbiter_->take_all();
    push(0, 11);
    push(1, 31);
    push(2, 21);
  }
  // All turns that there are: which queue sends how many packets of 1,500 bytes of which flow.
  std::string turns() {
    std::string order;
    for (uint32_t count = arbiter_->count(); count > 0; --count) {
      const VoqIndex queue = arbiter_->begin_turn();
      for (int sent = 0; sent < 8; ++sent) {
        const FlowId flow = arbiter_->peek(queue);
        if (flow == kNoFlow) break;
        order += std::to_string(queue) + ":" + std::to_string(flow) + " ";
        arbiter_->commit(queue, true, kLargest);
        if (queue != 3) arbiter_->inject(as(flows_[flow].group), 1500);
      }
      arbiter_->end_turn(queue, true);
    }
    return order;
  }

  InputFlowTable flows_{40};
  ApplicationPolicy policy_;
  std::unique_ptr<InputArbiter> arbiter_;
};

// A4: its flows stand as they did, and the ID's next one is the same.
TEST_F(InjectingArbiterTest, AnIdAtItsLimitHasNoTurns) {
  for (const int flow : {11, 12, 13, 31}) push(0, flow);
  EXPECT_EQ(turns(), "0:11 0:31 0:12 0:31 0:31 0:31 0:31 0:31 ");
  EXPECT_FALSE(arbiter_->may_inject(as(1)));
  EXPECT_TRUE(arbiter_->may_inject(as(3)));
  EXPECT_EQ(turns(), "0:31 0:31 0:31 0:31 0:31 0:31 0:31 0:31 ");
  arbiter_->settle(as(1), 1500);
  EXPECT_EQ(turns().substr(0, 10), "0:13 0:31 ");
}

TEST_F(InjectingArbiterTest, AQueueThatIsHeldHasNoTurnUntilSomethingIsSettled) {
  push(0, 11);
  EXPECT_EQ(turns(), "0:11 0:11 ");
  EXPECT_EQ(arbiter_->count(), 0u);
  arbiter_->settle(as(1), 1500);
  EXPECT_EQ(turns(), "0:11 ");
  EXPECT_EQ(arbiter_->count(), 0u);
}

// What becomes free goes round, also past a queue that has other IDs to send and so a turn at any time.
TEST_F(InjectingArbiterTest, QueuesHaveTheirTurnsAtAnIdThatIsShort) {
  push(0, 11);
  push(0, 31);
  push(1, 12);
  push(2, 13);
  turns();
  std::string of_the_id;
  for (int i = 0; i < 6; ++i) {
    arbiter_->settle(as(1), 1500);
    const std::string order = turns();
    for (const char* sent : {"0:11 ", "1:12 ", "2:13 "})
      if (order.find(sent) != std::string::npos) of_the_id += sent;
  }
  EXPECT_EQ(of_the_id, "0:11 1:12 2:13 0:11 1:12 2:13 ");
}

// Nobody passes by those who stand in line.
TEST_F(InjectingArbiterTest, WhoStandsInLineComesBeforeThoseWithoutAQueue) {
  push(0, 11);
  turns();
  arbiter_->settle(as(1), 1500);
  EXPECT_FALSE(arbiter_->may_inject(as(1))) << "it is the turn of queue 0";
  turns();
  arbiter_->settle(as(1), 3000);
  turns();
  EXPECT_FALSE(arbiter_->may_inject(as(1)));
}

TEST_F(InjectingArbiterTest, LocalDeliveryHasNoLimit) {
  push(0, 11);
  push(3, 12);
  EXPECT_EQ(turns(), "0:11 0:11 3:12 3:12 3:12 3:12 3:12 3:12 3:12 3:12 ");
  EXPECT_EQ(turns().size(), 8u * 5);
}

// Nor by queues that wait for room meanwhile, however often they get some.
TEST_F(InjectingArbiterTest, RoomIsNoTurn) {
  push(0, 11);
  push(1, 12);
  ASSERT_EQ(arbiter_->begin_turn(), 0);
  for (int sent = 0; sent < 2; ++sent) {
    ASSERT_EQ(arbiter_->peek(0), 11);
    arbiter_->commit(0, true, kLargest);
    arbiter_->inject(as(1), 1500);
  }
  arbiter_->end_turn(0, false);
  EXPECT_EQ(turns(), "") << "queue 1 stands in line";
  std::string order;
  for (int round = 0; round < 4; ++round) {
    arbiter_->wake(0);
    arbiter_->settle(as(1), 1500);
    order += turns();
  }
  EXPECT_EQ(order, "0:11 1:12 0:11 1:12 ");
}

// A turn that meets no room is kept with a packet's bytes, and the next queue has one, too.
TEST_F(InjectingArbiterTest, WhoWaitsForRoomKeepsItsTurn) {
  push(0, 11);
  push(1, 12);
  turns();  // both stand in line
  arbiter_->settle(as(1), 1500);
  ASSERT_EQ(arbiter_->count(), 1u);
  EXPECT_EQ(arbiter_->begin_turn(), 0);
  arbiter_->end_turn(0, false);
  EXPECT_EQ(arbiter_->count(), 0u) << "they are promised";
  EXPECT_FALSE(arbiter_->may_inject(as(1)));
  arbiter_->settle(as(1), 1500);
  EXPECT_EQ(turns(), "1:12 ");
  arbiter_->wake(0);
  EXPECT_EQ(turns(), "0:11 ");
}

// One that has sent less than it might have has had its turn.
TEST_F(InjectingArbiterTest, AWeightIsNoReasonToComeFirst) {
  policy_.limits[1].weight = 3;
  push(0, 11);
  push(1, 12);
  turns();
  std::string order;
  for (int i = 0; i < 4; ++i) {
    arbiter_->settle(as(1), 1500);
    order += turns();
  }
  EXPECT_EQ(order, "0:11 1:12 0:11 1:12 ");
}

// Whoever comes while others stand in line stands behind them, also if it is asked first.
TEST_F(InjectingArbiterTest, NewcomersStandBehind) {
  push(0, 11);
  turns();
  push(2, 13);
  arbiter_->settle(as(1), 1500);
  EXPECT_EQ(turns(), "0:11 ");
  arbiter_->settle(as(1), 1500);
  EXPECT_EQ(turns(), "2:13 ");
}

// An ID without a limit takes all room that its queue ever gets; the other one has its turns there nonetheless.
TEST_F(InjectingArbiterTest, RoomIsForWhomItHasATurn) {
  push(0, 11);
  push(0, 31);
  push(1, 12);
  std::string order;
  int room = 0;
  for (int round = 0; round < 80; ++round) {  // there is room, or something is settled, never both
    room = round % 2 == 0 ? 2 : 0;
    if (room != 0)
      arbiter_->wake(0);
    else if (round > 1)
      arbiter_->settle(as(1), 1500);
    for (uint32_t count = arbiter_->count(); count > 0; --count) {
      const VoqIndex queue = arbiter_->begin_turn();
      FlowId flow = kNoFlow;
      while ((queue != 0 || room > 0) && (flow = arbiter_->peek(queue)) != kNoFlow) {
        order += std::to_string(flow) + " ";
        arbiter_->commit(queue, true, kLargest);
        arbiter_->inject(as(flows_[flow].group), 1500);
        room -= queue == 0;
      }
      arbiter_->end_turn(queue, queue != 0 || room > 0);
    }
  }
  const auto sent = [&order](const std::string& flow) {
    int count = 0;
    for (size_t at = 0; (at = order.find(flow, at)) != std::string::npos; ++at) ++count;
    return count;
  };
  EXPECT_NEAR(sent("11 "), sent("12 "), 3) << order;
  EXPECT_EQ(sent("11 ") + sent("31 "), 80) << "and no room is left: " << order;
}

// A7: where it is the port's limit that is short, IDs at several queues have it by turns, too.
TEST_F(InjectingArbiterTest, NoIdIsAlwaysTheFirstAtTheLimitOfThePort) {
  make_port_short();
  std::array<int, 4> sent{};
  for (int round = 0; round < 30; ++round) {
    const std::string order = turns();
    ASSERT_EQ(order.size(), 5u) << order << " in round " << round;
    const auto group = static_cast<uint8_t>(order[2] - '0');
    ++sent[group];
    arbiter_->settle(group, 1500);
  }
  EXPECT_EQ(sent, (std::array<int, 4>{0, 10, 10, 10}));
}

// What leaves for hosts of the same node has no part in that.
TEST_F(InjectingArbiterTest, LocalDeliveryDoesNotSayWhoIsNextAtTheLimitOfThePort) {
  make_port_short();
  push(3, 22);
  std::array<int, 4> sent{};
  for (int round = 0; round < 30; ++round) {
    turns();
    turns();  // of queue 3 alone: the port is at its limit
    for (const uint8_t group : {1, 2, 3}) {
      const uint64_t injected = arbiter_->injection().injected_bytes(policy_.groups[group].limit);
      if (injected == 0) continue;
      ++sent[group];
      arbiter_->settle(as(group), static_cast<uint32_t>(injected));
    }
  }
  for (const int group : {1, 2, 3}) EXPECT_NEAR(sent[static_cast<size_t>(group)], 10, 1);
}

// A9: whoever stood in line, or had a turn, stands as the new policy says.
TEST_F(InjectingArbiterTest, AnotherPolicyHoldsAtOnce) {
  push(0, 11);
  push(1, 12);
  turns();
  policy_.limits[1].bytes = 4500;
  policy_.limits[2].bytes = 0;
  std::vector<FlowList> all = arbiter_->take_all();
  EXPECT_EQ((*arbiter_)[0].ready(), 0u);
  EXPECT_EQ(arbiter_->injection().injected_bytes(), 0u);
  arbiter_->inject(as(1), 3000);
  flows_[FlowId::of(12)].group = 3;
  for (VoqIndex queue = 0; queue < all.size(); ++queue)
    while (!all[queue].empty()) arbiter_->push(queue, flows_.pop(all[queue]));
  EXPECT_EQ(turns(), "0:11 ");
}

// Without a policy a group that flows may have had before is none.
TEST_F(GroupArbiterTest, WithoutAPolicyThereIsOneGroup) {
  InputArbiter arbiter(flows_, 1, kNoApplications);
  arbiter[0].bytes = {.overhead = 24, .largest = kLargest, .turn_max = kLargest};
  EXPECT_EQ(arbiter.groups(), 1u);
  for (const int flow : {11, 21, 22}) arbiter.push(0, FlowId::of(flow));
  std::string order;
  for (int i = 0; i < 4; ++i) {
    order += std::to_string(arbiter.peek(0)) + " ";
    arbiter.commit(0, true, kLargest);
  }
  EXPECT_EQ(order, "11 21 22 11 ");
}

TEST_F(InputArbiterTest, APacketTakesRoomAndLane) {
  Voq& voq = arbiter_[1];
  voq.lane = 3;
  voq.room = 7;
  Packet packet{};
  packet.cost = 5;
  voq.take_lane(packet);
  EXPECT_EQ(packet.lane, 3);
  EXPECT_EQ(voq.room, 2);
}

}  // namespace
}  // namespace heddle::input_arbiter_test
