// SPDX-License-Identifier: Apache-2.0
// Rows of `show flows` and `show shapers` of a process with applications and shapers.
#include <gtest/gtest.h>

#include "sending_host.h"
#include "switch_process_fixture.h"
#include "telemetry/show.h"
#include "telemetry/trace_frame.h"

namespace heddle::telemetry_rows_test {
namespace {

// All flows of left's host are of group 3 and of injection limit ID 1. A byte is less than a frame: one goes, and the
// others wait until it is acknowledged.
ApplicationPolicy backup(uint64_t id_bytes, uint64_t port_bytes) {
  ApplicationPolicy policy;
  policy.configured = true;
  policy.groups[3].name = "backup";
  policy.groups[3].limit = 1;
  policy.limits[1].bytes = id_bytes;
  policy.port_bytes = port_bytes;
  GroupRule rule;
  rule.group = 3;
  policy.rules.push_back(rule);
  return policy;
}

class TelemetryRows : public SwitchProcessTest {
 protected:
  TelemetryRows() : SwitchProcessTest(with_a_rate()) { run_for(kSecond); }
  static ProcessConfig with_a_rate() {  // that a shaper has parts of
    ProcessConfig config = test::pair_config();
    config.topology.nodes[0].ports[0].rate_bps = 10'000'000'000;
    return config;
  }
  void set_applications(const ApplicationPolicy& policy) { process->set_applications(0, policy); }
  // Of the flow of which left's host sends three frames to right's, which never come: right is not polled.
  Json flow() {
    const ProcessNode& left = process->nodes()[0];
    Worker& worker = left.node->worker(0);
    const_cast<EdgeInput&>(worker.edge_input()).learn_remote(0x020000000002, 1, {2, 1}, now);
    const Json frame{{"to", "02:00:00:00:00:02"}, {"from", "02:00:00:00:00:01"}};
    test::SendingHost host(process->pool(), make_trace_frame(frame), 3);
    left.node->plug(1, &host);
    while (!host.is_done()) worker.poll(now += kMicrosecond);
    left.node->plug(1, left.ports[1].device);
    const Json flows = show_flows(*process, {})()["flows"];
    EXPECT_EQ(flows.size(), 1u) << flows;
    return flows.at(0);
  }
};

TEST_F(TelemetryRows, AFlowHasTheNameOfItsApplicationAndTheLimitThatHoldsIt) {
  set_applications(backup(1, kNoInjectionLimit));
  const Json row = flow();
  EXPECT_EQ(row["group"], 3);
  EXPECT_EQ(row["group_name"], "backup");
  EXPECT_EQ(row["limit"], 1);
  EXPECT_EQ(row["state"], "at limit");
  EXPECT_EQ(row["in_fabric_bytes"], 60);
  EXPECT_EQ(row["queue_bytes"], 120);
}

TEST_F(TelemetryRows, AFlowThatItsPortHoldsSaysSo) {
  set_applications(backup(kNoInjectionLimit, 1));
  EXPECT_EQ(flow()["state"], "at port limit");
}

TEST_F(TelemetryRows, AFlowThatNoLimitHoldsIsNotSaidToBe) {
  set_applications(backup(kInjectionLimitMax, kInjectionLimitMax));
  EXPECT_EQ(flow()["state"], "idle");
}

TEST_F(TelemetryRows, AShaperTellsWhatEachPassHasSent) {
  ShaperPolicy policy;
  policy.configured = true;
  policy.branches.push_back({.name = "tenant", .bandwidth = {.minimum_bps = 1'000'000'000}});
  policy.leaves[0] = {.bandwidth = {.minimum_bps = 8, .maximum_bps = 9'000'000'000, .priority = 2}, .branch = 0};
  process->set_shapers(0, {policy, {}});
  const std::function<Json()> show = show_shapers(*process, {});
  const Port& port = process->nodes()[0].node->port(0);
  auto& shaper = const_cast<Shaper&>(port.output.scheduler.shaper());
  for (int frames = 0; shaper.sent_bytes(0, Shaper::kRest) == 0; ++frames) {
    ASSERT_LT(frames, 100) << "what may go at once of both minima is used up by then";
    ASSERT_EQ(shaper.next(1, now), 0);
    shaper.took(1000, now);
  }
  const Json rows = show()["shapers"];
  ASSERT_EQ(rows.size(), 3u) << "the class, its branch and the port: " << rows;
  const auto sent = [&shaper](Shaper::Pass pass) { return static_cast<double>(shaper.sent_bytes(0, pass)); };
  EXPECT_GT(sent(Shaper::kLeaf), 0);
  EXPECT_GT(sent(Shaper::kBranch), sent(Shaper::kLeaf)) << "100 us of a minimum are more than two frames";
  const double all = sent(Shaper::kLeaf) + sent(Shaper::kBranch) + sent(Shaper::kRest);
  for (const Json& row : rows) {
    const double bps_of_byte = row["sent_bps"].get<double>() / all;
    EXPECT_GT(bps_of_byte, 0) << row;
    EXPECT_NEAR(row["by_class_minimum_bps"].get<double>(), bps_of_byte * sent(Shaper::kLeaf), 2) << row;
    EXPECT_NEAR(row["by_branch_minimum_bps"].get<double>(), bps_of_byte * sent(Shaper::kBranch), 2) << row;
  }
  EXPECT_EQ(rows[0]["minimum_bps"], 8);
  EXPECT_EQ(rows[0]["maximum_bps"], 9'000'000'000);
  EXPECT_EQ(rows[0]["priority"], 2);
  EXPECT_EQ(rows[0]["branch"], "tenant");
  EXPECT_EQ(rows[1]["branch"], "tenant");
  EXPECT_EQ(rows[1]["minimum_bps"], 1'000'000'000);
  EXPECT_FALSE(rows[1].contains("class"));
  EXPECT_FALSE(rows[2].contains("branch")) << "the port itself";
  EXPECT_EQ(rows[2]["maximum_bps"], 10'000'000'000) << "its rate";
}

}  // namespace
}  // namespace heddle::telemetry_rows_test
