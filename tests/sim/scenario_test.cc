// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/report/report_page.h"
#include "sim/scenario/scenario_keys.h"
#include "sim/scenario/scenario_run.h"

namespace heddle::sim::scenario_test {
namespace {

const std::filesystem::path kRoot = HEDDLE_SOURCE_ROOT;

std::vector<std::string> shipped() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kRoot / "config/sim"))
    names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::optional<Scenario> load(const std::string& name, ConfigErrors& errors) {
  return load_scenario((kRoot / "config/sim" / (name + ".yaml")).string(), errors);
}

struct Shipped : testing::TestWithParam<std::string> {};

TEST_P(Shipped, MeetsItsExpectations) {
  ConfigErrors errors;
  const auto scenario = load(GetParam(), errors);
  ASSERT_TRUE(scenario) << errors.text();
  const ScenarioResult result = run_scenario(*scenario);
  EXPECT_FALSE(result.expectations.empty());
  EXPECT_TRUE(result.passed()) << report_text(*scenario, result);
  const auto json = nlohmann::json::parse(report_json(*scenario, result));
  EXPECT_EQ(json["workloads"].size(), scenario->workloads.size() * scenario->windows.size());
  EXPECT_NE(report_csv(*scenario, result).find("time_ms,workload,sent_bps,delivered_bps\n"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Config, Shipped, testing::ValuesIn(shipped()), [](const auto& scenario) {
  std::string name = scenario.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// The same defaults do at a tenth of the rates.
TEST(Scenario, MeetsItsExpectationsTenTimesSlower) {
  for (const char* name : {"incast", "incast-ends", "hot-link", "lossless", "flow-fair"}) {
    ConfigErrors errors;
    const auto scenario = load_scenario((kRoot / "config/sim" / name).string() + ".yaml", errors, {.slower = 10});
    ASSERT_TRUE(scenario) << errors.text();
    const ScenarioResult result = run_scenario(*scenario);
    EXPECT_TRUE(result.passed()) << report_text(*scenario, result);
  }
}

// Nor do they depend on how the ports of a node are dealt to workers.
TEST(Scenario, MeetsItsExpectationsTenTimesSlowerWithSeveralWorkers) {
  for (const char* name : {"two-applications", "two-applications-lossless", "applications-few-ids",
                           "application-weights", "injection-limit", "injection-hops", "injection-turns", "regroup",
                           "by-bytes", "flow-fair", "shaper", "shaper-maximum"}) {
    ConfigErrors errors;
    const auto scenario =
        load_scenario((kRoot / "config/sim" / name).string() + ".yaml", errors, {.slower = 10, .workers = 4});
    ASSERT_TRUE(scenario) << errors.text();
    const ScenarioResult result = run_scenario(*scenario);
    EXPECT_TRUE(result.passed()) << report_text(*scenario, result);
  }
}

// A1-A3: what one flow has beside a thousand of another application is what the weights say, of groups of one injection
// limit ID as of two IDs, lossy or not, with an ID for each flow or for few, of the shortest frames beside the longest.
TEST(Scenario, TwoApplicationsShareByTheirWeightsHoweverTheyAreTold) {
  constexpr uint32_t kShort = 64, kLong = 1514, kCounted = 24, kOnTheLink = 78;  // beside a frame without its tag
  constexpr double kLinkBps = 2e9;
  for (const char* name : {"two-applications", "two-applications-lossless"})
    for (const uint16_t flow_ids : {uint16_t{2047}, uint16_t{64}})
      for (const bool two_ids : {false, true})
        for (const uint8_t weight : {uint8_t{1}, uint8_t{3}}) {
          ConfigErrors errors;
          auto scenario = load_scenario((kRoot / "config/sim" / name).string() + ".yaml", errors);
          ASSERT_TRUE(scenario) << errors.text();
          scenario->setup.topology.settings.flow_ids = flow_ids;
          ApplicationPolicy& policy = scenario->setup.nodes[0].applications;
          if (two_ids) {
            policy.groups[2].limit = 1;
            policy.limits[1].weight = weight;
          } else {
            policy.groups[2].weight = weight;
          }
          HostFlow& one = scenario->flows[scenario->workloads[0].flows[0]];
          one.length_min = one.length_max = kShort;
          one.interval_ns = static_cast<Nanos>((kShort + kCounted) * 8e9 / kLinkBps);
          scenario->expectations.clear();
          const auto expect_part = [&](const char* workload, uint32_t part, uint32_t length) {
            const double bps = kLinkBps * part / (1 + weight) * (length + kCounted) / (length + kOnTheLink);
            for (const auto& [measure, bound] : {std::pair{Measure::steady_throughput_at_least, 0.98 * bps},
                                                 std::pair{Measure::steady_throughput_at_most, 1.02 * bps}})
              scenario->expectations.push_back(
                  {workload, 0, measure, static_cast<uint64_t>(bound), std::to_string(bound)});
          };
          expect_part("one", 1, kShort);
          expect_part("many", weight, kLong);
          const ScenarioResult result = run_scenario(*scenario);
          EXPECT_TRUE(result.passed()) << flow_ids << " flow IDs, 1 to " << +weight
                                       << (two_ids ? " by injection limit ID" : " by group") << '\n'
                                       << report_text(*scenario, result);
        }
}

// X3: how many flows wait for its room another worker's output is told closely enough. K11: a flow that waits for
// another worker's answer takes no ID away from one that has its own. Nor does it matter to what goes to all.
TEST(Scenario, SharesAreTheSameWithSeveralWorkers) {
  for (const char* name : {"one-beside-many", "regroup", "unknown-beside-many", "class-in-transit", "two-rates"}) {
    ConfigErrors errors;
    const auto scenario = load_scenario((kRoot / "config/sim" / name).string() + ".yaml", errors, {.workers = 4});
    ASSERT_TRUE(scenario) << errors.text();
    const ScenarioResult result = run_scenario(*scenario);
    EXPECT_TRUE(result.passed()) << report_text(*scenario, result);
  }
}

// A9, under full load, in turns of 2 ms: the policies of the scenario, and one that lets an application of theirs into
// the fabric no more.
TEST(Scenario, AHundredChangesOfApplicationsCostNobodyAnything) {
  for (const uint32_t workers : {1, 2}) {
    ConfigErrors errors;
    auto scenario = load_scenario((kRoot / "config/sim/regroup.yaml").string(), errors, {.workers = workers});
    ASSERT_TRUE(scenario) << errors.text();
    std::vector<ApplicationPolicy> policies{scenario->setup.nodes[0].applications};
    for (const ScenarioFault& fault : scenario->faults) policies.push_back(fault.applications);
    policies.push_back(policies[0]);
    policies.back().limits[1].bytes = 0;
    policies.emplace_back();  // none
    ASSERT_EQ(policies.size(), 5u);
    const ScenarioFault change = scenario->faults[0];
    scenario->faults.clear();
    for (size_t i = 0; i < 100; ++i) {
      scenario->faults.push_back(change);
      scenario->faults.back().at_ns = 60 * kMillisecond + 2 * kMillisecond * static_cast<Nanos>(i);
      scenario->faults.back().applications = policies[i % policies.size()];
    }
    scenario->windows = {{.name = "all", .from_ns = 50 * kMillisecond, .to_ns = 300 * kMillisecond}};
    scenario->expectations = {
        {"storage", 0, Measure::lost_frames_at_most, 0, "0"},
        {"storage", 0, Measure::late_frames_at_most, 0, "0"},
        {"storage", 0, Measure::gap_at_most, 2 * kMillisecond, "2ms"},
        {"", 0, Measure::throughput_at_least, 1'900'000'000, "1.9G"},
    };
    const ScenarioResult result = run_scenario(*scenario, {.check = true});
    EXPECT_EQ(result.broken, "");
    EXPECT_TRUE(result.passed()) << report_text(*scenario, result);
    const auto count = [&result](ProtocolEvent event) { return result.total.events[static_cast<size_t>(event)]; };
    EXPECT_GE(count(ProtocolEvent::flow_regrouped), 2000u);
    EXPECT_EQ(count(ProtocolEvent::session_ended), 0u);
    EXPECT_EQ(count(ProtocolEvent::lossless_lost), 0u);
  }
}

// Announcements too are fewer, or they would be ten times as many for the links.
TEST(Scenario, SlowerHostsAnnounceThemselvesLessOften) {
  ConfigErrors errors;
  const auto usual = load("incast", errors);
  const auto slower = load_scenario((kRoot / "config/sim/incast.yaml").string(), errors, {.slower = 10});
  ASSERT_TRUE(usual && slower) << errors.text();
  for (size_t host = 0; host < usual->setup.hosts.size(); ++host)
    EXPECT_EQ(slower->setup.hosts[host].announce_interval_ns, 10 * usual->setup.hosts[host].announce_interval_ns);
}

TEST(Scenario, KeepsAllInvariantsUnderTheCheckers) {
  ConfigErrors errors;
  auto scenario = load("random-loss", errors);
  ASSERT_TRUE(scenario) << errors.text();
  const ScenarioResult result = run_scenario(*scenario, {.check = true});
  EXPECT_EQ(result.broken, "");
  EXPECT_GT(result.checks, 0u);
}

TEST(Scenario, AnExpectationThatIsNotMetIsTold) {
  ConfigErrors errors;
  auto scenario = load("two-switches", errors);
  ASSERT_TRUE(scenario);
  scenario->expectations = {{"", 0, Measure::throughput_at_least, 1'000'000'000'000, "1T"}};
  const ScenarioResult result = run_scenario(*scenario);
  EXPECT_FALSE(result.passed());
  EXPECT_NE(report_text(*scenario, result).find("NOT MET: all throughput_at_least 1T"), std::string::npos);
}

TEST(Report, DrawsEveryWorkloadAndVariantOnOnePage) {
  std::vector<PlayedScenario> variants;
  for (const Baseline baseline : {Baseline::none, Baseline::drop_tail}) {
    ConfigErrors errors;
    auto scenario = load_scenario((kRoot / "config/sim/two-switches.yaml").string(), errors, {.baseline = baseline});
    ASSERT_TRUE(scenario) << errors.text();
    scenario->workloads[0].name = "a<b";
    auto result = run_scenario(*scenario, {.keep_flows = true});
    variants.push_back({std::move(*scenario), std::move(result)});
  }
  const std::string page = report_page({variants}, "heddle-sim 1 (abc)");
  const auto count = [&page](const std::string& text) {
    size_t found = 0;
    for (size_t at = page.find(text); at != std::string::npos; at = page.find(text, at + 1)) ++found;
    return found;
  };
  const size_t workloads = variants[0].scenario.workloads.size();
  EXPECT_EQ(count("<svg "), 1 + 2 + 2 + workloads)
      << "the fabric, throughput of each variant, two of queues, latency of each workload";
  EXPECT_EQ(count("heddle-sim 1 (abc)") + count("The smallest fabric with a link in it"), 2u);
  for (const ExpectationResult& one : variants[0].result.expectations)
    EXPECT_GE(count(html_text(expectation_text(variants[0].scenario, one.expectation))), 1u);
  EXPECT_EQ(count(">measured</text>"), 2 + 2u) << "over time: the window is shaded";
  EXPECT_EQ(count("<svg "), count("</svg>"));
  EXPECT_EQ(count("a<b"), 0u);
  EXPECT_GE(count("a&lt;b"), 1 + variants.size());
  EXPECT_GE(count("drop-tail"), workloads + 3);
  EXPECT_EQ(count("nan") + count("inf\""), 0u);
  EXPECT_EQ(count("http"), count("http://www.w3.org/2000/svg")) << "it needs nothing else";
}

// In a variant where no message comes to its end, none is drawn: frames would be beside messages.
TEST(Report, DrawsTimesOfOneKindForAllVariants) {
  std::vector<PlayedScenario> variants(2);
  for (PlayedScenario& played : variants) {
    played.scenario.windows.push_back({});
    played.scenario.workloads.emplace_back().name = "w";
    played.result.workloads.emplace_back().name = "w";
    played.result.workloads[0].latency.add(kMicrosecond);
  }
  variants[0].result.workloads[0].completion.add(kMillisecond);
  const Chart chart = charts_of(variants).back();
  ASSERT_EQ(chart.lines.size(), 2u);
  ASSERT_FALSE(chart.lines[0].points.empty());
  EXPECT_GE(chart.lines[0].points[0].first, 900) << "us";
  EXPECT_TRUE(chart.lines[1].points.empty());
}

// Two switches, 50 ms; streams from 10 to 30 ms, `rest` at the end.
std::string pair_text(const std::string& rest) {
  return "name: x\n"
         "duration: 50ms\n"
         "nodes: { s1: , s2: }\n"
         "links: [{ ends: [\"s1:p0\", \"s2:p0\"], rate: 1G }]\n"
         "hosts: { h1: { port: \"s1:p1\" }, h2: { port: \"s2:p1\" } }\n"
         "workloads:\n"
         "  - { name: w, from: h1, to: h2, rate: 10M, start: 10ms, stop: 30ms }\n" +
         rest;
}

constexpr char kEveryExpectation[] =
    "expect:\n"
    "  - { gap_at_most: 50ms, delivered_at_least: 0%, throughput_at_least: 0k, throughput_at_most: 1T, share_at_least: "
    "0% }\n"
    "  - { latency_p50_at_most: 50ms, latency_p99_at_most: 50ms, late_frames_at_most: 0, lost_frames_at_most: 9 }\n"
    "  - { steady_throughput_at_least: 0k, steady_throughput_at_most: 1T }\n";

TEST(Scenario, WhatMeasuredNoFrameIsNotMet) {
  for (const bool measured : {true, false}) {
    ConfigErrors errors;
    const auto scenario =
        parse_scenario(pair_text(std::string("measure: { from: ") + (measured ? "15ms" : "40ms") + " }\n" +
                                 kEveryExpectation + "  - { workload: w, completion_p99_at_most: 1s }\n"),
                       "x.yaml", errors);
    ASSERT_TRUE(scenario) << errors.text();
    const ScenarioResult result = run_scenario(*scenario);
    ASSERT_EQ(result.expectations.size(), 12u);
    for (const ExpectationResult& expectation : result.expectations) {
      const bool has_frames = measured && expectation.expectation.measure != Measure::completion_p99_at_most;
      EXPECT_EQ(expectation.met, has_frames) << kMeasureNames[static_cast<size_t>(expectation.expectation.measure)];
      EXPECT_EQ(expectation.value.has_value(), has_frames);
    }
    const auto json = nlohmann::json::parse(report_json(*scenario, result));
    EXPECT_TRUE(json["expectations"][11]["value"].is_null());
    EXPECT_NE(report_text(*scenario, result).find("completion_p99_at_most 1s, found no frame to measure"),
              std::string::npos);
  }
}

// What a workload needs alone is compared with the same beside the congestors: frames that still come there say nothing
// of messages or transfers that come to no end.
TEST(Scenario, TimesAreComparedWithTimesOfTheirKind) {
  ConfigErrors errors;
  const auto scenario =
      parse_scenario(pair_text("expect: [{ workload: w, p99_of_alone_at_most: 200%, mean_of_alone_at_most: 200% }]\n"),
                     "x.yaml", errors);
  ASSERT_TRUE(scenario) << errors.text();
  using Times = WorkloadResult::Times;
  // Frames that take 100 ns, and what is `done` in its own time.
  const auto took = [](Times done, std::optional<Nanos> done_ns) {
    WorkloadResult workload;
    workload.name = "w";
    workload.latency.add(100);
    if (done_ns) (workload.*done).add(*done_ns);
    return workload;
  };
  const auto judged = [&](const WorkloadResult& here, const WorkloadResult& there) {
    ScenarioResult result, alone;
    result.workloads = {here};
    alone.workloads = {there};
    judge(*scenario, alone, result);
    return result.expectations;
  };
  for (const Times done : {&WorkloadResult::completion, &WorkloadResult::transfer_completion}) {
    const WorkloadResult none = took(done, std::nullopt), fast = took(done, kMillisecond);
    for (const ExpectationResult& one : judged(none, fast)) EXPECT_FALSE(one.met) << "none has come to its end";
    for (const ExpectationResult& one : judged(took(done, 3 * kMillisecond), fast)) EXPECT_FALSE(one.met);
    for (const ExpectationResult& one : judged(fast, fast)) EXPECT_EQ(one.value, 1'000'000u);
    for (const ExpectationResult& one : judged(fast, none)) EXPECT_EQ(one.value, 1'000'000u) << "frames are compared";
  }
}

// Of a workload, or of all together, in the intervals that lie in the window, whole.
TEST(Scenario, ThroughputHoldsInEachInterval) {
  ConfigErrors errors;
  auto scenario = parse_scenario(pair_text("expect:\n"
                                           "  - { workload: w, steady_throughput_at_least: 3k }\n"
                                           "  - { workload: w, steady_throughput_at_most: 5k }\n"
                                           "  - { steady_throughput_at_least: 13k }\n"
                                           "  - { steady_throughput_at_most: 14k }\n"),
                                 "x.yaml", errors);
  ASSERT_TRUE(scenario) << errors.text();
  scenario->workloads.push_back(scenario->workloads[0]);
  scenario->workloads[1].name = "other";
  scenario->interval_ns = 10;
  scenario->windows = {{.name = "", .from_ns = 15, .to_ns = 50}};
  ScenarioResult result;
  for (const Workload& workload : scenario->workloads) {
    result.workloads.emplace_back().name = workload.name;
    result.workloads.back().sent_frames = 1;
  }
  uint64_t bps = 1000;
  for (const Nanos at : {10, 20, 30, 40, 50, 60}) {
    result.samples.push_back({.at_ns = at, .workload = 0, .sent_bps = 0, .delivered_bps = bps});
    result.samples.push_back({.at_ns = at, .workload = 1, .sent_bps = 0, .delivered_bps = 10'000});
    bps += 1000;
  }
  judge(*scenario, {}, result);
  ASSERT_EQ(result.expectations.size(), 4u);
  EXPECT_EQ(result.expectations[0].value, 3000u) << "the second interval begins before the window";
  EXPECT_EQ(result.expectations[1].value, 5000u) << "the sixth ends behind it";
  EXPECT_TRUE(result.expectations[0].met);
  EXPECT_TRUE(result.expectations[1].met);
  EXPECT_EQ(result.expectations[2].value, 13'000u);
  EXPECT_EQ(result.expectations[3].value, 15'000u);
  EXPECT_FALSE(result.expectations[3].met);
}

TEST(Scenario, AFlowThatIsNeverDeliveredIsSilentUntilItStops) {
  ConfigErrors errors;
  const auto scenario = parse_scenario(pair_text("faults: [{ at: 0ms, do: link_down, link: \"s1:p0\" }]\n"
                                                 "expect: [{ gap_at_most: 1ms, late_frames_at_most: 0 }]\n"),
                                       "x.yaml", errors);
  ASSERT_TRUE(scenario) << errors.text();
  const ScenarioResult result = run_scenario(*scenario);
  EXPECT_EQ(result.expectations[0].value, 30 * kMillisecond);
  EXPECT_FALSE(result.expectations[0].met);
  EXPECT_FALSE(result.expectations[1].met);
}

std::string problems_of(const std::string& text) {
  ConfigErrors errors;
  EXPECT_FALSE(parse_scenario(text, "x.yaml", errors));
  return errors.text();
}

TEST(ScenarioFile, TimeToMeasureIsNotEmpty) {
  EXPECT_EQ(problems_of(pair_text("measure: { from: 40ms, to: 20ms }\n")),
            "x.yaml:8:18: measure.from: found 40ms, allowed less than 20ms, the end of the measurement\n");
  EXPECT_EQ(problems_of(pair_text("measure: { from: 20ms, to: 20ms }\n")),
            "x.yaml:8:18: measure.from: found 20ms, allowed less than 20ms, the end of the measurement\n");
  EXPECT_EQ(problems_of(pair_text("measure: { from: 50ms, to: 60ms }\n")),
            "x.yaml:8:18: measure.from: found 50ms, allowed less than 50ms, the duration\n");
  EXPECT_EQ(problems_of(pair_text("measure: { from: 60ms }\n")),
            "x.yaml:8:18: measure.from: found 60ms, allowed less than 50ms, the duration\n");
  EXPECT_EQ(problems_of(pair_text("measure: { to: 0ms }\n")),
            "x.yaml:8:16: measure.to: found 0ms, allowed more than 0ns\n");
}

// C1 per class: without congestion control the senders of an incast in a small class have what chance gives them.
TEST(Scenario, ASmallClassIsSharedByCongestionControl) {
  ConfigErrors errors;
  const auto scenario =
      load_scenario((kRoot / "config/sim/small-class.yaml").string(), errors, {.baseline = Baseline::credits_only});
  ASSERT_TRUE(scenario) << errors.text();
  const ScenarioResult result = run_scenario(*scenario);
  EXPECT_EQ(result.broken, "");
  for (const ExpectationResult& one : result.expectations)
    EXPECT_EQ(one.met, one.expectation.measure != Measure::fairness_at_least)
        << expectation_text(*scenario, one.expectation);
}

// G1: where only its port can be paused, a flow to a slow host holds up the others of its sender, and so do many flows
// of an application, each of which has a short queue.
TEST(Scenario, AHostThatObeysHoldsBackOneFlowOrOneApplication) {
  for (const char* file : {"config/sim/fgfc.yaml", "config/sim/fgfc-application.yaml"}) {
    ConfigErrors errors;
    const auto scenario = load_scenario((kRoot / file).string(), errors, {.baseline = Baseline::no_fgfc});
    ASSERT_TRUE(scenario) << errors.text();
    EXPECT_FALSE(run_scenario(*scenario).passed()) << file;
  }
}

// G1, G2: both expectations can fail: a host that pretends sends beyond its credit, and of one that is silent no flow
// is held.
TEST(Scenario, AHostThatPretendsSendsBeyondItsCredit) {
  for (const FgfcConduct conduct : {FgfcConduct::silent, FgfcConduct::pretends}) {
    ConfigErrors errors;
    auto scenario = load("fgfc-ends", errors);
    ASSERT_TRUE(scenario) << errors.text();
    for (HostSetup& host : scenario->setup.hosts)
      if (host.fgfc == FgfcConduct::obeys) host.fgfc = conduct;
    const ScenarioResult result = run_scenario(*scenario);
    const auto met = [&result](Measure measure) {
      for (const ExpectationResult& one : result.expectations)
        if (one.expectation.window == 0 && one.expectation.measure == measure) return one.met;
      throw std::runtime_error("nothing is expected of it");
    };
    EXPECT_EQ(met(Measure::beyond_credit_at_most), conduct == FgfcConduct::silent);
    EXPECT_EQ(met(Measure::held_flows_at_least), conduct == FgfcConduct::pretends);
  }
}

TEST(ScenarioFile, SomethingLiesInTheWindowThatHasToHoldInEachInterval) {
  for (const std::string measure : {"steady_throughput_at_least: 1k", "steady_fairness_at_least: 1%"}) {
    const std::string expect = "expect: [{ workload: w, " + measure + " }]\n";
    EXPECT_EQ(problems_of(pair_text("measure: { from: 15ms, to: 29ms, interval: 10ms }\n" + expect)),
              "x.yaml:9:25: expect[0]." + measure.substr(0, measure.find(':')) +
                  ": found no interval of 10ms that lies in the window, whole, allowed a shorter measure.interval, or "
                  "a longer "
                  "window\n");
    ConfigErrors none;
    EXPECT_TRUE(
        parse_scenario(pair_text("measure: { from: 15ms, to: 30ms, interval: 10ms }\n" + expect), "x.yaml", none))
        << none.text();
  }
}

TEST(ScenarioFile, TheSeedIsThatOfTheFileOrAnother) {
  const std::string text =
      "name: x\nseed: 5\nfabric: { leaves: 2, spines: 2, hosts: 2 }\nworkloads: [{ name: all, from: \"h*\", pattern: "
      "permutation, rate: 1G }]\nmeasure: { from: 10ms, to: 20ms }\n";
  ConfigErrors errors;
  const auto own = parse_scenario(text, "x.yaml", errors);
  const auto other = parse_scenario(text, "x.yaml", errors, {.seed = 7});
  ASSERT_TRUE(own && other) << errors.text();
  EXPECT_EQ(own->setup.seed, 5u);
  EXPECT_EQ(other->setup.seed, 7u);
}

TEST(ScenarioFile, ALinkOfAPlanMayDiffer) {
  ConfigErrors errors;
  const auto scenario = parse_scenario(
      "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1, rate: 40G, delay: 2us }\nlinks: [{ ends: [\"spine1:p2\", "
      "\"leaf2:u1\"], rate: 10G, loss: 1% }]\nworkloads: [{ name: w, from: h1-1, to: h2-1, rate: 1G }]\nmeasure: { "
      "from: "
      "10ms, to: 20ms }\n",
      "x.yaml", errors);
  ASSERT_TRUE(scenario) << errors.text();
  ASSERT_EQ(scenario->setup.links.size(), 2u);
  ASSERT_EQ(scenario->setup.topology.links.size(), 2u);
  for (const MemoryLinkOptions& way : scenario->setup.links[1]) {
    EXPECT_EQ(way.rate_bps, 10'000'000'000u);
    EXPECT_EQ(way.loss_ppm, 10'000u);
    EXPECT_EQ(way.delay_ns, 2 * kMicrosecond) << "as the others";
  }
  EXPECT_EQ(scenario->setup.links[0][0].rate_bps, 40'000'000'000u);
  EXPECT_EQ(scenario->setup.links[0][0].loss_ppm, 0u);
}

TEST(ScenarioFile, APlanHasItsSizesAndNoOthers) {
  const auto problems = [](const std::string& plan) {
    return problems_of("name: x\nfabric: { " + plan + " }\nworkloads: [{ name: w, from: h1-1, to: h1-2 }]\n");
  };
  const auto expect = [&](const std::string& plan, const char* part) {
    const std::string text = problems(plan);
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
  };
  expect("kind: ring",
         "x.yaml:2:17: fabric.kind: found ring, allowed leaf-spine, fat-tree, dragonfly, hyperx, torus or mesh");
  expect("kind: fat-tree, leaves: 4", "fabric.leaves: found the key in a fat-tree, allowed radix or hosts");
  expect("kind: fat-tree", "fabric.radix: found nothing, allowed how many ports each switch has");
  expect("kind: fat-tree, radix: 5", "fabric.radix: found 5, allowed an even number");
  expect("kind: fat-tree, radix: 34", "fabric.radix: found 34, allowed 4 to 32");
  expect("kind: dragonfly, routers: 4, globals: 2, hosts: 2, groups: 10", "fabric.groups: found 10, allowed 2 to 9");
  expect("leaves: 2, spines: 2", "fabric.hosts: found nothing, allowed how many on each leaf");
  expect("kind: torus, hosts: 1", "fabric.dimensions: found nothing, allowed how many switches in each of up to 4");
  expect("kind: torus, hosts: 1, dimensions: 8", "fabric.dimensions: found 8, allowed a list of how many switches");
  expect("kind: mesh, hosts: 1, dimensions: []", "fabric.dimensions: found 0 dimensions, allowed 1 to 4");
  expect("kind: mesh, hosts: 1, dimensions: [2, 2, 2, 2, 2]", "fabric.dimensions: found 5 dimensions, allowed 1 to 4");
  expect("kind: torus, hosts: 1, dimensions: [8, 1]", "fabric.dimensions[1]: found 1, allowed 2 to 4096");
  expect("kind: torus, hosts: 1, dimensions: [65, 64]", "fabric.dimensions: found 4160 switches, allowed 4096");
  expect("kind: hyperx, hosts: 1, dimensions: [66]", "fabric.dimensions: found 65 links of a switch, allowed 64");
  expect("kind: hyperx, hosts: 59, dimensions: [4, 4]", "fabric.hosts: found 59, allowed 0 to 58");
  expect("kind: hyperx, dimensions: [4, 4]", "fabric.hosts: found nothing, allowed how many on each switch");
  expect("kind: mesh, hosts: 1, dimensions: [2], radix: 4",
         "fabric.radix: found the key in a mesh, allowed dimensions or hosts");
}

TEST(ScenarioFile, HostsAndWorkloadsHaveNames) {
  const std::string text = problems_of(
      "name: x\n"
      "nodes: { s1: }\n"
      "hosts:\n"
      "  \"h,1\": { port: \"s1:p1\" }\n"
      "  h2: { port: \"s1:p2\" }\n"
      "  h3: { port: \"s1:p3\" }\n"
      "workloads:\n"
      "  - { name: \"w\xff\", from: h2, to: h3 }\n"
      "  - { name: \"w,x\", from: [h2, h2], to: h3 }\n"
      "  - { from: h2, hostile: all }\n");
  for (const char* part : {":4:3: hosts.h,1: found this name, allowed letters", ":8:13: workloads[0].name: found",
                           ":9:13: workloads[1].name: found \"w,x\", allowed a name of letters",
                           ":9:31: workloads[1].from[1]: found h2 a second time, allowed each host once",
                           ":10:5: workloads[2].name: found nothing"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(ScenarioFile, TellsEveryProblemWithItsPlace) {
  const std::string text = problems_of(
      "name: x\n"
      "nodes: { s1: , s2: {workers: 9} }\n"
      "links:\n"
      "  - { ends: [\"s1:p0\", \"s2:p0\"], delay: 5 }\n"
      "hosts: { h1: { port: \"s1:p1\" }, h2: { port: \"s2:p1\" } }\n"
      "workloads:\n"
      "  - { name: w, from: h1, to: h3, rate: 1G, interval: 1ms }\n"
      "faults:\n"
      "  - { at: 1ms, do: explode, node: s1 }\n"
      "  - { at: 1ms, do: link_down, link: \"s1:p1\" }\n"
      "expect:\n"
      "  - { workload: v, gap_at_most: 1ms, wings_at_least: 2 }\n");
  for (const char* part :
       {":2:", "nodes.s2.workers", ":4:", "links[0].delay", ":7:", "workloads[0].to", "workloads[0].rate",
        ":9:", "faults[0].do", "faults[1].link", ":12:", "expect[0].workload", "wings_at_least"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(ScenarioFile, TheSchemaHasTheKeysThatTheLoaderTakes) {
  std::ifstream in(kRoot / "dist/schema/scenario.schema.json");
  const auto schema = nlohmann::json::parse(in);
  const auto keys_of = [](const nlohmann::json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object["properties"].items()) {
      keys.insert(key);
      EXPECT_TRUE(value.contains("$ref") || value.contains("description")) << key;
    }
    return keys;
  };
  const auto same = [&](const nlohmann::json& object, const auto& names) {
    EXPECT_EQ(keys_of(object), std::set<std::string>(names.begin(), names.end()));
  };
  same(schema, scenario_keys::kScenario);
  same(schema["definitions"]["node"], scenario_keys::kNode);
  same(schema["definitions"]["link"], scenario_keys::kLink);
  same(schema["definitions"]["host"], scenario_keys::kHost);
  same(schema["definitions"]["workload"], scenario_keys::kWorkload);
  same(schema["definitions"]["fault"], scenario_keys::kFault);
  same(schema["definitions"]["expectation"], scenario_keys::kExpect);
  same(schema["properties"]["measure"], scenario_keys::kMeasure);
  same(schema["properties"]["measure"]["properties"]["windows"]["items"], scenario_keys::kWindow);
  same(schema["properties"]["fabric"], scenario_keys::kFabric);
  same(schema["properties"]["costs"], scenario_keys::kCosts);
}

}  // namespace
}  // namespace heddle::sim::scenario_test
