// SPDX-License-Identifier: Apache-2.0
// The components on a flow's way as well, on the ports of component_fixture.h: a worker without its loop, its arbiter
// and its transmit stages. All ports are up on the load board but the fabric ports, whose links have no session yet.
#pragma once

#include "component_fixture.h"
#include "node/ack_relay.h"
#include "node/credit_watch.h"
#include "node/edge_receive.h"
#include "node/fabric_receive.h"
#include "node/id_grants.h"
#include "node/messages.h"

namespace heddle::test {

class FlowTest : public ComponentTest {
 protected:
  FlowTest() {
    for (PortIndex edge = 0; edge < 4; ++edge) board_.publish_standing(edge, LinkStanding::up);
    PortSet near = 0;
    for (const Port* port : ports_)
      if (!port->is_fabric()) near |= PortSet{1} << port->index;
    edge_input_.set_near(site_.address, near, site_.edge_ports & ~near);
    messages_.connect(1, &from_other_);
  }
  // The fabric port's link comes up, as its worker sees it.
  void bring_up() { bring_up(link_control_); }
  void bring_up(LinkControl& control) {
    const Nanos now = turn_.now();
    peer_->session.tick(1001, now);
    for (uint64_t fresh = 1002; !fabric_.session.up() && fresh < 1020; ++fresh) {
      hear_hello(peer_->session.take_hello(link_state_.digest(), now), control);
      while (!fabric_.output.control.empty()) {
        LinkFrame frame{};
        Hello hello;
        Packet* packet = fabric_.output.control.pop();
        --fabric_.output.control_packets;
        ASSERT_EQ(check_frame(packet->data, packet->length, frame), DropReason::none);
        read_hello(frame, hello);
        peer_->session.receive(hello, packet->length, fresh, LinkDownReason::none, now);
      }
    }
    ASSERT_TRUE(fabric_.session.up());
    for (LinkCredits& credits : fabric_.credits) credits.take(now);
    link_states_.originate();
    link_states_.take_effect();
    while (!fabric_.output.control.empty()) fabric_.output.control.pop();
    fabric_.output.control_packets = 0;
  }
  void hear_hello(const DueHello& due) { hear_hello(due, link_control_); }
  void hear_hello(const DueHello& due, LinkControl& control) {
    Packet* packet = nullptr;
    pool_.allocate(&packet, 1);
    write_hello(*packet, due.hello, due.frame_bytes, peer_->mac);
    LinkFrame frame{};
    ASSERT_EQ(check_frame(packet->data, packet->length, frame), DropReason::none);
    control.receive_hello(fabric_, frame, packet->length, turn_.now());
  }

  Crossing from_other_{64, 64, 1024};
  LinkState link_state_{topology_, 0, true};
  FlowTimers releases_{ports_, 2 * kMicrosecond};
  CreditWatch credit_watch_{site_, ports_, turn_, settlement_, prober_};
  BufferShares shares_{site_, ports_, board_};
  FlowLimits flow_limits_{site_, ports_, acks_, shares_, waiting_};
  FlowRedirects flow_redirects_{site_, paths_, flow_ways_, flow_queues_, random_};
  PortLoads loads_{site_, board_, random_, settlement_, control_};
  FlowLife flow_life_{ports_,    turn_,        edge_input_,  flow_ways_, acks_,
                      flow_ids_, flow_limits_, flow_queues_, timers_,    releases_};
  Stamping stamping_{site_, prober_};
  RetryFrames retry_{turn_, pool_, control_};
  StampingAtOnce stamping_at_once_{site_, ports_, stamping_, retry_};
  Admission admission_{site_,      flow_ids_,  flow_limits_, flow_pauses_, flow_queues_,
                       flow_ways_, flow_life_, shares_,      crosspoint_,  stamping_at_once_};
  Express express_{site_, ports_, flow_ways_, shares_, stamping_at_once_};
  Fifos fifos_{site_, turn_, flow_ways_, room_, crosspoint_};
  HostControl host_control_{site_, turn_, control_, events_};
  IdGrants id_grants_{ports_, turn_, outbox_, flow_life_};
  EdgeFlows edge_flows_{site_, turn_, edge_input_, flow_ways_, flow_pauses_, flow_life_, admission_};
  DeliveryAtOnce at_once_{site_, ports_, outbox_, board_, edge_input_, acks_, flow_ways_, crosspoint_, flow_limits_};
  Bridging bridging_{site_, turn_, outbox_, board_, pool_, edge_input_, paths_, room_, crosspoint_};
  DeadNeighbours dead_neighbours_{site_, ports_, turn_, outbox_, board_, link_state_};
  EndedPaths ended_paths_{site_, ports_, link_state_, dead_neighbours_, settlement_, prober_};
  LinkStates link_states_{site_, ports_, turn_, outbox_, board_, paths_, link_state_, control_, ended_paths_};
  LinkControl link_control_{
      site_,    ports_,           turn_,        random_, events_,    link_state_,  control_,     settlement_,
      orphans_, dead_neighbours_, ended_paths_, room_,   flow_life_, flow_limits_, link_states_, retry_};
  AckReceive ack_receive_{ports_, settlement_, credit_watch_, flow_life_};
  FabricRecords records_{site_, link_state_, acks_, ack_receive_, link_control_, link_states_, retry_, loads_};
  EdgeReceive edge_receive_{site_,    ports_,   turn_,     edge_input_, flow_limits_,  edge_flows_,
                            express_, at_once_, bridging_, fifos_,      host_control_, flow_pauses_};
  FabricReceive fabric_receive_{site_,     turn_,  acks_,      admission_,    express_, at_once_,
                                bridging_, fifos_, flow_life_, link_control_, records_};
  AckRelay ack_relay_{ports_, outbox_, settlement_, flow_life_, flow_redirects_};
  Messages messages_{2,          ports_,          turn_,       edge_input_, settlement_, room_,        flow_ids_,
                     flow_life_, flow_redirects_, crosspoint_, at_once_,    link_state_, link_states_, orphans_};
};

}  // namespace heddle::test
