// SPDX-License-Identifier: Apache-2.0
#include "sim/swarm/fuzz.h"

#include <gtest/gtest.h>

namespace heddle::sim::fuzz_test {
namespace {

TEST(Fuzz, TheFirstSeedsKeepAllInvariants) {
  uint64_t delivered = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const SeedResult result = run_seed(seed, nullptr);
    EXPECT_EQ(result.failure, "") << "replay: heddle-sim fuzz --seeds " << seed << '-' << seed << " --verbose";
    delivered += result.delivered_frames;
  }
  EXPECT_GT(delivered, 60'000u);
}

TEST(Fuzz, TheSameSeedTakesTheSameWay) {
  for (uint64_t seed = 100; seed < 105; ++seed) {
    const SeedResult once = run_seed(seed, nullptr), again = run_seed(seed, nullptr);
    EXPECT_EQ(once.trace_hash, again.trace_hash) << "seed " << seed;
    EXPECT_EQ(once.packet_hops, again.packet_hops) << "seed " << seed;
  }
  EXPECT_NE(run_seed(100, nullptr).trace_hash, run_seed(101, nullptr).trace_hash);
}

// Seeds that found something once.
TEST(Fuzz, OldFindingsStayFixed) {
  for (const uint64_t seed : {
           uint64_t{3}, uint64_t{112},     // a flooded frame came back to its sender while trees differed
           uint64_t{667}, uint64_t{1999},  // held flows kept a level that was over, and scarce flow IDs
           uint64_t{3610},                 // frames that died on their way renewed the level that held them
           uint64_t{391},                  // a flow that began to grant credit forgot what it had been granted
           uint64_t{5432},                 // ACKs took more than the rate of a slow port, for ever
           uint64_t{7064},                 // packets outlived their life while such frames had used the rate up
       }) {
    const SeedResult result = run_seed(seed, nullptr);
    EXPECT_EQ(result.failure, "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace heddle::sim::fuzz_test
