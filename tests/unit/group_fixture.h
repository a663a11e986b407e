// SPDX-License-Identifier: Apache-2.0
// What tests of paused groups stand on: a port with an application, its matches and its queues.
#pragma once

#include "component_fixture.h"
#include "wire/fgfc.h"

namespace heddle::test {

// A port of a node that tells applications apart by VLAN: 7 is group 1, whose host obeys.
class GroupTest : public ComponentTest {
 protected:
  static constexpr uint64_t kHost = 0x020000000001;
  static constexpr uint16_t kFrame = 1400;
  static constexpr uint8_t kGroup = 1;

  GroupTest() {
    policy_.configured = true;
    GroupRule rule;
    rule.group = kGroup;
    rule.vlan = kTagged;
    policy_.rules = {rule};
    options_.applications = &policy_;
    port_ = make_port(options_, kEdge);
    announce(kHost);
  }
  bool announce(uint64_t host) {
    Packet* frame = packet(64);
    write_fgfc_announcement(*frame, true, host);
    return pauses_.hear(*port_, frame, now_);
  }
  uint32_t match_of(uint16_t source_port, uint64_t host = kHost, uint16_t vlan = kTagged) {
    struct Nobody {
      bool idle(uint32_t) const { return false; }
    };
    MatchKey key{};
    store_mac(key.macs, 0x020000000100 + source_port);
    store_mac(key.macs + 6, host);
    key.vni = vlan;
    key.l3 = 4;
    key.source_port = source_port;
    MatchTable& matches = edge_.matches();
    const uint32_t match = matches.add(key, matches.hash(key), Nobody{});
    matches[match].flags = kMatchUsed | kMatchNear;
    matches[match].group = vlan == kTagged ? kGroup : uint8_t{0};
    return match;
  }
  // A flow of the match, as it begins.
  FlowId begin(uint32_t match, uint8_t ftag = kLossy) {
    const FlowId id = port_->input.flows.take();
    MatchEntry& entry = edge_.matches()[match];
    InputFlow& flow = port_->input.flows[id];
    flow.begin({1, kOutput}, ftag, match, entry.group);
    entry.flow = id;
    entry.ftag = ftag;
    pauses_.resume(*port_, id, flow);
    return id;
  }
  void come(FlowId id) {
    InputFlow& flow = port_->input.flows[id];
    edge_.matches()[flow.match].bytes += kFrame;
    flow.next_data_flow += kFrame;
    pauses_.came(*port_, id, flow, kFrame, now_);
    queues_.push(*port_, id, flow, packet(kFrame, flow.ftag), now_);
  }
  void leave(FlowId id) {
    turn_.begin(now_);
    InputFlow& flow = port_->input.flows[id];
    Packet* packet = queues_.take(*port_, flow);
    packet->input = port_->input.ref.with(id);
    flow.data_flow += kFrame;
    turn_.discard(packet);
  }
  // So many frames come of new flows of the group, four of each. The flow of each frame.
  std::vector<FlowId> fill(uint32_t frames, uint64_t host = kHost) {
    std::vector<FlowId> flows;
    for (uint32_t i = 0; i < frames; ++i) {
      flows.push_back(i % 4 == 0 ? begin(match_of(next_port_++, host)) : flows.back());
      come(flows.back());
    }
    return flows;
  }
  std::vector<FgfcPause> told() {
    pauses_.run(*port_, now_);
    std::vector<FgfcPause> all;
    while (!port_->output.control.empty()) {
      Packet* frame = port_->output.control.pop();
      --port_->output.control_packets;
      EXPECT_TRUE(read_fgfc_pause(frame->data, frame->length, all.emplace_back()));
      control_pool_.release(&frame, 1);
    }
    return all;
  }
  bool is_flagged(FlowId id) const { return port_->input.flows[id].flags & kFlowPaused; }
  uint8_t flags(uint32_t match) { return edge_.matches()[match].flags; }
  uint32_t credit() {
    const auto all = told();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? 0 : static_cast<uint32_t>(all.front().credit);
  }

  ApplicationPolicy policy_;
  NodeOptions options_ = options(0);
  std::unique_ptr<Port> port_;
  EdgeInput edge_{topology_, policy_, 2000, 64, HashKey{{1, 2, 3, 4}}, *std::pmr::get_default_resource()};
  GroupPauses groups_{site_, edge_};
  FlowPauses pauses_{site_, turn_, edge_, control_, events_};
  FlowQueues queues_{site_, flow_credits_, pauses_, waiting_};
  Nanos now_ = kSecond;
  uint16_t next_port_ = 1;
  const uint32_t most_ = topology_.settings.input_drop_mark_packets / 2 / 3;  // packets of a group alone
};

}  // namespace heddle::test
