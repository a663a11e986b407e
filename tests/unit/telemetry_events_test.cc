// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "switch_process_fixture.h"
#include "telemetry/event_journal.h"
#include "telemetry/event_watch.h"

namespace heddle::telemetry_events_test {
namespace {

struct Journal : testing::Test {
  void add(const std::string& place, Nanos at, const std::string& text = "down") {
    journal.add({.at_ns = at, .kind = "link", .place = place, .text = text});
  }
  std::vector<Event> logged;
  EventJournal journal{[this](const Event& event) { logged.push_back(event); }};
};

TEST_F(Journal, NumbersEventsAndGivesThoseBehindANumber) {
  add("a:p1", kSecond, "down");
  add("a:p2", kSecond, "up");
  add("a:p3", kSecond, "down");
  EXPECT_EQ(journal.last_number(), 3u);
  const std::vector<Event> behind = journal.since(1, 10);
  ASSERT_EQ(behind.size(), 2u);
  EXPECT_EQ(behind[0].number, 2u);
  EXPECT_EQ(behind[0].text, "up");
  EXPECT_EQ(journal.since(0, 2).front().number, 2u) << "the newest, if there are too many";
  EXPECT_TRUE(journal.since(3, 10).empty());
  EXPECT_EQ(logged.size(), 3u);
}

TEST_F(Journal, OfOneKindAtOnePlaceOnlySoManyAreTakenAndTheRestIsCounted) {
  for (uint32_t i = 0; i < 30; ++i) add("a:p1", kSecond + i);
  add("a:p2", kSecond);
  EXPECT_EQ(logged.size(), EventJournal::kBurst + 1);
  journal.end_windows(kSecond + EventJournal::kWindow - 1);
  EXPECT_EQ(logged.size(), EventJournal::kBurst + 1);
  journal.end_windows(kSecond + EventJournal::kWindow);
  ASSERT_EQ(logged.size(), EventJournal::kBurst + 2);
  EXPECT_EQ(logged.back().text, "and 20 more in 10 s, the last: down");
  EXPECT_EQ(logged.back().place, "a:p1");
  for (uint32_t i = 0; i < 11; ++i) add("a:p1", 20 * kSecond, i == 10 ? "up" : "down");
  add("a:p1", 31 * kSecond);
  EXPECT_EQ(logged[logged.size() - 2].text, "up") << "one alone is said itself, and by the next one, too";
}

TEST_F(Journal, KeepsTheNewest) {
  for (uint32_t i = 0; i < EventJournal::kKept + 5; ++i) add("a:p" + std::to_string(i), kSecond);
  EXPECT_EQ(journal.since(0, EventJournal::kKept + 5).size(), EventJournal::kKept);
  EXPECT_EQ(journal.since(0, EventJournal::kKept).front().number, 6u);
}

struct Watch : SwitchProcessTest {
  std::vector<std::string> take() {
    watch.tick(now);
    std::vector<std::string> texts;
    for (const Event& event : journal.since(seen, 100))
      texts.push_back(event.place + " " + event.kind + ": " + event.text);
    seen = journal.last_number();
    return texts;
  }
  EventJournal journal{[](const Event&) {}};
  EventWatch watch{*process, journal};
  uint64_t seen = 0;
};

using Texts = std::vector<std::string>;

TEST_F(Watch, TellsOfLinksAndNeighbours) {
  run_for(kSecond);
  EXPECT_EQ(take(), (Texts{"left:p1 link: to right:p1 up", "right:p1 link: to left:p1 up"}));
  process->set_node_up(1, false);
  run_for(kSecond);
  EXPECT_EQ(take(), Texts{"left:p1 link: to right:p1 down: no hello"});
  process->change_link({0, 0}, {.up = false, .loss_ppm = {}, .delay_ns = {}});
  run_for(kSecond);
  EXPECT_EQ(take(), Texts{"left:p1 link: to right:p1 down: no carrier"});
}

TEST_F(Watch, TellsWhenDropsBeginAndWhenTheyHaveEnded) {
  run_for(kSecond);
  take();
  // Hellos to a port with nothing plugged in are lost below it: the host's edge port sends none, so lose real frames.
  UnpluggedDevice& nowhere = *process->nodes()[0].ports[1].unplugged;
  const auto lose = [&] {
    Packet* packet;
    ASSERT_EQ(const_cast<MempoolPool&>(process->pool()).allocate(&packet, 1), 1u);
    nowhere.transmit(&packet, 1, now);
  };
  lose();
  now += kSecond;
  EXPECT_EQ(take(), Texts{"left:host drops: begin: not_plugged_in, sent while nothing was plugged in"});
  lose();
  now += kSecond;
  EXPECT_EQ(take(), Texts{}) << "they go on";
  now += 9 * kSecond;
  EXPECT_EQ(take(), Texts{});
  now += kSecond;
  EXPECT_EQ(take(), Texts{"left:host drops: ended: not_plugged_in, 2 frames in 2.00 s"});
  lose();
  now += kSecond;
  EXPECT_EQ(take().size(), 1u) << "and begin again";
}

// A device that was away counts from zero.
TEST_F(Watch, CountersThatGoBackBeginAnew) {
  run_for(kSecond);
  take();
  auto& drops = const_cast<Port&>(std::as_const(*process->nodes()[0].node).port(1)).counters.drops;
  const auto set = [&](uint64_t frames) {
    drops[static_cast<unsigned>(DropReason::no_route)] = frames;
    now += kSecond;
    return take();
  };
  EXPECT_EQ(set(1000).size(), 1u);
  now += 10 * kSecond;
  EXPECT_EQ(take().size(), 1u) << "ended";
  EXPECT_EQ(set(7).size(), 1u);
  now += 10 * kSecond;
  const Texts ended = take();
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_NE(ended[0].find(", 7 frames in 1.00 s"), std::string::npos) << ended[0];
}

}  // namespace
}  // namespace heddle::telemetry_events_test
