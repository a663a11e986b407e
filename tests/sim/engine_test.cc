// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/engine.h"

#include <gtest/gtest.h>

#include <vector>

namespace heddle::sim::engine_test {
namespace {

struct Recorder : Actor {
  Recorder(std::vector<std::pair<int, Nanos>>& record, int number) : out(record), name(number) {}
  void act(Nanos now) override { out.emplace_back(name, now); }
  std::vector<std::pair<int, Nanos>>& out;
  int name;
};

using Record = std::vector<std::pair<int, Nanos>>;

TEST(Engine, ActorsActInOrderOfTimeThenOfAsking) {
  Record record;
  Engine engine(100);
  Recorder a(record, 1), b(record, 2), c(record, 3);
  engine.wake(b, 200);
  engine.wake(a, 200);
  engine.wake(c, 150);
  engine.run_until(300);
  EXPECT_EQ(record, (Record{{3, 150}, {2, 200}, {1, 200}}));
  EXPECT_EQ(engine.now(), 300u);
}

TEST(Engine, AnEarlierWakeReplacesALaterOneAndNotTheOtherWayRound) {
  Record record;
  Engine engine(0);
  Recorder a(record, 1);
  engine.wake(a, 500);
  engine.wake(a, 200);
  engine.wake(a, 300);
  engine.run_until(1000);
  EXPECT_EQ(record, (Record{{1, 200}}));
}

TEST(Engine, ActionsRunOnceAndMayPlanOthers) {
  Engine engine(0);
  std::vector<Nanos> times;
  engine.at(10, [&] {
    times.push_back(engine.now());
    engine.at(20, [&] { times.push_back(engine.now()); });
  });
  engine.run_until(15);
  EXPECT_EQ(times, (std::vector<Nanos>{10}));
  engine.run_until(30);
  EXPECT_EQ(times, (std::vector<Nanos>{10, 20}));
}

}  // namespace
}  // namespace heddle::sim::engine_test
