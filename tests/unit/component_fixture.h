// SPDX-License-Identifier: Apache-2.0
// Components of a worker by themselves, with the ports they work on and no node around them. Worker 0 of two has the
// edge ports 0 and 2 and the fabric port 4 of a switch; 1, 3 and 5 are the other's. What it tells the other one is in
// `crossing_`. The host at port 2 is asked for no pauses, and asks for none. Here are the components that know nothing
// of a flow's way; flow_fixture.h has the rest.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <memory>
#include <set>

#include "memory_ports.h"
#include "node/ack_writer.h"
#include "node/crosspoint.h"
#include "node/flow_ids.h"
#include "node/flow_queues.h"
#include "node/port_setup.h"
#include "node/prober.h"
#include "node/room_returns.h"
#include "poke.h"

namespace heddle::test {

// Takes each packet back once, and in the end those that nobody has released.
class CarefulPool : public HeapPool {
 public:
  CarefulPool() = default;
  // Packets of one may go back to the other.
  explicit CarefulPool(const CarefulPool* kin) : out_now_(kin->out_now_) {}
  ~CarefulPool() override {
    if (out_now_.use_count() > 1) return;
    for (Packet* packet : *out_now_) destroy(packet);
  }
  uint32_t allocate(Packet** packets, uint32_t count) override {
    if (empty) return 0;
    HeapPool::allocate(packets, count);
    out_now_->insert(packets, packets + count);
    return count;
  }
  void release(Packet** packets, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) EXPECT_EQ(out_now_->erase(packets[i]), 1u) << "released twice";
    HeapPool::release(packets, count);
  }
  bool has_out(const Packet* packet) const { return out_now_->contains(const_cast<Packet*>(packet)); }

  bool empty = false;  // there is none for whoever asks

 private:
  std::shared_ptr<std::set<Packet*>> out_now_ = std::make_shared<std::set<Packet*>>();
};

// The packets that one input has in a lane of an output: of the first input that has any.
inline const Packet* first_queued(const OutputSide& output, LaneIndex lane = 0) {
  const PortSet inputs = output.scheduler.inputs(lane);
  if (inputs == 0) return nullptr;
  return output.scheduler.packets_of(lane, PortIndex::of(std::countr_zero(inputs))).head;
}

// Both ends of a link greet each other until they have a session; what else belongs to one is not begun.
inline void greet(LinkSession& one, LinkSession& other, Nanos now) {
  for (uint64_t fresh = 11; fresh < 40 && !(one.up() && other.up()); fresh += 10) {
    one.tick(fresh, now);
    other.tick(fresh + 1, now);
    const DueHello there = one.take_hello(0, now);
    other.receive(there.hello, there.frame_bytes, fresh + 2, LinkDownReason::none, now);
    const DueHello back = other.take_hello(0, now);
    one.receive(back.hello, back.frame_bytes, fresh + 3, LinkDownReason::none, now);
  }
}

// Packets that wait at an input, as it counts them; there are none.
inline void count_waiting(Port& port, uint32_t lossless, uint32_t lossy = 0, uint8_t group = 0) {
  Packet none{};
  none.ftag = kFtags - 1;  // a class of their own
  InputQueues& queues = port.input.queues;
  while (queues.lossless_packets() < lossless) queues.joined(none);
  while (queues.lossless_packets() > lossless) queues.left(none);
  while (queues.packets(group, false) < lossy) queues.joined(none, group, false);
  while (queues.packets(group, false) > lossy) queues.left(none, group, false);
}

class ComponentTest : public testing::Test {
 protected:
  static constexpr PortIndex kEdge = 0, kOutput = 2, kFabric = 4;  // of this worker
  static constexpr PortIndex kOther = 1;                           // an edge port of the other one
  static constexpr uint8_t kLossy = 0, kLossless = 1, kWithRetry = 2, kUncontrolled = 3,
                           kWithoutFlows = 4;  // FTAGs
  static constexpr uint16_t kTagged = 7;       // a VLAN of port 2

