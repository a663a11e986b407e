// SPDX-License-Identifier: Apache-2.0
// What is told of applications, and that another policy holds at once in a process that runs.
#include <gtest/gtest.h>

#include "switch_process_fixture.h"
#include "telemetry/show.h"
#include "telemetry/trace.h"

namespace heddle::trace_group_test {
namespace {

ProcessConfig with_applications() {
  ProcessConfig config = test::pair_config();
  ApplicationPolicy& policy = config.nodes[0].applications;
  policy.configured = true;
  policy.groups[3].name = "backup";
  policy.groups[3].limit = 1;
  policy.limits[1].bytes = 0;
  GroupRule rule;
  rule.group = 3;
  policy.rules.push_back(rule);
  return config;
}

class TraceGroup : public SwitchProcessTest {
 protected:
  TraceGroup() : SwitchProcessTest(with_applications()) {
    run_for(kSecond);
    Worker& worker = process->nodes()[0].node->worker(0);
    const_cast<EdgeInput&>(worker.edge_input()).learn_remote(0x020000000002, 1, {2, 1}, now);
  }
  Json group() {
    const Json frame{{"to", "02:00:00:00:00:02"}, {"from", "02:00:00:00:00:01"}, {"vlan", 1}};
    const Json request{{"port", "left:host"}, {"frame", frame}};
    const Json hop = trace(*process, Json::parse(request.dump()));
    for (const Json& step : hop.at("steps"))
      if (step.at("stage") == "group") return step;
    return {};
  }
};

TEST_F(TraceGroup, NamesTheGroupAndWhatHoldsIt) {
  EXPECT_EQ(group()["decision"], "backup");
  EXPECT_EQ(group()["why"], "injection limit ID 1 has 0 B of 0 B; waits for acknowledgements");
}

TEST_F(TraceGroup, AnotherPolicyHoldsAtOnce) {
  ApplicationPolicy policy = process->nodes()[0].settings.applications;
  policy.rules[0].group = 7;
  const EdgeInput& edge = process->nodes()[0].node->worker(0).edge_input();
  MatchEntry entry{};
  entry.station_version = edge.stations().version();
  EXPECT_TRUE(edge.is_current(entry));
  process->set_applications(process->nodes()[0].settings.node_index, policy);
  EXPECT_FALSE(edge.is_current(entry)) << "entries without a flow get their group with their next frame";
  EXPECT_EQ(group()["decision"], "7");
  EXPECT_EQ(group()["why"], "injection limit ID 0");
  EXPECT_EQ(process->nodes()[0].settings.applications, policy);
}

TEST_F(TraceGroup, PortsWithLimitsAreShown) {
  const Json shown = show_applications(*process, {})();
  ASSERT_EQ(shown["injected"].size(), 2u) << shown.dump();
  EXPECT_EQ(shown["injected"][0]["limit"], 1);
  EXPECT_EQ(shown["injected"][0]["limit_bytes"], 0);
  EXPECT_EQ(shown["injected"][0]["open"], false);
  EXPECT_FALSE(shown["injected"][1].contains("limit_bytes")) << "the port has no limit";
}

}  // namespace
}  // namespace heddle::trace_group_test
