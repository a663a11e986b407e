// SPDX-License-Identifier: Apache-2.0
// heddle trace: the frames it asks with, and what a hop answers. tests/system/trace has whole ways.
#include "telemetry/trace.h"

#include "ingress/classifier.h"
#include "io/clock.h"
#include "poke.h"
#include "sending_host.h"
#include "switch_process_fixture.h"
#include "telemetry/request_fields.h"
#include "telemetry/trace_frame.h"
#include "wire/ethernet.h"

namespace heddle::trace_test {
namespace {

const Json kMacs{{"to", "02:00:00:00:00:02"}, {"from", "02:00:00:00:00:01"}};

// As it comes over the socket.
Json sent(const Json& request) { return Json::parse(request.dump()); }

Json with(Json fields, const Json& more) {
  fields.update(more);
  return sent(fields);
}

EdgeHeaders headers_of(const Json& fields) {
  const std::vector<uint8_t> frame = make_trace_frame(fields);
  EdgeHeaders headers{};
  EXPECT_EQ(parse_edge_frame(frame.data(), static_cast<uint32_t>(frame.size()), headers), DropReason::none) << fields;
  return headers;
}

std::string refusal(const std::function<void()>& what) {
  try {
    what();
  } catch (const Refused& refused) {
    return refused.what();
  }
  return "";
}

TEST(TraceFrame, IsWhatAHostWouldSend) {
  EdgeHeaders headers = headers_of(kMacs);
  EXPECT_EQ(headers.destination_mac, 0x020000000002u);
  EXPECT_EQ(headers.source_mac, 0x020000000001u);
  EXPECT_EQ(headers.l3, 0);
  EXPECT_FALSE(headers.tagged);
  EXPECT_EQ(make_trace_frame(kMacs).size(), 60u);

  const Json v4 = with(kMacs, {{"ip_from", "10.0.0.1"}, {"ip_to", "10.0.0.2"}, {"dscp", 46}});
  headers = headers_of(with(v4, {{"protocol", "udp"}, {"port_from", 7}, {"port_to", 9}, {"bytes", 1400}}));
  EXPECT_EQ(headers.l3, 4);
  EXPECT_EQ(headers.dscp, 46);
  EXPECT_EQ(headers.protocol, kProtocolUdp);
  EXPECT_TRUE(headers.ports_valid);
  EXPECT_EQ(headers.source_port, 7);
  EXPECT_EQ(headers.destination_port, 9);
  EXPECT_EQ(headers.l4_bytes, 1400 - 14 - 20);
  EXPECT_EQ(headers_of(with(v4, {{"protocol", "tcp"}, {"port_to", 22}})).destination_port, 22);

  const Json v6 = with(kMacs, {{"ip_from", "fd00::1"}, {"ip_to", "fd00::2"}, {"dscp", 46}});
  headers = headers_of(with(v6, {{"vlan", 10}, {"pcp", 5}, {"protocol", "udp"}, {"port_to", 53}}));
  EXPECT_EQ(headers.l3, 6);
  EXPECT_EQ(headers.dscp, 46);
  EXPECT_EQ(headers.tci, 5 << 13 | 10);
  EXPECT_EQ(headers.destination_port, 53);
  EXPECT_EQ(make_trace_frame({{"hex", "02 aB:00"}}), (std::vector<uint8_t>{0x02, 0xab, 0x00}));
}

TEST(TraceFrame, SaysWhatIsWrongWithIt) {
  const auto told = [](const Json& fields) { return refusal([&] { make_trace_frame(fields); }); };
  EXPECT_EQ(told(3), "frame must be an object");
  EXPECT_EQ(told(Json::object()), "to must be a MAC address, as in 02:00:00:00:00:0a");
  EXPECT_EQ(told(with(kMacs, {{"from", 5}})), "from must be text");
  EXPECT_EQ(told(with(kMacs, {{"ip_from", "10.0.0.1"}})), "ip_from and ip_to must be addresses of one kind");
  EXPECT_EQ(told(with(kMacs, {{"ip_from", "10.0.0.1"}, {"ip_to", "::1"}})),
            "ip_from and ip_to must be addresses of one kind");
  EXPECT_EQ(told(with(kMacs, {{"ip_to", "10.0.0"}})), "ip_to must be an IP address");
  EXPECT_EQ(told(with(kMacs, {{"protocol", "udp"}})), "protocol needs ip_from and ip_to");
  EXPECT_EQ(told(with(kMacs, {{"vlan", 4095}})), "vlan must be a whole number from 0 to 4094");
  EXPECT_EQ(told({{"hex", "0g"}}), "hex must be hexadecimal digits");
  for (const char* odd : {"", "012"})
    EXPECT_EQ(told({{"hex", odd}}), "hex must have two digits a byte, for 1 to 9018 bytes");
  EXPECT_FALSE(told({{"hex", std::string(2 * 9019, '0')}}).empty());
}

class Trace : public SwitchProcessTest {
 protected:
  Trace() { run_for(kSecond); }
  Json ask(const Json& request) { return sent(trace(*process, sent(request))); }
  std::string told(const Json& request) {
    return refusal([&] { ask(request); });
  }
  static Json step_of(const Json& hop, const std::string& stage) {
    for (const Json& step : hop.at("steps"))
      if (step.at("stage") == stage) return step;
    return {};
  }
  // right's host becomes known to left.
  void learn(uint64_t mac) {
    Worker& worker = process->nodes()[0].node->worker(0);
    const_cast<EdgeInput&>(worker.edge_input()).learn_remote(mac, 1, {2, 1}, now);
  }
  Port& link() { return *process->nodes()[0].node->worker(0).ports()[0]; }
  // At the link's left end, in the channel of the lossy classes.
  void leave_credits(uint32_t left) {
    LinkCredits& credits = link().credits[kLossyChannel];
    while (credits.left() > left) credits.sent(1, false, now);
  }
  // left's host sends so many frames to right's.
  void host_sends(uint32_t frames) {
    const ProcessNode& left = process->nodes()[0];
    test::SendingHost host(process->pool(), make_trace_frame(kMacs), frames);
    left.node->plug(1, &host);
    while (!host.is_done()) left.node->worker(0).poll(now += kMicrosecond);
    left.node->plug(1, left.ports[1].device);
  }
};

TEST_F(Trace, FollowsAFrameToTheHost) {
  learn(0x020000000002);
  const Json first = ask({{"port", "left:host"}, {"frame", kMacs}});
  EXPECT_EQ(first["node"], "left");
  EXPECT_EQ(step_of(first, "frame")["decision"], "taken");
  EXPECT_EQ(step_of(first, "station")["decision"], "right:host");
  EXPECT_EQ(step_of(first, "match")["decision"], "new");
  EXPECT_EQ(step_of(first, "flow")["decision"], "new");
  EXPECT_EQ(step_of(first, "route")["decision"], "p1");
  EXPECT_EQ(step_of(first, "flow ID")["decision"], "to be had");
  EXPECT_EQ(step_of(first, "queue")["decision"], "lane 0");
  Json hop = first["next"];
  EXPECT_EQ(hop["port"], "right:p1");
  EXPECT_EQ(hop["hops_left"], 31);
  const Json last = ask({{"port", hop["port"]}, {"hop", hop}});
  EXPECT_EQ(step_of(last, "host")["decision"], "delivered");
  EXPECT_FALSE(last.contains("next"));
}

TEST_F(Trace, SaysWhyStationsRefuse) {
  learn(0x020000000002);
  const auto station = [&](const Json& fields) {
    return step_of(ask({{"port", "left:host"}, {"frame", with(kMacs, fields)}}), "station");
  };
  EXPECT_EQ(station({{"from", "00:00:00:00:00:00"},
                     {"ip_from", "10.0.0.1"},
                     {"ip_to", "10.0.0.2"},
                     {"protocol", "udp"},
                     {"port_from", 7},
                     {"port_to", 9}})["decision"],
            "dropped: source_multicast");
  const_cast<EdgeInput&>(process->nodes()[0].node->worker(0).edge_input()).learn_remote(0x020000000007, 1, {1, 1}, now);
  EXPECT_EQ(station({{"to", "02:00:00:00:00:07"}})["decision"], "dropped: same_port");
}

TEST_F(Trace, KnowsWhatIsTooLongForAHost) {
  const Json hop{{"to_node", 2}, {"to_port", 1},   {"class", 0}, {"vlan", 1},   {"bytes", 1514},
                 {"channel", 0}, {"hops_left", 3}, {"via", 0},   {"flow_id", 0}};
  EXPECT_EQ(step_of(ask({{"port", "right:p1"}, {"hop", hop}}), "host")["decision"], "delivered");
  EXPECT_EQ(step_of(ask({{"port", "right:p1"}, {"hop", with(hop, {{"bytes", 1515}})}}), "host")["decision"],
            "dropped: output_too_long");
}

TEST_F(Trace, KnowsThatNoHopsAreLeft) {
  const Json hop{{"to_node", 1}, {"to_port", 1},   {"class", 0}, {"vlan", 1},   {"bytes", 60},
                 {"channel", 0}, {"hops_left", 0}, {"via", 0},   {"flow_id", 0}};
  const Json there = ask({{"port", "right:p1"}, {"hop", hop}});
  EXPECT_EQ(step_of(there, "flow")["decision"], "dropped: hop_limit");
  EXPECT_EQ(there["steps"].back()["stage"], "flow") << "it ends there";
  EXPECT_FALSE(there.contains("next"));
  EXPECT_EQ(step_of(ask({{"port", "left:p1"}, {"hop", hop}}), "host")["decision"], "delivered");
}

// Bytes of records that a frame may change.
template <typename Records>
void add_bytes(std::string& all, const Records& records, size_t count) {
  all.append(reinterpret_cast<const char*>(&records), count);
}

// Those that wait, as they stand there.
void add_packets(std::string& all, const Port& port) {
  const auto add = [&all](const Packet* packet) {
    for (; packet != nullptr; packet = packet->next) add_bytes(all, *packet, sizeof(*packet));
  };
  for (uint32_t id = 1; id <= port.input.flows.size(); ++id) add(port.input.flows[FlowId::of(id)].queue.head);
  const OutputScheduler& scheduler = port.output.scheduler;
  for (LaneIndex lane = 0; lane < scheduler.lane_count(); ++lane)
    for (PortIndex input = 0; input < 2; ++input) add(scheduler.packets_of(lane, input).head);
  add(port.output.control.head);
}

std::string state_of(const Worker& worker) {
  std::string all;
  for (const Port* port : worker.ports()) {
    add_bytes(all, port->input.flows[FlowId::of(1)], port->input.flows.size() * sizeof(InputFlow));
    add_bytes(all, port->output.flows[FlowId::of(1)], port->output.flows.size() * sizeof(OutputFlow));
    add_bytes(all, port->input.limits[0], port->input.limits.size() * sizeof(FlowLimit));
    add_bytes(all, port->input.meters[0], port->input.meters.size() * sizeof(FlowMeter));
    add_bytes(all, port->input.leases[0], port->input.leases.size() * sizeof(PathLease));
    for (const Voq& voq : port->input.arbiter) add_bytes(all, voq, sizeof(voq));
    add_bytes(all, port->counters, sizeof(port->counters));
    add_bytes(all, port->input.edge.flood, sizeof(TokenBucket));
    add_bytes(all, port->input.edge.policer, sizeof(Policer));
    add_bytes(all, port->credits, sizeof(port->credits));
    add_bytes(all, port->retry, sizeof(port->retry));
    add_bytes(all, port->session, sizeof(port->session));
    add_bytes(all, port->input.arbiter, sizeof(port->input.arbiter));
    add_bytes(all, port->input.queues, sizeof(port->input.queues));
    add_bytes(all, port->output.scheduler, sizeof(port->output.scheduler));  // with its rate and its shaper
    add_bytes(all, port->output.room, sizeof(port->output.room));
    add_bytes(all, port->output.redirects, sizeof(port->output.redirects));
    add_bytes(all, port->output.transmitter, sizeof(port->output.transmitter));
    add_packets(all, *port);
    all += std::to_string(port->input.flows.available()) + ' ' + std::to_string(port->output.flows.used()) + ' ' +
           std::to_string(port->output.scheduler.bytes()) + ' ' + std::to_string(port->input.waiting.count()) + ' ';
  }
  const MatchTable& matches = worker.edge_input().matches();
  for (uint32_t i = 0; i < matches.indices(); ++i) add_bytes(all, matches[i], sizeof(MatchEntry));
  const StationTable& stations = worker.edge_input().stations();
  for (const uint64_t number : {uint64_t{matches.used()}, uint64_t{matches.evictions()}, matches.refused(),
                                uint64_t{stations.used()}, uint64_t{stations.version()}})
    all += std::to_string(number) + ' ';
  return all;
}

// Nothing that it asks may stay: no station, no match, no flow, no count, nothing taken of a rate.
TEST_F(Trace, ChangesNothing) {
  learn(0x020000000002);
  Worker& worker = const_cast<Worker&>(process->nodes()[0].node->worker(0));
  worker.ports()[1]->input.edge.policer = Policer(8000, 1000);
  const std::string before = state_of(worker);
  const auto ask_for = [&](const Json& frame) {
    ask({{"port", "left:host"}, {"frame", with(kMacs, frame)}});
    EXPECT_EQ(state_of(worker), before) << frame;
  };
  for (int i = 0; i < 10; ++i) ask_for({{"from", "02:00:00:00:00:33"}});
  ask_for({{"to", "02:00:00:00:00:99"}});  // a flood
  ask_for({{"vlan", 9}});                  // a drop
  const Json hop{{"to_node", 1}, {"to_port", 1},   {"class", 0}, {"vlan", 1},   {"bytes", 60},
                 {"channel", 0}, {"hops_left", 3}, {"via", 0},   {"flow_id", 7}};
  ask({{"port", "left:p1"}, {"hop", hop}});
  EXPECT_EQ(state_of(worker), before);
}

// Nor may anything of a flow that is there: at its host's switch some of its packets wait in its queue, some at the
// output for credit, and three have gone to the next switch, where they wait for their host.
TEST_F(Trace, ChangesNothingOfAFlowThatIsThere) {
  learn(0x020000000002);
  Node& left = *process->nodes()[0].node;
  Node& right = *process->nodes()[1].node;
  leave_credits(3);
  test::poke(right.worker(0).ports()[1]->output.paused_lanes, 1);
  host_sends(100);
  right.worker(0).poll(now += 10 * kMicrosecond);
  const auto state = [&] { return state_of(left.worker(0)) + state_of(right.worker(0)); };
  const std::string before = state();
  const auto told_of_it = [&](const Json& request) {
    const Json hop = ask(request);
    EXPECT_EQ(state(), before) << request;
    return hop;
  };
  const Json first = told_of_it({{"port", "left:host"}, {"frame", kMacs}});
  const std::string flow = step_of(first, "flow")["decision"];
  EXPECT_EQ(flow, "1, ready") << first;
  EXPECT_EQ(step_of(first, "queue")["decision"], "waits");
  EXPECT_EQ(step_of(first, "credit")["decision"], "waits");
  const Json by_id = told_of_it({{"port", "left:host"}, {"flow_id", std::stoi(flow)}});
  EXPECT_EQ(step_of(by_id, "flow"), step_of(first, "flow"));
  EXPECT_EQ(by_id["next"], first["next"]);
  const Json there = told_of_it({{"port", "right:p1"}, {"hop", first["next"]}});
  EXPECT_EQ(step_of(there, "flow")["why"], "0 B queued, 180 B in the fabric");
  EXPECT_EQ(told({{"port", "right:p1"}, {"flow_id", first["next"]["flow_id"]}}),
            "right:p1 is a fabric port; ask at a host's");
  EXPECT_EQ(state(), before);
}

TEST_F(Trace, KnowsWhatThePolicerDrops) {
  learn(0x020000000002);
  Port& port = *process->nodes()[0].node->worker(0).ports()[1];
  port.input.edge.policer = Policer(8, 100);  // one frame of 60 bytes, with 24 on the wire
  const auto frame = [&] { return step_of(ask({{"port", "left:host"}, {"frame", kMacs}}), "frame")["decision"]; };
  EXPECT_EQ(frame(), "taken");
  EXPECT_EQ(frame(), "taken") << "asking takes nothing";
  EXPECT_TRUE(port.input.edge.policer.lets_in(84, monotonic_now()));
  EXPECT_EQ(frame(), "dropped: policed");
}

TEST_F(Trace, KnowsThatThePortIsOutOfFlowIds) {
  learn(0x020000000002);
  Port& port = *process->nodes()[0].node->worker(0).ports()[1];
  while (port.input.flows.available() != 0) port.input.flows.take();
  const Json flow = step_of(ask({{"port", "left:host"}, {"frame", kMacs}}), "flow");
  EXPECT_EQ(flow["decision"], "waits");
  EXPECT_EQ(flow["why"], "for a flow ID of host, with 0 frames");
}

TEST_F(Trace, TellsThatTheHostIsToWait) {
  learn(0x020000000002);
  Port& port = *process->nodes()[0].node->worker(0).ports()[1];
  port.pause.tell(0x01, true, now);
  const Json flow = step_of(ask({{"port", "left:host"}, {"frame", kMacs}}), "flow");
  EXPECT_EQ(flow["why"], "nothing of it is under way; its host is told to wait");
}

// Of the host's end of the way, whose port takes frames at once unless its host has asked it to wait.
TEST_F(Trace, TellsWhetherAFrameGoesAtOnce) {
  learn(0x020000000002);
  const auto queue = [&](const Json& hop) { return step_of(hop, "queue")["why"].get<std::string>(); };
  const Json first = ask({{"port", "left:host"}, {"frame", kMacs}});
  EXPECT_NE(queue(first).find("; goes at once"), std::string::npos) << first;
  const Json there{{"port", "right:p1"}, {"hop", first["next"]}};
  EXPECT_NE(queue(ask(there)).find("; goes at once"), std::string::npos);
  OutputSide& host = process->nodes()[1].node->worker(0).ports()[1]->output;
  while (host.flows.reserve(InputFlowRef::of(1, 0, 1), 0, 0) != kNoFlow) {
  }
  EXPECT_EQ(step_of(ask(there), "flow ID")["decision"], "not needed");
  EXPECT_NE(queue(ask(there)).find("; goes at once"), std::string::npos) << "that takes no flow ID";
  test::poke(host.paused_lanes, 1);
  EXPECT_EQ(step_of(ask(there), "flow ID")["decision"], "waits");
  EXPECT_EQ(queue(ask(there)).find("; goes at once"), std::string::npos);
  EXPECT_NE(queue(ask(there)).find("; the host has asked to wait"), std::string::npos);
}

// It asks what is asked of each frame (node/stamping_at_once.h).
TEST_F(Trace, WithoutCreditOfTheLinkAFrameDoesNotGoAtOnce) {
  learn(0x020000000002);
  const auto why = [&] {
    return step_of(ask({{"port", "left:host"}, {"frame", kMacs}}), "queue")["why"].get<std::string>();
  };
  EXPECT_NE(why().find("; goes at once"), std::string::npos);
  ASSERT_TRUE(link().is_fabric());
  leave_credits(0);
  EXPECT_EQ(why().find("; goes at once"), std::string::npos);
}

// It asks what the port's turn asks (node/fabric_transmit.cc).
TEST_F(Trace, TellsTheCreditOfTheLink) {
  learn(0x020000000002);
  const auto credit = [&] { return step_of(ask({{"port", "left:host"}, {"frame", kMacs}}), "credit"); };
  const uint32_t all = link().credits[kLossyChannel].left();
  EXPECT_EQ(credit()["decision"], "to be had");
  EXPECT_EQ(credit()["why"], "right:p1 has " + std::to_string(all) + " buffers left for channel 0; it takes 1");
  leave_credits(1);
  EXPECT_EQ(credit()["decision"], "to be had");
  leave_credits(0);
  EXPECT_EQ(credit()["decision"], "waits");
  EXPECT_EQ(credit()["why"], "right:p1 has 0 buffers left for channel 0; it takes 1");
  const Json hop{{"to_node", 1}, {"to_port", 1},   {"class", 0}, {"vlan", 1},   {"bytes", 60},
                 {"channel", 0}, {"hops_left", 3}, {"via", 0},   {"flow_id", 0}};
  EXPECT_TRUE(step_of(ask({{"port", "left:p1"}, {"hop", hop}}), "credit").is_null()) << "hosts give none";
}

// A frame that has more bytes than one of the next hop's buffers takes several.
TEST_F(Trace, TellsHowManyCreditsAFrameTakes) {
  learn(0x020000000002);
  link().credits[kLossyChannel].begin_session(1024, 64);
  link().credits[kLossyChannel].apply(0, 64, false);
  const auto credit = [&](uint32_t bytes) {
    return step_of(ask({{"port", "left:host"}, {"frame", with(kMacs, {{"bytes", bytes}})}}), "credit");
  };
  leave_credits(1);
  EXPECT_EQ(credit(60)["decision"], "to be had");
  EXPECT_EQ(credit(1500)["decision"], "waits");
  EXPECT_EQ(credit(1500)["why"], "right:p1 has 1 buffers left for channel 0; it takes 2");
}

TEST_F(Trace, TellsWhatThePortsRateHolds) {
  learn(0x020000000002);
  const auto why = [&] {
    return step_of(ask({{"port", "left:host"}, {"frame", kMacs}}), "queue")["why"].get<std::string>();
  };
  OutputScheduler& scheduler = link().output.scheduler;
  EXPECT_EQ(why().find("; waits"), std::string::npos);
  scheduler.set_pace(TokenBucket(kSecond, 0));  // a byte a second
  EXPECT_EQ(why().find("; waits"), std::string::npos) << "nothing has been sent";
  Packet packet{};
  packet.length = 3600;
  scheduler.sent(packet, monotonic_now());
  EXPECT_NE(why().find("; waits 1.01 h for the port's rate"), std::string::npos) << why();
}

TEST_F(Trace, TellsWhatAMaximumOfTheShaperHolds) {
  learn(0x020000000002);
  const auto why = [&] {
    return step_of(ask({{"port", "left:host"}, {"frame", kMacs}}), "queue")["why"].get<std::string>();
  };
  ShaperPolicy policy;
  policy.configured = true;
  policy.leaves[0].bandwidth.maximum_bps = 8;  // a byte a second
  link().output.scheduler.set_shaper(policy);
  EXPECT_EQ(why().find("; waits"), std::string::npos) << "nothing has been sent";
  auto& shaper = const_cast<Shaper&>(link().output.scheduler.shaper());
  ASSERT_EQ(shaper.next(1, monotonic_now()), 0);
  shaper.took(7200, monotonic_now());
  EXPECT_NE(why().find(" h for a maximum of the shaper"), std::string::npos) << why();
  EXPECT_EQ(why().find("for the port's rate"), std::string::npos) << why();
}

TEST_F(Trace, SaysWhereAFrameEndsAndWhy) {
  learn(0x020000000002);
  Json hop = ask({{"port", "left:host"}, {"frame", with(kMacs, {{"vlan", 9}})}});
  EXPECT_EQ(step_of(hop, "frame")["decision"], "dropped: vlan_not_allowed");
  EXPECT_EQ(step_of(hop, "frame")["why"], "VLAN is not allowed on the port");
  hop = ask({{"port", "left:host"}, {"frame", with(kMacs, {{"to", "02:00:00:00:00:99"}})}});
  EXPECT_EQ(step_of(hop, "station")["decision"], "flooded");
  EXPECT_FALSE(hop.contains("next"));
  process->change_link({0, 0}, {.up = false, .loss_ppm = {}, .delay_ns = {}});
  run_for(kSecond);
  hop = ask({{"port", "left:host"}, {"frame", kMacs}});
  EXPECT_EQ(step_of(hop, "route")["decision"], "dropped: no_route");
}

TEST_F(Trace, RefusesWhatItCannotAnswer) {
  EXPECT_EQ(told({{"port", "left:p1"}, {"frame", kMacs}}), "left:p1 is a fabric port; ask at a host's");
  EXPECT_EQ(told({{"port", "left:host"}}), "trace needs frame, flow_id or hop");
  EXPECT_EQ(told({{"port", "left:host"}, {"flow_id", 5}}), "no flow 5 at left:host");
  EXPECT_EQ(told({{"port", "left:host"}, {"flow_id", 60000}}), "no flow 60000 at left:host");
  EXPECT_EQ(told({{"port", "left:host"}, {"hop", Json::object()}}),
            "left:host is an edge port; hop is for fabric ports");
  EXPECT_EQ(told({{"port", "left:p1"}, {"hop", Json::object()}}), "hop needs to_node");
  const Json hop{{"to_node", 2}, {"to_port", 1},   {"class", 0}, {"vlan", 1},   {"bytes", 60},
                 {"channel", 0}, {"hops_left", 3}, {"via", 0},   {"flow_id", 0}};
  EXPECT_EQ(told({{"port", "left:p1"}, {"hop", with(hop, {{"class", 9}})}}),
            "hop has a class or a channel that the fabric has not");
  EXPECT_EQ(told({{"port", "left:p1"}, {"hop", with(hop, {{"channel", 1}})}}),
            "hop has a class or a channel that the fabric has not");
  EXPECT_EQ(step_of(ask({{"port", "left:p1"}, {"hop", with(hop, {{"to_node", 1}, {"to_port", 60000}})}}),
                    "route")["decision"],
            "dropped: no_such_port");
  EXPECT_EQ(step_of(ask({{"port", "left:p1"}, {"hop", with(hop, {{"to_node", 99}, {"flow_id", 65535}})}}),
                    "route")["decision"],
            "dropped: no_route");
  EXPECT_EQ(told({{"port", "up:p1"}}), "no node up in this process");
  process->set_node_up(0, false);
  EXPECT_EQ(told({{"port", "left:host"}, {"frame", kMacs}}), "node left is down");
}

}  // namespace
}  // namespace heddle::trace_test
