// SPDX-License-Identifier: Apache-2.0
#include "sim/engine/fabric.h"

#include <algorithm>
#include <utility>

#include "heddle/frames.h"
#include "io/eal.h"
#include "sim/faults/faults.h"
#include "sim/hosts/host.h"

namespace heddle::sim {

namespace {
constexpr uint32_t kAllEvents = (1u << kLinkFrameEvents) - 1;
constexpr uint32_t kOnlyArrivals = 1u << static_cast<unsigned>(LinkFrameEvent::under_way);
}  // namespace

void WorkerActor::notify(Nanos at) { fabric_.engine().wake(*this, std::max({at, free_ns_, paused_until_ns_})); }

void WorkerActor::pause(Nanos until) {
  paused_until_ns_ = std::max(paused_until_ns_, until);
  fabric_.engine().wake(*this, paused_until_ns_);
}

void WorkerActor::act(Nanos now) {
  Node* node = fabric_.node(node_);
  if (node == nullptr) return;
  const Nanos ready = std::max(free_ns_, paused_until_ns_);
  if (now < ready) return fabric_.engine().wake(*this, ready);
  const PollResult result = node->worker(worker_).poll(now);
  const TurnCosts& costs = fabric_.setup().costs;
  const Nanos cost = costs.turn_ns + result.packets * costs.packet_ns + result.crossings * costs.crossing_ns;
  free_ns_ = now + std::max<Nanos>(1, cost);  // not again at the same instant, whatever it waits for
  if (result.busy || result.packets != 0) busy_ns_ += cost;
  if (result.packets != 0) fabric_.look_at_fullest(node->worker(worker_));
  for (uint64_t woken = result.woken; woken != 0; woken &= woken - 1)
    fabric_.worker_actor(node_, WorkerIndex::of(__builtin_ctzll(woken))).notify(free_ns_);
  fabric_.engine().wake(*this, std::max(result.next_wake, free_ns_));
  if (fabric_.watcher() != nullptr) fabric_.watcher()->after_poll(node_, worker_, result, now);
}

Fabric::Fabric(const SimSetup& setup, Engine& engine, Traffic& traffic)
    : setup_(setup), engine_(engine), traffic_(traffic), pool_(setup.room_bytes, setup.checked) {
  nodes_.resize(topology().nodes.size());
  for (uint16_t index = 0; index < nodes_.size(); ++index) {
    NodeState& state = nodes_[index];
    state.pool = std::make_unique<NodePool>(pool_, owner(index), setup_.nodes[index].pool_packets);
    state.control_pool = std::make_unique<ControlPool>(pool_, owner(index), setup_.nodes[index].control_packets);
    state.devices.resize(topology().nodes[index].ports.size());
    for (WorkerIndex worker = 0; worker < setup_.nodes[index].workers; ++worker)
      state.actors.push_back(std::make_unique<WorkerActor>(*this, index, worker));
  }
  make_links();
  for (uint16_t index = 0; index < nodes_.size(); ++index) make_node(index);
}

Fabric::~Fabric() {
  watcher_ = nullptr;
  for (const auto& link : links_) link->observe(nullptr, 0);
  // Packets change hands no more: whoever has them gives them back to the pool itself.
  for (NodeState& state : nodes_) state.node.reset();
}

void Fabric::make_links() {
  const uint32_t wanted = setup_.checked ? kAllEvents : kOnlyArrivals;
  const auto attach = [&](LinkEnd end, unsigned side) {
    NodeState& state = nodes_[end.node_index];
    const uint32_t worker = end.port % setup_.nodes[end.node_index].workers;  // as the node deals them
    state.devices[end.port] = &links_.back()->end(side);
    ends_.back()[side] = {state.actors[worker].get(), nullptr, owner(end.node_index)};
  };
  Random seeds(setup_.seed ^ 0x1195);
  for (uint32_t index = 0; index < links(); ++index) {
    const auto& options = setup_.links[index];
    links_.push_back(std::make_unique<MemoryLink>(pool_, options[0], options[1], seeds.next()));
    ends_.emplace_back();
    for (unsigned side = 0; side < 2; ++side) attach(topology().links[index].ends[side], side);
  }
  for (uint16_t index = 0; index < setup_.hosts.size(); ++index) {
    const HostSetup& host = setup_.hosts[index];
    links_.push_back(std::make_unique<MemoryLink>(pool_, host.from_switch, host.to_switch, seeds.next()));
    hosts_.push_back(std::make_unique<HostActor>(*this, index, links_.back()->end(1), seeds.next()));
    ends_.emplace_back();
    attach(host.port, 0);
    ends_.back()[1] = {nullptr, hosts_.back().get(), kHostsOwner};
  }
  for (uint32_t index = 0; index < links_.size(); ++index) {
    links_[index]->tag = index;
    links_[index]->observe(this, wanted);
  }
}

// By what flows have under way: without a limit the switch does not count it.
uint64_t Fabric::injected_bytes(const Worker& worker, const Port& port) {
  uint64_t sum = 0;
  for (uint32_t id = 1; id <= port.input.flows.size(); ++id) {
    const InputFlow& flow = port.input.flows[FlowId::of(id)];
    const PortIndex output = flow.branch.output();
    if (flow.flow_extent() != 0 && output != kNoPort && worker.site().ports()[output].fabric) sum += flow.flow_extent();
  }
  return sum;
}

void Fabric::look_at_fullest(const Worker& worker) {
  for (const Port* port : worker.ports()) {
    if (measures_injected_ && !port->is_fabric())
      fullest_.injected_bytes = std::max(fullest_.injected_bytes, injected_bytes(worker, *port));
    for (uint32_t channel = 0; port->is_fabric() && channel < port->channels; ++channel) {
      const LinkCredits& credits = port->credits[channel];
      if (credits.held() == 0) continue;
      const uint64_t used_ppm = uint64_t{1'000'000} * credits.held() / credits.buffers();
      fullest_.buffers_ppm = std::max(fullest_.buffers_ppm, static_cast<uint32_t>(used_ppm));
    }
  }
}

Fabric::Fullest Fabric::take_fullest() {
  const Fullest fullest = std::exchange(fullest_, {});
  for (const NodeState& state : nodes_)  // those that are full and stay so, without a frame
    for (WorkerIndex worker = 0; state.node != nullptr && worker < state.node->workers(); ++worker)
      look_at_fullest(state.node->worker(worker));
  return fullest;
}

void Fabric::end_shortage() {
  for (NodeState& state : nodes_) state.pool->set_limit(~0u);
}

// The nodes' match tables have keys in DPDK's memory. It starts with the first node of the process, so that the
// processes of a run that share its seeds have one each; pages are taken as they are used.
void Fabric::make_node(uint16_t index) {
  static const Eal eal({.threads = 0, .memory_mb = 2048, .pci_devices = {}});
  NodeState& state = nodes_[index];
  const NodeSetup& sizes = setup_.nodes[index];
  PacketPool* pool = setup_.checked ? static_cast<PacketPool*>(state.pool.get()) : &pool_;
  NodeOptions options{.topology = &setup_.topology,
                      .node_index = index,
                      .applications = &sizes.applications,
                      .shapers = sizes.shapers,
                      .workers = sizes.workers,
                      .devices = state.devices,
                      .complete_checksums = std::vector<bool>(state.devices.size(), setup_.complete_checksums),
                      .pool = pool,
                      .control_pool = state.control_pool.get(),
                      .match_entries = sizes.match_entries,
                      .station_entries = sizes.station_entries,
                      .copies_max = sizes.copies_max,
                      .waiting_max = sizes.waiting_max,
                      .seed = setup_.seed * 1'000'003 + index * 1009u + state.starts};
  if (state.starts == 0 && !setup_.node_seeds.empty()) options.seed = setup_.node_seeds[index];
  state.node = std::make_unique<Node>(options);
  ++state.starts;
  for (const auto& actor : state.actors) {
    actor->started(engine_.now());
    engine_.wake(*actor, engine_.now());
  }
}

void Fabric::crash(uint16_t index) {
  NodeState& state = nodes_[index];
  if (state.node == nullptr) return;
  if (watcher_ != nullptr) watcher_->before_crash(index);
  for (PortIndex port = 0; port < state.node->ports(); ++port) add_counters(crashed_, state.node->port(port).counters);
  state.node.reset();
}

// What has come in meanwhile was never received.
void Fabric::start(uint16_t index) {
  NodeState& state = nodes_[index];
  if (state.node != nullptr) return;
  for (Device* device : state.devices) {
    Packet* packets[kBurst];
    while (const uint32_t count = device == nullptr ? 0 : device->receive(packets, kBurst, engine_.now()))
      pool_.release(packets, count);
  }
  make_node(index);
  if (watcher_ != nullptr) watcher_->after_start(index);
}

void Fabric::pause(uint16_t node, WorkerIndex worker, Nanos until) { nodes_[node].actors[worker]->pause(until); }

void Fabric::set_applications(uint16_t node, const ApplicationPolicy& policy) {
  Node* state = this->node(node);
  if (state != nullptr && watcher_ != nullptr) watcher_->before_regroup(node);
  setup_.nodes[node].applications = policy;
  for (WorkerIndex worker = 0; state != nullptr && worker < state->workers(); ++worker) {
    state->set_applications(worker, ApplicationPolicy(policy));
    worker_actor(node, worker).notify(engine_.now());
  }
}

void Fabric::set_shapers(uint16_t node, const PortShapers& shapers) {
  Node* state = this->node(node);
  if (state != nullptr && watcher_ != nullptr) watcher_->before_reshape(node, shapers);
  setup_.nodes[node].shapers = shapers;
  for (WorkerIndex worker = 0; state != nullptr && worker < state->workers(); ++worker) {
    state->set_shapers(worker, shapers);
    worker_actor(node, worker).notify(engine_.now());
  }
}

void Fabric::plug(uint32_t link, bool in) {
  links_[link]->set_up(in);
  for (const LinkEnd& end : topology().links[link].ends) {
    if (node(end.node_index) == nullptr) continue;
    const WorkerIndex worker = node(end.node_index)->worker_of_port(end.port);
    node(end.node_index)->worker(worker).set_carrier(end.port, in);
    worker_actor(end.node_index, worker).notify(engine_.now());
  }
}

void Fabric::forge_next(uint32_t link, unsigned direction, Forgery forgery, uint32_t frames, uint64_t seed) {
  forging_.push_back({link, direction, forgery, frames, seed});
}

void Fabric::forge(uint32_t link, unsigned direction, Packet& packet) {
  for (size_t i = 0; i < forging_.size(); ++i) {
    Forging& order = forging_[i];
    if (order.link != link || order.direction != direction) continue;
    Random random(order.seed++);
    if (!forge_frame(order.forgery, packet, random)) continue;
    ++forged_frames_;
    if (watcher_ != nullptr)
      watcher_->on_forged(link, direction, kForgeryNames[static_cast<unsigned>(order.forgery)], packet);
    if (--order.frames == 0) forging_.erase(forging_.begin() + static_cast<ptrdiff_t>(i));
    return;
  }
}

PortCounters Fabric::total() const {
  PortCounters sum = crashed_;
  for (const NodeState& state : nodes_) {
    if (state.node == nullptr) continue;
    for (PortIndex port = 0; port < state.node->ports(); ++port) add_counters(sum, state.node->port(port).counters);
  }
  return sum;
}

uint64_t Fabric::packet_hops() const { return total().received_frames; }

void Fabric::on_frame(MemoryLink& link, unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) {
  const auto index = static_cast<uint32_t>(link.tag);
  if (event == LinkFrameEvent::under_way) {
    const EndPoint& receiver = ends_[index][1 - direction];
    if (receiver.worker != nullptr)
      receiver.worker->notify(at);
    else
      receiver.host->notify(at);
  } else if (event == LinkFrameEvent::sent) {
    pool_.hand_over(packet, ends_[index][direction].owner, kLinkOwner);
    if (index >= links() && direction == 0) SimPool::tag(packet).flooded = packet.destination.node == HEDDLE_FLOOD_NODE;
  } else if (event == LinkFrameEvent::delivered) {
    pool_.hand_over(packet, kLinkOwner, ends_[index][1 - direction].owner);
    PacketTag& tag = SimPool::tag(packet);
    if (tag.partial) packet.flags = kPacketChecksumPartial;
    tag.partial = false;
  }
  if (watcher_ != nullptr) watcher_->on_frame(index, direction, event, packet, at);
  if (event == LinkFrameEvent::sent && !forging_.empty()) forge(index, direction, packet);
}

void add_counters(PortCounters& sum, const PortCounters& more) {
  sum.received_frames += more.received_frames;
  sum.received_bytes += more.received_bytes;
  sum.sent_frames += more.sent_frames;
  sum.sent_bytes += more.sent_bytes;
  sum.originated_frames += more.originated_frames;
  sum.copied_frames += more.copied_frames;
  sum.consumed_frames += more.consumed_frames;
  sum.delivered_frames += more.delivered_frames;
  sum.delivered_bytes += more.delivered_bytes;
  sum.acknowledged_bytes += more.acknowledged_bytes;
  sum.lost_on_wire_frames += more.lost_on_wire_frames;
  sum.lost_on_wire_bytes += more.lost_on_wire_bytes;
  for (unsigned i = 0; i < kDropReasons; ++i) sum.drops[i] += more.drops[i];
  for (unsigned i = 0; i < kProtocolEvents; ++i) sum.events[i] += more.events[i];
}

}  // namespace heddle::sim
