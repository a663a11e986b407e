// SPDX-License-Identifier: Apache-2.0
#include "switch_process_fixture.h"
#include "telemetry/operator_commands.h"
#include "telemetry/show_merge.h"
#include "telemetry/show_text.h"

namespace heddle::telemetry_commands_test {
namespace {

class OperatorCommands : public SwitchProcessTest {
 protected:
  std::string answer(const std::string& request) {
    const OperatorServer::Answer answer = answer_request({.process = process.get(), .journal = &journal}, request);
    return answer.later != nullptr ? answer.later() : answer.reply;
  }
  Json ask(const Json& request) { return Json::parse(answer(request.dump())); }
  Json show(const std::string& what) {
    const Json reply = ask({{"command", "show"}, {"what", what}, {"interval_ms", 0}});
    EXPECT_TRUE(reply["ok"].get<bool>()) << reply;
    return merge_replies({reply["result"]});
  }
  std::string refusal(const std::string& request) {
    const Json reply = Json::parse(answer(request));
    EXPECT_FALSE(reply["ok"].get<bool>()) << request;
    return reply.value("error", "");
  }

  EventJournal journal{[](const Event&) {}};
};

TEST_F(OperatorCommands, EveryTableIsShownAsJsonAndAsText) {
  run_for(kSecond);
  for (const char* what : {"nodes", "ports", "links", "flows", "applications", "hosts", "shapers", "stations", "routes",
                           "load", "pauses", "tables", "queues", "drops", "workers"}) {
    const Json reply = show(what);
    EXPECT_FALSE(show_text(what, reply).empty()) << what;
  }
}

TEST_F(OperatorCommands, FramesAddUpOnEveryNode) {
  run_for(kSecond);
  const Json drops = show("drops");
  for (const Json& sum : drops["sums"]) {
    EXPECT_GT(sum["in"].get<uint64_t>(), 0u);
    EXPECT_EQ(sum["in"].get<uint64_t>(),
              sum["out"].get<uint64_t>() + sum["held"].get<uint64_t>() + sum["drops"].get<uint64_t>());
  }
}

// Hellos say that a link is there; when they are lost it says so itself.
TEST_F(OperatorCommands, HellosThatACutLinkLosesAreNoDrops) {
  run_for(kSecond);
  EXPECT_EQ(show("drops")["drops"], Json::array());
  process->change_link({0, 0}, {.up = false, .loss_ppm = {}, .delay_ns = {}});
  run_for(kSecond);
  EXPECT_EQ(show("drops")["drops"], Json::array());
  EXPECT_EQ(show("ports")["ports"][0]["lost_below_frames"], 0);
}

TEST_F(OperatorCommands, WhatIsLostOnTheWireStandsAmongTheDropsAndAtItsLink) {
  const Json drops{{"drops",
                    {{{"node", "left"},
                      {"port", "p1"},
                      {"reason", "lost_on_wire"},
                      {"frames", 12},
                      {"text", "lost on the link"},
                      {"bytes", 18000}}}},
                   {"sums", Json::array()}};
  EXPECT_NE(show_text("drops", drops).find("left:p1  lost_on_wire      12  18000  lost on the link"), std::string::npos)
      << show_text("drops", drops);
  run_for(kSecond);
  Json links = show("links");
  EXPECT_EQ(links["links"][0]["a_end"]["lost_frames"], 0);
  links["links"][0]["b_end"]["lost_frames"] = 12;
  links["links"][0]["b_end"]["lost_bytes"] = 18000;
  EXPECT_NE(show_text("links", links).find("  12 (18.0 kB)          0"), std::string::npos)
      << show_text("links", links);
}

TEST_F(OperatorCommands, ALinkTellsWhyItIsDown) {
  run_for(kSecond);
  EXPECT_TRUE(show("links")["links"][0]["up"].get<bool>());
  EXPECT_TRUE(ask({{"command", "link"}, {"port", "right:p1"}, {"up", false}, {"loss_ppm", 20}})["ok"].get<bool>());
  run_for(kSecond);
  Json link = show("links")["links"][0];
  EXPECT_FALSE(link["up"].get<bool>());
  EXPECT_EQ(link["reason"], "taken down");
  EXPECT_EQ(link["loss_ppm"], Json({20, 20}));
  EXPECT_EQ(link["delay_ns"], Json({3000, 0}));
  ask({{"command", "link"}, {"port", "right:p1"}, {"delay_ns", kSecond}});
  EXPECT_NE(show_text("links", show("links")).find(" 1s "), std::string::npos);
  ask({{"command", "link"}, {"port", "left:p1"}, {"up", true}});
  EXPECT_TRUE(ask({{"command", "node"}, {"node", "right"}, {"up", false}})["ok"].get<bool>());
  run_for(kSecond);
  EXPECT_EQ(show("links")["links"][0]["reason"], "node is down");
  EXPECT_FALSE(show("nodes")["nodes"][1]["up"].get<bool>());
}

TEST_F(OperatorCommands, BothPoolsOfBuffersAreShown) {
  for (const char* what : {"nodes", "tables"}) {
    const Json reply = show(what);
    EXPECT_EQ(reply["buffers"], process->pool().buffers());
    EXPECT_EQ(reply["control_buffers"], process->control_pool().buffers());
    EXPECT_EQ(reply["control_buffers_in_use"], process->control_pool().in_use());
    EXPECT_NE(show_text(what, reply).find(" for control frames\n"), std::string::npos);
  }
}

TEST_F(OperatorCommands, OneNodeOrPortCanBeAskedFor) {
  const Json reply = ask({{"command", "show"}, {"what", "ports"}, {"node", "right"}, {"port", "host"}});
  ASSERT_EQ(reply["result"]["ports"].size(), 1u);
  EXPECT_EQ(reply["result"]["ports"][0]["device"], "nothing plugged in");
  EXPECT_EQ(ask({{"command", "show"}, {"what", "tables"}, {"node", "left"}})["result"]["tables"].size(), 2u);
}

TEST_F(OperatorCommands, QueuesAreCountedAnewWhereTheOperatorSaysSo) {
  const Json of_class = show("queues")["classes"][0];
  for (const char* key :
       {"in_bytes", "in_most_bytes", "in_dropped_frames", "out_bytes", "out_most_bytes", "out_dropped_frames"})
    EXPECT_EQ(of_class.at(key), 0) << key;
  EXPECT_EQ(show_text("queues", show("queues")), "nothing has waited in any queue\n");
  EXPECT_EQ(ask({{"command", "clear"}, {"what", "queues"}})["result"]["ports"], 4);
  EXPECT_EQ(ask({{"command", "clear"}, {"what", "queues"}, {"node", "left"}})["result"]["ports"], 2);
  EXPECT_EQ(ask({{"command", "clear"}, {"what", "queues"}, {"node", "left"}, {"port", "host"}})["result"]["ports"], 1);
  const auto told = journal.since(0, 8);
  ASSERT_EQ(told.size(), 3u);
  EXPECT_EQ(told.back().place, "left:host");
  EXPECT_EQ(refusal(R"({"command": "clear", "what": "drops"})"), "what must be queues");
  EXPECT_EQ(refusal(R"({"command": "clear", "what": "queues", "node": "x"})"), "no node x in this process");
}

TEST_F(OperatorCommands, WhatIsNoRequestIsRefusedWithItsReason) {
  EXPECT_EQ(refusal(""), "a request is a JSON object on one line");
  EXPECT_EQ(refusal(std::string(10000, '[')), "a request is a JSON object on one line");
  EXPECT_EQ(refusal("{\"command\": 3}"), "command must be text");
  EXPECT_EQ(refusal("{\"command\": \"show\", \"what\": \"x\"}"),
            "what must be nodes, ports, links, flows, applications, hosts, pauses, shapers, stations, routes, load, "
            "congestion, "
            "tables, queues, drops or workers");
  EXPECT_EQ(refusal(R"({"command": "show", "what": "flows", "limit": 100000})"),
            "limit must be a whole number from 0 to 1024");
  EXPECT_EQ(refusal(R"({"command": "show", "what": "ports", "node": "up"})"), "no node up in this process");
  EXPECT_EQ(refusal(R"({"command": "show", "what": "ports", "port": "p1"})"), "port needs a node");
  EXPECT_EQ(refusal(R"({"command": "link", "port": "left"})"), "port must be as in leaf1:p1");
  EXPECT_EQ(refusal(R"({"command": "link", "port": "left:host", "up": false})"),
            "the port is no in-process link of this process");
  EXPECT_EQ(refusal(R"({"command": "node", "node": "left"})"), "up must be true or false");
  EXPECT_FALSE(refusal("{\"command\": \"\xff\xfe\"}").empty());
}

TEST_F(OperatorCommands, DeepNestingIsBorneWhereverItStands) {
  const std::string deep = std::string(30000, '[') + std::string(30000, ']');
  for (const char* start : {R"({"command": "link", "port": "left:p1", "x": )", R"({"command": "version", "x": )"})
    EXPECT_EQ(answer(start + deep + "}").find("{\"ok\":true"), 0u);
  EXPECT_EQ(refusal("{\"command\": " + deep + "}"), "command must be text");
}

}  // namespace
}  // namespace heddle::telemetry_commands_test