  static Topology description() {
    Topology topology;
    topology.settings.flow_ids = 255;
    topology.classes.emplace_back();
    topology.classes[0].pcp_set = 0xff & ~(1 << 3 | 1 << 4 | 1 << 5);
    for (const uint8_t ftag : {kLossless, kWithRetry}) {
      TrafficClass lossless;
      lossless.ftag = ftag;
      lossless.lossless = true;
      lossless.link_retry = ftag == kWithRetry;
      lossless.pcp_set = static_cast<uint16_t>(1 << (2 + ftag));
      topology.classes.push_back(lossless);
    }
    topology.classes.push_back({.ftag = kUncontrolled,
                                .congestion_control = false,
                                .flow_credits = false,
                                .ecn = true,
                                .pcp_set = 0,
                                .rewrite_pcp = 6,
                                .path = PathPolicy::least_loaded});
    topology.classes.push_back({.ftag = kWithoutFlows, .flow_channels = false, .pcp_set = 1 << 5});
    topology.lossless_channels = 1;
    const uint16_t node = add_node(topology, 1, 4), other = add_node(topology, 2, 4);
    add_link(topology, node, other);
    add_link(topology, node, other);
    topology.nodes[node].ports[kOutput].flow_control = HostFlowControl::off;
    topology.nodes[node].ports[kOutput].vlans.tagged.set(kTagged);
    return topology;
  }
  NodeOptions options(uint16_t node_index) {
    NodeOptions options;
    options.topology = &topology_;
    options.node_index = node_index;
    options.workers = 2;
    const size_t ports = topology_.nodes[node_index].ports.size();
    options.devices.assign(ports, &device_);
    options.complete_checksums.assign(ports, false);
    options.pool = &pool_;
    options.control_pool = &control_pool_;
    options.copies_max = 8;
    return options;
  }
  std::vector<Port*> make_ports() {
    std::vector<Port*> ports(6);
    for (PortIndex index : {PortIndex::of(0), PortIndex::of(2), PortIndex::of(4)}) {
      made_.push_back(make_port(options_, index));
      ports[index] = made_.back().get();
      ports[index]->output.transmitter.look(0);
      for (PortIndex output : {PortIndex::of(1), PortIndex::of(3), PortIndex::of(5)})
        ports[index]->input.ids[output].lent.make_room(64);
    }
    return ports;
  }
  ComponentTest() {
    outbox_.connect(1, &crossing_);
    outbox_.begin_turn();
    turn_.begin(kMillisecond);
  }
  ~ComponentTest() override { turn_.flush(); }

  Packet* packet(uint16_t payload, uint8_t ftag = kLossy) {
    Packet* fresh = nullptr;
    pool_.allocate(&fresh, 1);
    std::memset(fresh->data, 0, payload);
    fresh->payload = fresh->length = payload;
    fresh->ftag = ftag;
    fresh->cost = 1;
    fresh->hop_limit = 9;
    return fresh;
  }
  // A frame as it comes from a port's device.
  Packet* received(const Frame& bytes, const Port& port) {
    Packet* fresh = nullptr;
    pool_.allocate(&fresh, 1);
    std::copy(bytes.begin(), bytes.end(), fresh->data);
    fresh->length = static_cast<uint16_t>(bytes.size());
    fresh->input.port = port.index;
    fresh->dies_ns = turn_.now();
    return fresh;
  }
  // One that carries a number, as it has been read.
  Packet* numbered(uint32_t number, const Port& port, size_t length = 100) {
    Packet* fresh = received(frame(2, 1, number, length), port);
    fresh->input = port.input.ref;
    fresh->payload = fresh->length;
    fresh->vni = 1;
    fresh->cost = 1;
    fresh->hop_limit = 9;
    return fresh;
  }
  // Such a one of port 0 has crossed and waits at an output, with a flow ID of there or without; it lives for a second.
  Packet* queue_at(Port& output, uint32_t number, uint8_t ftag = kLossy, FlowId flow = kNoFlow, size_t length = 100) {
    Packet* fresh = numbered(number, edge_, length);
    if (flow != kNoFlow) fresh->input = output.output.flows[flow].input;
    fresh->output_flow = flow;
    fresh->ftag = ftag;
    fresh->lane = site_.lanes.of(ftag, site_.lanes.lossless(ftag) ? kFirstLosslessChannel : kLossyChannel);
    fresh->dies_ns = turn_.now() + kSecond;
    crosspoint_.accept(output, fresh, 0);
    return fresh;
  }
  // The port's device has room for so many frames and no more.
  void takes(Port& port, uint32_t frames) {
    device_.accepts = frames;
    device_.fills = true;
    plug(port, device_);
    port.output.transmitter.look(turn_.now());
  }
  // What the device has taken, as numbered.
  std::vector<uint32_t> delivered() const {
    std::vector<uint32_t> numbers;
    for (const Frame& bytes : device_.delivered) numbers.push_back(number_of(bytes));
    return numbers;
  }
  // More has come for a port's host than it takes.
  void congest(Port& port) const {
    PortCongestion& congestion = port.output.congestion;
    OutputScheduler crowded(site_.lanes, 1, {.overhead = 0, .largest = 60'000, .turn_max = 60'000});
    OutputFlowTable flows(16, std::vector<ChannelSet>(1));
    for (FlowId id = 1; id <= 10; ++id) ASSERT_NE(flows.reserve({}, 0, 0), kNoFlow);
    std::vector<Packet> packets(64);
    for (Packet& packet : packets) {
      packet.payload = 60'000;
      packet.lane = 0;
      packet.input.port = 0;
      crowded.push(&packet);
    }
    for (Nanos now = kMillisecond; now < kSecond && !congestion.congested(); now += kMicrosecond)
      congestion.look(now, crowded, flows, 0);
    ASSERT_TRUE(congestion.congested());
  }
  // Has it gone back to the pool, or will with the turn?
  bool gone(const Packet* packet) {
    turn_.flush();
    return !pool_.has_out(packet);
  }
  // A flow of port 0 to port 2, or to another port.
  InputFlow& begin(FlowId& id, PortIndex to = kOutput, uint8_t ftag = kLossy) {
    id = edge_.input.flows.take();
    InputFlow& flow = edge_.input.flows[id];
    flow.begin({1, to}, ftag, kNoMatch);
    return flow;
  }
  // That a host's flow begins in.
  uint8_t channel_of(uint8_t ftag) const { return site_.lanes.lossless(ftag) ? kFirstLosslessChannel : kLossyChannel; }
  // Flow `id` waits for an output flow ID.
  void want(FlowId id, PortIndex output) {
    InputFlow& flow = edge_.input.flows[id];
    flow.branch.set_output(output);
    flow.branch.voq = flow_ways_.queue(edge_, output, flow.ftag, channel_of(flow.ftag));
    flow_ids_.wait(edge_, id);
  }
  // An output flow ID of a port, for a flow of port 0.
  OutputFlow& reserve(Port& output, FlowId& id, uint8_t ftag = kLossy) {
    id = output.output.flows.reserve(edge_.input.ref.with(7), ftag, channel_of(ftag));
    return output.output.flows[id];
  }
  // The entries that have been marked for telling since the last time.
  std::vector<uint32_t> told() {
    std::vector<uint32_t> items;
    for (const uint32_t item : settlement_.begin_telling()) items.push_back(item);
    return items;
  }
  // The oldest frame of records that waits at a port, as the other end would read it.
  LinkFrame next_records(Port& port) {
    LinkFrame frame{};
    if (port.output.control.empty()) {
      ADD_FAILURE() << "no control frame waits";
      return frame;
    }
    Packet* records = port.output.control.pop();
    --port.output.control_packets;
    finish_records(*records, 1, 1, port.mac);
    EXPECT_EQ(check_frame(records->data, records->length, frame), DropReason::none);
    return frame;
  }
  static uint64_t count_of(const Port& port, ProtocolEvent event) {
    return port.counters.events[static_cast<unsigned>(event)];
  }
  static uint64_t drops_of(const Port& port, DropReason reason) {
    return port.counters.drops[static_cast<unsigned>(reason)];
  }
  // The messages for the other worker, as far as there are any.
  std::vector<Message> messages() {
    outbox_.hand_over_all();
    std::vector<Message> all(64);
    all.resize(crossing_.messages.take(all.data(), 64));
    return all;
  }
  // What has crossed to the other worker.
  std::vector<CrossingPacket> crossings() {
    outbox_.hand_over_all();
    std::vector<CrossingPacket> all(64);
    all.resize(crossing_.data.take(all.data(), 64));
    return all;
  }
  // From now on nothing can be told to the other worker.
  void fill_messages() {
    while (outbox_.send_to(1, OrphansFreed{})) {
    }
  }

