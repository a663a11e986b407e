// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/progress.h"
#include "cli/text_table.h"
#include "telemetry/flow_sample.h"
#include "telemetry/show_text.h"

namespace heddle::telemetry_text_test {
namespace {

TEST(Scaled, KeepsThreeDigits) {
  EXPECT_EQ(scaled(0), "0");
  EXPECT_EQ(scaled(7), "7");
  EXPECT_EQ(scaled(999), "999");
  EXPECT_EQ(scaled(1000), "1.00k");
  EXPECT_EQ(scaled(12345), "12.3k");
  EXPECT_EQ(scaled(999499), "999k");
  EXPECT_EQ(scaled(999500), "1.00M");
  EXPECT_EQ(scaled(1.8446744e19), "18.4E");
  EXPECT_EQ(scaled_bits_per_second(1.5e9), "1.50 Gb/s");
  EXPECT_EQ(scaled_bytes(512), "512 B");
}

TEST(Scaled, DurationsHaveTheUnitThatSuitsThem) {
  EXPECT_EQ(scaled_duration(0), "0 ns");
  EXPECT_EQ(scaled_duration(850), "850 ns");
  EXPECT_EQ(scaled_duration(3'980'000), "3.98 ms");
  EXPECT_EQ(scaled_duration(999.9e6), "1.00 s");
  EXPECT_EQ(scaled_duration(90e9), "1.50 min");
  EXPECT_EQ(scaled_duration(100.0 * 3600e9), "4.17 d");
}

TEST(Progress, SaysWhatIsDoneTheRateAndTheTimeLeft) {
  EXPECT_EQ(progress_text("fuzz", "seeds", 120, 1000, 10), "fuzz: 12 %, 120 of 1000 seeds, 12 seeds/s, 1.22 min left");
  EXPECT_EQ(progress_text("fuzz", "seeds", 0, 1000, 0.3), "fuzz: 0 %, 0 of 1000 seeds, 0 seeds/s");
}

TEST(TextTable, ColumnsAreAlignedAndLinesEndWithText) {
  TextTable table({{"NAME"}, {"COUNT", TextTable::Align::right}, {"NOTE"}});
  table.add({"leaf1:p1", "5", ""});
  table.add({"x", "1234567", "late"});
  EXPECT_EQ(table.text(),
            "NAME        COUNT  NOTE\n"
            "leaf1:p1        5\n"
            "x         1234567  late\n");
}

SampledFlow flow(uint32_t match, uint32_t hash, FlowTotals totals) {
  return {.node = nullptr,
          .worker = 0,
          .match = match,
          .hash = hash,
          .totals = totals,
          .delivered = totals.delivered(),
          .attached = false};
}

TEST(ApplicationsText, TellsWhoHasWhat) {
  const Json reply{{"interval_ms", 250},
                   {"groups",
                    {{{"node", "left"},
                      {"port", "p1"},
                      {"group", 2},
                      {"name", "storage"},
                      {"weight", 3},
                      {"limit", 1},
                      {"flows", 12},
                      {"queued_flows", 4},
                      {"offered_bps", 2e6},
                      {"delivered_bps", 1e6},
                      {"dropped_bps", 0},
                      {"queue_bytes", 3000},
                      {"in_fabric_bytes", 1500},
                      {"share_ppm", 250000}}}}};
  const std::string text = show_text("applications", reply);
  EXPECT_NE(text.find("left:p1      2  storage       3      1     12       4  2.00 Mb/s  1.00 Mb/s   25 %"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("rates over 250 ms\n"), std::string::npos);
}

TEST(LoadText, NamesAPortBehindOnceWhateverTheClasses) {
  const auto behind = [](const char* port, const char* of_class) { return Json{{"port", port}, {"class", of_class}}; };
  const Json reply{{"load",
                    {{{"node", "leaf1"},
                      {"port", "u1"},
                      {"up", true},
                      {"waiting_bytes", 3000},
                      {"waiting_ns", 2400},
                      {"flows", 2},
                      {"busy", 0.5},
                      {"behind", {behind("p2", "bulk"), behind("p3", "bulk"), behind("p2", "urgent")}},
                      {"redirect_asked", 0},
                      {"redirect_obeyed", 0},
                      {"redirect_passed_on", 0},
                      {"redirect_ended", 0},
                      {"flow_detoured", 0}}}}};
  const std::string text = show_text("load", reply);
  EXPECT_NE(text.find("  p2, p3  "), std::string::npos) << text;
}

TEST(FlowsText, GroupsAndDscpsHaveAColumnWhereFlowsHaveSome) {
  Json flow{{"node", "leaf1"},       {"port", "p1"},
            {"to", "leaf2:p1"},      {"source", "10.0.0.1"},
            {"source_port", 5},      {"destination_mac", "02:00:00:00:00:02"},
            {"protocol", 17},        {"offered_bps", 1e6},
            {"delivered_bps", 1e6},  {"dropped_bps", 0},
            {"in_fabric_bytes", 10}, {"queue_bytes", 0},
            {"state", "idle"},       {"group", 0}};
  const auto text_of = [&flow] {
    const std::string text = show_text(
        "flows", {{"interval_ms", 250}, {"known", 1}, {"moving", 1}, {"flows", {flow}}, {"transit", Json::array()}});
    return text.substr(text.find('\n') + 1, text.find("\n\n") - text.find('\n'));
  };
  EXPECT_EQ(
      text_of(),
      R"(FROM      TO        SOURCE      DESTINATION        PROTOCOL    OFFERED  DELIVERED  IN FABRIC  QUEUED  STATE  PATH  DROPPED
leaf1:p1  leaf2:p1  10.0.0.1:5  02:00:00:00:00:02  udp       1.00 Mb/s  1.00 Mb/s       10 B     0 B  idle   -     -
)");
  flow["dscp"] = 46;
  flow["group"] = 3;
  EXPECT_EQ(
      text_of(),
      R"(FROM      TO        GROUP  SOURCE      DESTINATION        PROTOCOL  DSCP    OFFERED  DELIVERED  IN FABRIC  QUEUED  STATE  PATH  DROPPED
leaf1:p1  leaf2:p1  3      10.0.0.1:5  02:00:00:00:00:02  udp         46  1.00 Mb/s  1.00 Mb/s       10 B     0 B  idle   -     -
)");
  flow["group_name"] = "backup";
  EXPECT_NE(text_of().find("leaf1:p1  leaf2:p1  backup  10.0.0.1:5"), std::string::npos) << text_of();
}

TEST(RateFlows, CountsWhatCameSinceAndNewFlowsFromZero) {
  const std::vector<SampledFlow> earlier = {flow(1, 11, {100, 10, 20}), flow(2, 22, {0xfffffff0, 0, 0}),
                                            flow(4, 44, {7, 0, 0})};
  std::vector<SampledFlow> later = {flow(1, 11, {150, 30, 0}), flow(2, 22, {16, 0, 0}), flow(3, 33, {5, 0, 0}),
                                    flow(4, 45, {9, 0, 0})};
  rate_flows(earlier, later);
  EXPECT_EQ(later[0].totals.offered, 50u);
  EXPECT_EQ(later[0].totals.lost, 20u);
  EXPECT_EQ(later[0].delivered, 50u) << "of what was held before, too";
  EXPECT_EQ(later[1].totals.offered, 32u) << "totals wrap";
  EXPECT_EQ(later[2].totals.offered, 5u);
  EXPECT_EQ(later[3].totals.offered, 9u) << "the entry is another flow's now";
}

// A frame that waits for a flow ID is held and not counted so.
TEST(RateFlows, DeliveriesDoNotGoBack) {
  const std::vector<SampledFlow> earlier = {flow(1, 11, {100, 0, 0})};
  std::vector<SampledFlow> later = {flow(1, 11, {100, 0, 60})};
  rate_flows(earlier, later);
  EXPECT_EQ(later[0].delivered, 0u);
}

}  // namespace
}  // namespace heddle::telemetry_text_test
