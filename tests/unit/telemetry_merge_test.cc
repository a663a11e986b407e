// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "telemetry/show_merge.h"
#include "telemetry/show_text.h"

namespace heddle::telemetry_merge_test {
namespace {

Json link(const char* reason, Json a_end, Json b_end) {
  return {{"a", "left:p1"},   {"b", "right:p1"},           {"up", std::string(reason) == "up"},
          {"reason", reason}, {"last_reason", ""},         {"for_ns", 5},
          {"rate_bps", 0},    {"a_end", std::move(a_end)}, {"b_end", std::move(b_end)}};
}

Json reply(const char* fabric, int pid, const char* key, Json rows) {
  Json json{{"fabric", fabric}, {"pid", pid}, {"buffers", 10}};
  json[key] = std::move(rows);
  return json;
}

const Json kEnd{{"up", true}, {"sessions", 1}, {"flaps", 0}, {"lost_frames", 0}, {"lost_bytes", 0}};

TEST(Merge, RowsStandTogetherAndCountsAreAddedUp) {
  const Json merged =
      merge_replies({reply("f", 1, "nodes", {{{"node", "left"}}}), reply("f", 2, "nodes", {{{"node", "right"}}})});
  ASSERT_EQ(merged["nodes"].size(), 2u);
  EXPECT_FALSE(merged["nodes"][0].contains("fabric")) << "there is one";
  EXPECT_EQ(merged["buffers"], 20);
  EXPECT_EQ(merged["processes"][1]["pid"], 2);
  EXPECT_EQ(merged["processes"][1]["buffers"], 10);
}

TEST(Merge, ALinkBetweenTwoProcessesIsOneWithBothEnds) {
  Json merged = merge_replies({reply("f", 1, "links", Json::array({link("up", kEnd, nullptr)})),
                               reply("f", 2, "links", Json::array({link("one way", nullptr, {{"up", false}})}))});
  ASSERT_EQ(merged["links"].size(), 1u);
  EXPECT_EQ(merged["links"][0]["up"], false);
  EXPECT_EQ(merged["links"][0]["reason"], "one way");
  EXPECT_EQ(merged["links"][0]["a_end"]["up"], true);
  EXPECT_EQ(merged["links"][0]["b_end"]["up"], false);
  merged = merge_replies({reply("f", 1, "links", Json::array({link("wrong cable", {{"up", false}}, nullptr)})),
                          reply("f", 2, "links", Json::array({link("no hello", nullptr, {{"up", false}})}))});
  EXPECT_EQ(merged["links"][0]["reason"], "wrong cable") << "who hears something knows more";
}

TEST(Merge, WhereThereAreSeveralFabricsTheirNamesAreShown) {
  const Json merged = merge_replies({reply("f", 1, "links", Json::array({link("up", kEnd, kEnd)})),
                                     reply("g", 2, "links", Json::array({link("up", kEnd, kEnd)}))});
  ASSERT_EQ(merged["links"].size(), 2u) << "of the same names, but others";
  EXPECT_EQ(merged["links"][1]["fabric"], "g");
  EXPECT_EQ(merged["links"][1]["a"], "left:p1");
  EXPECT_NE(show_text("links", with_fabric_names(merged)).find("g/left:p1  g/right:p1"), std::string::npos);
}

TEST(Merge, TheBusiestFlowsOfAllProcessesComeFirst) {
  const auto flows = [](int first, int second) {
    return Json::array({Json{{"offered_bps", first}}, Json{{"offered_bps", second}}});
  };
  Json merged = merge_replies({reply("f", 1, "flows", flows(30, 10)), reply("f", 2, "flows", flows(40, 20))});
  cut_flows(merged, 1, 2);
  EXPECT_EQ(merged["flows"], flows(30, 20));
  cut_flows(merged, 5, 2);
  EXPECT_TRUE(merged["flows"].empty());
}

TEST(Merge, APathGoesFromHopToHopAsFarAsItIsKnown) {
  Json merged{
      {"flows", {{{"node", "leaf1"}, {"port", "p3"}, {"by", "p1"}, {"by_flow_id", 7}, {"next", "spine1:p1"}}}},
      {"transit",
       {{{"node", "spine1"}, {"port", "p1"}, {"flow_id", 8}, {"by", "p2"}, {"by_flow_id", 1}, {"next", "leaf3:p1"}},
        {{"node", "spine1"}, {"port", "p1"}, {"flow_id", 7}, {"by", "p2"}, {"by_flow_id", 4}, {"next", "leaf2:p1"}},
        {{"node", "leaf2"}, {"port", "p1"}, {"flow_id", 4}, {"by", "p3"}}}}};
  add_paths(merged);
  EXPECT_EQ(merged["flows"][0]["path"], Json({"leaf1", "spine1", "leaf2"}));
  merged["flows"][0].erase("path");
  merged["transit"].erase(1);
  add_paths(merged);
  EXPECT_EQ(merged["flows"][0]["path"], Json({"leaf1", "spine1"})) << "what the spine does with it nobody has said";
  merged["transit"][0] = {{"node", "spine1"}, {"port", "p1"},    {"flow_id", 7},
                          {"by", "p1"},       {"by_flow_id", 7}, {"next", "spine1:p1"}};
  add_paths(merged);  // a reply that leads round in a ring ends
}

}  // namespace
}  // namespace heddle::telemetry_merge_test