  // What a port has to do is all of the first class.
  void publish_load(PortIndex port, uint32_t queue_bytes, uint32_t sent_bytes, Nanos now) {
    board_.publish_load(port, queue_bytes, sent_bytes, now);
    board_.publish_class(port, 0, queue_bytes, sent_bytes);
  }

  const Topology topology_ = description();
  CarefulPool pool_, control_pool_{&pool_};
  MemoryDevice device_{pool_};
  const NodeOptions options_ = options(0);
  const NodeOptions peer_options_ = options(1);
  const std::unique_ptr<Port> peer_ = make_port(peer_options_, kFabric);  // the other end of the fabric port's link
  std::vector<std::unique_ptr<Port>> made_;
  const Site site_{options_, 0};
  Ports ports_{make_ports()};
  Port& edge_ = ports_.own(kEdge);
  Port& output_ = ports_.own(kOutput);
  Port& fabric_ = ports_.own(kFabric);
  LoadBoard board_{6, 1, topology_.classes.size()};
  Turn turn_{site_, pool_};
  Crossing crossing_{64, 64, 64};
  Outbox outbox_{2, {0, 1, 0, 1, 0, 1}};
  PathChoice paths_{topology_, 0, site_.lanes, board_};
  WaitingLoad waiting_{board_, site_.lanes, 0};
  FlowTimers timers_{ports_, kMillisecond};
  ControlFrames control_{control_pool_};
  AckWriter acks_{site_, control_};
  Settlement settlement_{site_, ports_, turn_};
  Prober prober_{site_, ports_, control_, settlement_, timers_};
  Orphans orphans_{site_, ports_, outbox_, board_};
  RoomReturns room_{site_, ports_, turn_, outbox_, orphans_};
  Random random_{1};
  FlowWays flow_ways_{site_, turn_, paths_, random_};
  FlowIds flow_ids_{site_, ports_, turn_, outbox_, flow_ways_, settlement_, orphans_, waiting_};
  CrossPoint crosspoint_{site_, ports_, outbox_, settlement_};
  FlowCredits flow_credits_{site_, turn_, acks_};
  NodeEvents events_{15};
  EdgeInput edge_input_{topology_, kNoApplications, 64, 64, HashKey{{1, 2, 3, 4}}, *std::pmr::get_default_resource()};
  FlowPauses flow_pauses_{site_, turn_, edge_input_, control_, events_};
  FlowQueues flow_queues_{site_, flow_credits_, flow_pauses_, waiting_};
};

}  // namespace heddle::test
