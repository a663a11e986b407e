// SPDX-License-Identifier: Apache-2.0
// What the simulator's hosts send is what the scenario says, and what is told of it is true.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/scenario/scenario_run.h"

namespace heddle::sim::host_test {
namespace {

using Json = nlohmann::json;

std::optional<Scenario> parse(const std::string& text) {
  ConfigErrors errors;
  auto scenario = parse_scenario(text, "x.yaml", errors);
  EXPECT_TRUE(scenario) << errors.text();
  return scenario;
}

Json play(const std::string& text) {
  const auto scenario = parse(text);
  return scenario ? Json::parse(report_json(*scenario, run_scenario(*scenario))) : Json{};
}

// Two hosts at one switch.
std::string two_hosts(const std::string& host_rate, const std::string& workloads, const std::string& duration = "3ms") {
  return "name: x\n"
         "duration: " +
         duration +
         "\n"
         "edge_mtu: 4096\n"
         "nodes: { s1: }\n"
         "hosts: { h1: { port: \"s1:p1\", rate: " +
         host_rate + " }, h2: { port: \"s1:p2\", rate: " + host_rate +
         " } }\n"
         "measure: { from: 1ms }\n"
         "workloads:\n" +
         workloads;
}

double sent_bps(const Json& result, size_t workload, uint32_t length) {
  return result["workloads"][workload]["sent_frames"].get<double>() * (length + 24) * 8 / 2e-3;
}

struct Rate {
  std::string host_rate, pace;
  uint32_t length;
  double bps;
};

class HostRates : public testing::TestWithParam<Rate> {};

TEST_P(HostRates, AreThoseOfTheLinkAndOfTheFlow) {
  const Rate& rate = GetParam();
  const Json result = play(two_hosts(rate.host_rate, "  - { name: w, from: h1, to: h2, start: 33us, length: " +
                                                         std::to_string(rate.length) + rate.pace + " }\n"));
  EXPECT_NEAR(sent_bps(result, 0, rate.length), rate.bps, 0.01 * rate.bps);
}

INSTANTIATE_TEST_SUITE_P(All, HostRates,
                         testing::Values(Rate{"100G", "", 64, 100e9}, Rate{"100G", "", 4110, 100e9},
                                         Rate{"10G", "", 1514, 10e9}, Rate{"100G", ", rate: 50G", 64, 50e9},
                                         Rate{"100G", ", rate: 90G", 4110, 90e9}, Rate{"10G", ", rate: 3G", 300, 3e9},
                                         Rate{"10G", ", rate: 9G, burst: 50", 300, 9e9},
                                         Rate{"10G", ", interval: 100us, burst: 10", 60, 10 * 84 * 8 / 100e-6}));

TEST(Hosts, FlowsTakeTurnsAtAFullLink) {
  const Json result = play(two_hosts("10G",
                                     "  - { name: free, from: h1, to: h2 }\n"
                                     "  - { name: free2, from: h1, to: h2 }\n"
                                     "  - { name: paced, from: h1, to: h2, rate: 2G }\n"));
  EXPECT_NEAR(sent_bps(result, 0, 4110), 4e9, 0.2e9);
  EXPECT_NEAR(sent_bps(result, 1, 4110), 4e9, 0.2e9);
  EXPECT_NEAR(sent_bps(result, 2, 4110), 2e9, 0.1e9);
}

TEST(Hosts, RestBetweenTheirTimesOfSendingAndDoNotMakeUpForIt) {
  const Json result =
      play(two_hosts("10G", "  - { name: w, from: h1, to: h2, length: 300, rate: 1G, on: 100us, off: 300us }\n"));
  EXPECT_NEAR(sent_bps(result, 0, 300), 0.25e9, 0.02e9);
}

TEST(Hosts, WithoutARateOnALinkWithoutOneSendAFrameEachMicrosecond) {
  auto scenario = parse(two_hosts("10G", "  - { name: w, from: h1, to: h2, length: 60 }\n"));
  for (HostSetup& host : scenario->setup.hosts) host.to_switch.rate_bps = 0;
  const ScenarioResult result = run_scenario(*scenario);
  EXPECT_NEAR(static_cast<double>(result.workloads[0].sent_frames), 2000, 20);
}

// 5 ms to the other end: what is under way when measuring begins was not sent in the time measured.
TEST(Results, FramesAndMessagesCountByWhenTheyWereSent) {
  const auto far_hosts = [](const std::string& rest) {
    return "name: x\n"
           "duration: 100ms\n"
           "nodes: { s1: , s2: }\n"
           "links: [{ ends: [\"s1:p0\", \"s2:p0\"], rate: 1G, delay: 5ms }]\n"
           "hosts: { h1: { port: \"s1:p1\" }, h2: { port: \"s2:p1\" } }\n" +
           rest;
  };
  const std::string workload =
      "workloads: [{ name: w, from: h1, to: h2, interval: 100us, length: 300, message: 600B, start: 40050us, stop: ";
  const Json all_came = play(far_hosts(workload + "80ms }]\nmeasure: { from: 60ms }\n"))["workloads"][0];
  EXPECT_EQ(all_came["sent_frames"], 200);
  EXPECT_EQ(all_came["delivered_frames"], 200);
  EXPECT_EQ(all_came["lost_frames"], 0);
  EXPECT_EQ(all_came["latency"]["count"], 200);
  EXPECT_EQ(all_came["messages"]["done"], 100);
  const Json on_the_way = play(far_hosts(workload + "90ms }]\nmeasure: { from: 60ms, to: 80ms }\n"))["workloads"][0];
  EXPECT_EQ(on_the_way["sent_frames"], 200);
  EXPECT_EQ(on_the_way["delivered_frames"], 200) << "a quarter of them later";
  EXPECT_EQ(on_the_way["lost_frames"], 0);
  const Json cut_off = play(far_hosts(workload + "100ms }]\nmeasure: { from: 60ms }\n"))["workloads"][0];
  EXPECT_NEAR(cut_off["sent_frames"].get<double>(), 400, 1);
  EXPECT_NEAR(cut_off["lost_frames"].get<double>(), 50, 1) << "still on the way when the run ends";
  EXPECT_NEAR(on_the_way["throughput_bps"].get<double>(), 324 * 8 / 100e-6, 324 * 8 / 100e-6 / 100)
      << "of all that came in that time";
}

TEST(Results, TransfersTellHowLongTheyTook) {
  const auto scenario =
      parse(two_hosts("10G",
                      "  - { name: some, from: h1, to: h2, flows: 3, length: 1514, transfer: 15140B, start: 60ms }\n"
                      "  - { name: endless, from: h2, to: h1, transfer: 1G, start: 60ms }\n",
                      "70ms") +
            "expect: [{ workload: some, completion_p99_at_most: 1us }]\n");
  const ScenarioResult played = run_scenario(*scenario);
  const Json result = Json::parse(report_json(*scenario, played));
  const Json some = result["workloads"][0]["transfers"];
  EXPECT_EQ(some["done"], 3);
  ASSERT_EQ(some["flows"].size(), 3u);
  constexpr double kFrameNs = (1514 + 24) * 0.8;
  EXPECT_EQ(some["flows"][0]["flow"], "h1>h2#0");
  EXPECT_NEAR(some["flows"][0]["completion_ns"].get<double>(), 28 * kFrameNs, 5000) << "the first of three in turn";
  EXPECT_NEAR(some["flows"][2]["completion_ns"].get<double>(), 30 * kFrameNs, 5000);
  const Json completion = some["completion"];
  EXPECT_EQ(completion["min_ns"], some["flows"][0]["completion_ns"]);
  EXPECT_EQ(completion["max_ns"], some["flows"][2]["completion_ns"]);
  EXPECT_LE(completion["min_ns"], completion["mean_ns"]);
  EXPECT_LE(completion["mean_ns"], completion["max_ns"]);
  EXPECT_EQ(completion["count"], 3);
  EXPECT_EQ(played.expectations[0].value, completion["p99_ns"].get<uint64_t>());
  const Json endless = result["workloads"][1]["transfers"];
  EXPECT_EQ(endless["done"], 0);
  EXPECT_TRUE(endless["flows"][0]["completion_ns"].is_null());
  EXPECT_NE(report_text(*scenario, played).find("transfers 3 of 3 in "), std::string::npos);
}

// Its output is slower than its inputs: it waits for the device, and time must go on meanwhile.
TEST(Turns, ThatCostNothingEndAllTheSame) {
  auto scenario = parse(two_hosts("10G", "  - { name: w, from: h1, to: h2, length: 1514 }\n"));
  for (HostSetup& host : scenario->setup.hosts) host.from_switch.rate_bps = 1'000'000'000;
  scenario->duration_ns = scenario->windows[0].to_ns = 1100 * kMicrosecond;
  scenario->setup.costs = {.turn_ns = 0, .packet_ns = 0, .crossing_ns = 0};
  const ScenarioResult result = run_scenario(*scenario);
  EXPECT_GT(result.workloads[0].delivered_frames + result.packet_hops, 0u);
}

TEST(Turns, OfAScenarioCostTime) {
  ConfigErrors errors;
  EXPECT_FALSE(parse_scenario(two_hosts("10G", "  - { name: w, from: h1, to: h2 }\n") + "costs: { turn: 0ns }\n",
                              "x.yaml", errors));
  EXPECT_EQ(errors.text(), "x.yaml:9:16: costs.turn: found 0ns, allowed 10ns to 1ms\n");
}

}  // namespace
}  // namespace heddle::sim::host_test
