// SPDX-License-Identifier: Apache-2.0
// Scenarios of routing and what fails them: paths without redirects, without longer ways, with links down.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sim/scenario/scenario_run.h"

namespace heddle::sim::scenario_paths_test {
namespace {

const std::filesystem::path kRoot = HEDDLE_SOURCE_ROOT;

// R9, R10: the sources of an incast stay where they are; who shares a full link with them has to move, or waits.
TEST(Scenario, WhoSharesALinkWithAnIncastIsMoved) {
  ConfigErrors errors;
  const auto scenario =
      load_scenario((kRoot / "config/sim/incast-beside.yaml").string(), errors, {.baseline = Baseline::no_redirects});
  ASSERT_TRUE(scenario) << errors.text();
  const ScenarioResult result = run_scenario(*scenario);
  EXPECT_EQ(result.broken, "");
  for (const ExpectationResult& one : result.expectations) {
    const Measure measure = one.expectation.measure;
    EXPECT_EQ(one.met, measure != Measure::share_at_least && measure != Measure::p99_of_alone_at_most)
        << expectation_text(*scenario, one.expectation);
  }
}

// R9: without redirects, or with paths that nobody chooses by load, flows that met on a link stay there.
TEST(Scenario, FlowsThatShareALinkAreMoved) {
  for (const char* name : {"two-spines", "fat-tree", "slow-link"})
    for (const Baseline baseline : {Baseline::none, Baseline::no_redirects, Baseline::fixed_paths})
      for (const uint32_t slower : {1u, 10u}) {
        if (slower == 10 && (baseline != Baseline::none || name != std::string("two-spines"))) continue;
        ConfigErrors errors;
        const auto scenario = load_scenario((kRoot / "config/sim" / name).string() + ".yaml", errors,
                                            {.baseline = baseline, .slower = slower});
        ASSERT_TRUE(scenario) << errors.text();
        const ScenarioResult result = run_scenario(*scenario);
        EXPECT_EQ(result.passed(), baseline == Baseline::none) << name << ' ' << slower;
      }
}

// R3, R9: where a link is full of another class it is as good for this one as its part of it.
TEST(Scenario, BesideAnotherClassWaysAreChosenByWhatIsInTheWay) {
  for (const char* name : {"beside-bulk", "beyond-bulk"})
    for (const Baseline baseline : {Baseline::fixed_paths, Baseline::random_paths, Baseline::no_redirects}) {
      ConfigErrors errors;
      const auto scenario =
          load_scenario((kRoot / "config/sim" / name).string() + ".yaml", errors, {.baseline = baseline});
      ASSERT_TRUE(scenario) << errors.text();
      EXPECT_FALSE(run_scenario(*scenario).passed()) << name;
    }
}

// R4: on the shortest paths alone, or on longer ones whatever waits for the shortest, it does not get through.
TEST(Scenario, WhatOneLinkBetweenGroupsCannotCarryGoesByOtherGroups) {
  for (const Baseline baseline : {Baseline::shortest_paths, Baseline::valiant}) {  // as shipped: MeetsItsExpectations
    ConfigErrors errors;
    const auto scenario = load_scenario((kRoot / "config/sim/dragonfly.yaml").string(), errors, {.baseline = baseline});
    ASSERT_TRUE(scenario) << errors.text();
    EXPECT_FALSE(run_scenario(*scenario).passed());
  }
}

// R4, R11: and so it is where all shortest paths go the same way round.
TEST(Scenario, ATornadoTakesTheOtherWayRoundToo) {
  for (const char* name : {"hyperx", "torus"})
    for (const Baseline baseline : {Baseline::shortest_paths, Baseline::valiant}) {
      ConfigErrors errors;
      const auto scenario =
          load_scenario((kRoot / "config/sim" / name).string() + ".yaml", errors, {.baseline = baseline});
      ASSERT_TRUE(scenario) << errors.text();
      EXPECT_FALSE(run_scenario(*scenario).passed()) << name;
    }
}

// R5, K11: all that lossless flows send arrives, also with a link down, by longer ways, and with as few flow IDs as may
// be: they wait in no ring, neither for buffers nor for IDs. Their hosts' rings are short, as a card stops at PAUSE,
// and what is in a simulated host's ring is sent still.
TEST(Scenario, LosslessFlowsDoNotWaitForEachOtherInARing) {
  struct Plan {
    std::string sizes, link;
    int flow_ids_least;
  };
  const auto hunt = [](const Plan& plan, bool link_down, int flow_ids) {
    return "name: hunt\nduration: 400ms\nsettings: { flow_ids: " + std::to_string(flow_ids) +
           " }\nclasses: [{ name: default, lossless: true }]\nfabric: { kind: " + plan.sizes +
           ", rate: 10G, host_rate: 10G, workers: 2 }\n" +
           (link_down ? "faults: [{ at: 10ms, do: link_down, link: \"" + plan.link + "\" }]\n" : "") +
           "workloads: [{ name: all, from: \"h*\", to: \"h*\", transfer: 32k, rate: 250M, start: 200ms }]\n"
           "measure: { from: 199ms, to: 399ms }\n"
           "expect: [{ late_frames_at_most: 0, lost_frames_at_most: 0, drops_at_most: 0 }]\n";
  };
  for (const Plan& plan :
       {Plan{"torus, dimensions: [4, 4], hosts: 3", "s1-1:x2", 14},
        Plan{"hyperx, dimensions: [3, 3], hosts: 4", "s1-1:x2", 15},
        Plan{"mesh, dimensions: [4, 4], hosts: 3", "s1-1:x2", 18}, Plan{"fat-tree, radix: 4", "edge1-1:u1", 3},
        Plan{"leaf-spine, leaves: 4, spines: 3, hosts: 6", "leaf1:u1", 8},
        Plan{"dragonfly, routers: 3, globals: 1, hosts: 3", "r1-1:g2", 17}}) {
    ConfigErrors errors;
    EXPECT_FALSE(parse_scenario(hunt(plan, false, plan.flow_ids_least - 1), "hunt.yaml", errors)) << plan.sizes;
    EXPECT_NE(errors.text().find("allowed at least " + std::to_string(plan.flow_ids_least) + ","), std::string::npos)
        << errors.text();
    for (const bool link_down : {false, true})
      for (const Baseline paths : {Baseline::none, Baseline::valiant}) {
        if (paths == Baseline::valiant && !link_down) continue;  // with the link there are more ways round
        ConfigErrors none;
        auto scenario =
            parse_scenario(hunt(plan, link_down, plan.flow_ids_least), "hunt.yaml", none, {.baseline = paths});
        ASSERT_TRUE(scenario) << none.text();
        for (HostSetup& host : scenario->setup.hosts) host.to_switch.transmit_frames = 32;
        const ScenarioResult result = run_scenario(*scenario);
        const std::string what = plan.sizes + (link_down ? " without " + plan.link : "") +
                                 (paths == Baseline::none ? "" : " by longer ways");
        EXPECT_TRUE(result.passed()) << what << '\n' << report_text(*scenario, result);
        ASSERT_EQ(result.workloads.size(), 1u);
        for (const TransferResult& transfer : result.workloads[0].transfers)
          ASSERT_TRUE(transfer.completion_ns) << what << ": " << transfer.flow;
      }
  }
}

// R12: the link between two groups is down. What it carried goes by others, and nothing comes to a dead end.
TEST(Scenario, LongerWaysLeadAroundALinkThatIsDown) {
  std::ifstream file(kRoot / "config/sim/dragonfly.yaml");
  std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto replace = [&text](const std::string& is, const std::string& becomes) {
    ASSERT_NE(text.find(is), std::string::npos) << is;
    for (size_t at = 0; (at = text.find(is, at)) != std::string::npos; at += becomes.size())
      text.replace(at, is.size(), becomes);
  };
  replace("workloads:", "faults: [{ at: 10ms, do: link_down, link: \"r2-1:g3\" }]\nworkloads:");
  replace("start: 48ms", "start: 168ms");  // when that is known
  replace("{ from: 51ms, to: 53ms }", "{ from: 171ms, to: 172ms }");
  replace("duration: 54ms", "duration: 173ms");
  replace("lost_frames_at_most: 0 }", "lost_frames_at_most: 0, drops_at_most: 0 }");
  ConfigErrors errors;
  const auto scenario = parse_scenario(text, "dragonfly.yaml", errors);
  ASSERT_TRUE(scenario) << errors.text();
  EXPECT_TRUE(run_scenario(*scenario).passed());
}

}  // namespace
}  // namespace heddle::sim::scenario_paths_test
