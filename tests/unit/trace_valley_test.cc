// SPDX-License-Identifier: Apache-2.0
// heddle trace of lossless frames whose path turns from down to up, so that they change their virtual channel (R5).
#include "io/clock.h"
#include "switch_process_fixture.h"
#include "telemetry/request_fields.h"
#include "telemetry/trace.h"

namespace heddle::trace_valley_test {
namespace {

// All three have hosts, so that of two neighbours the later one is up: from left to right the way leads down to the
// middle and up again.
class TraceValley : public SwitchProcessTest {
 protected:
  TraceValley()
      : SwitchProcessTest(test::process_config("name: valley\n"
                                               "settings: { lossless_credits: 64 }\n"
                                               "classes:\n"
                                               "  - { name: default }\n"
                                               "  - { name: storage, lossless: true, pcp: [3] }\n"
                                               "nodes:\n"
                                               "  middle: { address: 1, ports: { p1: {}, p2: {}, host: {} } }\n"
                                               "  left: { address: 2, ports: { p1: {}, host: {} } }\n"
                                               "  right: { address: 3, ports: { p1: {}, host: {} } }\n"
                                               "links:\n"
                                               "  - { ends: [\"left:p1\", \"middle:p1\"] }\n"
                                               "  - { ends: [\"middle:p2\", \"right:p1\"] }\n")) {
    run_for(kSecond);
    const_cast<EdgeInput&>(worker(1).edge_input()).learn_remote(0x020000000003, 1, {3, 1}, now);
  }
  Worker& worker(size_t node) { return process->nodes()[node].node->worker(0); }
  Json ask(const Json& request) { return Json::parse(trace(*process, Json::parse(request.dump())).dump()); }
  Json follow(const Json& hop) { return ask({{"port", hop["port"]}, {"hop", hop}}); }
  // The first hop, as its host's frame has it.
  Json first() {
    return ask({{"port", "left:host"},
                {"frame", {{"to", "02:00:00:00:00:03"}, {"from", "02:00:00:00:00:02"}, {"vlan", 1}, {"pcp", 3}}}});
  }
  static Json step_of(const Json& hop, const std::string& stage) {
    for (const Json& step : hop.at("steps"))
      if (step.at("stage") == stage) return step;
    return {};
  }
};

TEST_F(TraceValley, TheFrameGoesOnInTheNextChannel) {
  ASSERT_EQ(process->topology().lossless_channels, 2u);
  Json hop = first()["next"];
  EXPECT_EQ(hop["port"], "middle:p1");
  EXPECT_EQ(hop["channel"], 1);
  const Json middle = follow(hop);
  EXPECT_EQ(step_of(middle, "frame")["why"], "class storage, lossless, channel 1, 31 hops left");
  EXPECT_EQ(step_of(middle, "route")["decision"], "p2");
  const Lanes& lanes = worker(0).paths().lanes();
  EXPECT_EQ(step_of(middle, "queue")["decision"], "lane " + std::to_string(lanes.of(1, 2)));
  EXPECT_NE(std::string(step_of(middle, "queue")["why"]).find("goes at once"), std::string::npos);
  hop = middle["next"];
  EXPECT_EQ(hop["port"], "right:p1");
  EXPECT_EQ(hop["channel"], 2);
  EXPECT_EQ(hop["hops_left"], 30);
  EXPECT_EQ(step_of(follow(hop), "host")["decision"], "delivered");
}

// What can't be turned up any more has no route; what does not turn keeps its channel.
TEST_F(TraceValley, TheLastChannelLeadsNowhereUp) {
  Json hop = first()["next"];
  hop["channel"] = 2;
  const Json stuck = follow(hop);
  EXPECT_EQ(step_of(stuck, "route")["decision"], "dropped: no_route");
  EXPECT_FALSE(stuck.contains("next"));
  hop["to_node"] = 1;
  hop["to_port"] = 2;
  EXPECT_EQ(step_of(follow(hop), "host")["decision"], "delivered");
  hop = first()["next"];
  hop["port"] = "right:p1";
  hop["to_node"] = 3;
  hop["to_port"] = 1;
  EXPECT_EQ(step_of(follow(hop), "host")["decision"], "delivered");
}

// Each channel of a link has buffers of its own (C9).
TEST_F(TraceValley, ALosslessFrameAsksForItsChannelsCredit) {
  const auto credit = [](const Json& hop) { return step_of(hop, "credit"); };
  EXPECT_EQ(credit(first())["decision"], "to be had");
  EXPECT_EQ(credit(first())["why"], "middle:p1 has 64 buffers left for channel 1; it takes 1");
  Port& left = *worker(1).ports()[0];
  while (left.credits[1].may_send(1)) left.credits[1].sent(1, true, now);
  EXPECT_EQ(credit(first())["decision"], "waits");
  EXPECT_EQ(credit(first())["why"], "middle:p1 has 0 buffers left for channel 1; it takes 1");
  EXPECT_EQ(credit(follow(first()["next"]))["why"], "right:p1 has 64 buffers left for channel 2; it takes 1");
}

// Its link sends again what it loses (K6): the frame is kept here as long.
TEST_F(TraceValley, ALosslessFrameAsksForRoomToBeKept) {
  const auto retry = [&] { return step_of(first(), "retry"); };
  EXPECT_EQ(retry()["decision"], "kept");
  LinkRetry& kept = worker(1).ports()[0]->retry;
  kept = LinkRetry(2, kMillisecond);
  Packet frames[2]{};
  for (Packet& frame : frames) {
    EXPECT_EQ(retry()["decision"], "kept");
    kept.next_sequence();
    kept.keep(&frame, now);
  }
  EXPECT_EQ(retry()["decision"], "waits");
  EXPECT_EQ(retry()["why"], "2 of 2 places have a frame that the next switch may miss");
  PacketQueue released;
  kept.apply({.flags = HEDDLE_RETRY_MISSING, .round = 0, .sequence = 1}, released, now);
  EXPECT_EQ(retry()["decision"], "waits") << "there is room again";
  EXPECT_EQ(retry()["why"], "1 of 2 places have a frame that the next switch may miss; some are sent again first");
  kept.end_session();
  const Json lossy =
      ask({{"port", "left:host"}, {"frame", {{"to", "02:00:00:00:00:03"}, {"from", "02:00:00:00:00:02"}}}});
  EXPECT_TRUE(step_of(lossy, "retry").is_null()) << "nothing of a lossy class is sent again";
  EXPECT_FALSE(step_of(lossy, "credit").is_null());
}

// A flow that is there says which way it has, and in which channel.
TEST_F(TraceValley, AFlowThatIsThereHasTurnedAlready) {
  auto& port = const_cast<Port&>(process->nodes()[0].node->port(0));
  InputFlow& flow = port.input.flows[7];
  flow.begin({3, 1}, 1, kNoMatch);
  const LaneIndex lane = worker(0).paths().lanes().of(1, 2);
  flow.branch.set_output(1);
  flow.branch.flow = FlowId::of(9);
  flow.branch.voq = worker(0).site().voq_index(1, lane);
  Json hop = first()["next"];
  hop["flow_id"] = 7;
  const Json middle = follow(hop);
  EXPECT_EQ(step_of(middle, "flow")["decision"], "7, idle");
  EXPECT_EQ(step_of(middle, "flow ID")["decision"], "9");
  EXPECT_EQ(middle["next"]["flow_id"], 9);
  EXPECT_EQ(middle["next"]["channel"], 2);
}

// R9: who asked the flow to take another way, and that it did.
TEST_F(TraceValley, AFlowThatWasAskedToTakeAnotherWaySaysByWhom) {
  auto& port = const_cast<Port&>(process->nodes()[0].node->port(0));
  InputFlow& flow = port.input.flows[7];
  flow.begin({3, 1}, 1, kNoMatch);
  Json hop = first()["next"];
  hop["flow_id"] = 7;
  const auto why = [&] { return step_of(follow(hop), "route")["why"].get<std::string>(); };
  EXPECT_EQ(why().find("asked it"), std::string::npos);
  port.input.leases[7].leave(PortSet{1} << 1, 3, monotonic_now());
  EXPECT_EQ(why().find("asked it"), std::string::npos) << "that was of another flow";
  flow.flags |= kFlowMoved;
  EXPECT_NE(why().find("; right asked it to take another way, "), std::string::npos) << why();
  EXPECT_NE(why().find(" ago"), std::string::npos) << why();
}

// A frame of a lossless class is never in the channel of the lossy ones, where the next switch would refuse it.
TEST_F(TraceValley, AChannelThatIsNotOfTheClassIsRefused) {
  Json hop = first()["next"];
  for (const auto& [traffic_class, channel] : {std::pair{1, 0}, {0, 1}, {1, 3}, {0, 3}}) {
    hop["class"] = traffic_class;
    hop["channel"] = channel;
    EXPECT_THROW(follow(hop), Refused) << traffic_class << " in " << channel;
  }
}

}  // namespace
}  // namespace heddle::trace_valley_test
