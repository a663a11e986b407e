// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "telemetry/flow_sample.h"
#include "telemetry/text_table.h"

namespace heddle {
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

TEST(TextTable, ColumnsAreAlignedAndLinesEndWithText) {
  TextTable table({{"NAME"}, {"COUNT", TextTable::Align::right}, {"NOTE"}});
  table.add({"leaf1:p1", "5", ""});
  table.add({"x", "1234567", "late"});
  EXPECT_EQ(table.text(),
            "NAME        COUNT  NOTE\n"
            "leaf1:p1        5\n"
            "x         1234567  late\n");
}

SampledFlow flow(uint32_t match, uint32_t hash, uint32_t bytes) {
  return {.node = nullptr, .worker = 0, .match = match, .hash = hash, .bytes = bytes, .attached = false};
}

TEST(RateFlows, CountsWhatCameSinceAndNewFlowsFromZero) {
  const std::vector<SampledFlow> earlier = {flow(1, 11, 100), flow(2, 22, 0xfffffff0), flow(4, 44, 7)};
  std::vector<SampledFlow> later = {flow(1, 11, 150), flow(2, 22, 16), flow(3, 33, 5), flow(4, 45, 9)};
  rate_flows(earlier, later);
  EXPECT_EQ(later[0].bytes, 50u);
  EXPECT_EQ(later[1].bytes, 32u) << "totals wrap";
  EXPECT_EQ(later[2].bytes, 5u);
  EXPECT_EQ(later[3].bytes, 9u) << "the entry is another flow's now";
}

}  // namespace
}  // namespace heddle
