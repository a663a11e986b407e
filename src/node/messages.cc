// SPDX-License-Identifier: Apache-2.0
// What the other workers of the node have for this one, and what this one has for them (X1).
#include <algorithm>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kMessagesPerTurn = 512;  // from one worker
}  // namespace

void Worker::take_messages(Nanos now) {
  for (Crossing* from : from_) {
    if (from == nullptr) continue;
    take_packets(*from, now);
    if (take_settled(*from, now) >= kMessagesPerTurn) result_.busy = true;
    Message message{};
    uint32_t taken = 0;
    while (taken < kMessagesPerTurn && from->messages.take(&message, 1) == 1) {
      take(message, now);
      ++taken;
    }
    if (taken == kMessagesPerTurn) result_.busy = true;
  }
}

// A pin may be given back while packets that it stands for are still crossing (an orphan's, K9): those crossed before
// it, so the packets are taken before the pins that are here now.
void Worker::take_packets(Crossing& from, Nanos now) {
  uint32_t pins = from.given_back.used();
  CrossingPacket crossings[kRingBatch];
  static_assert(kRingBatch <= kBurst, "what may be gathered for one output");
  while (const uint32_t count = from.data.take(crossings, kRingBatch)) {
    for (uint32_t i = 0; i < count; ++i) __builtin_prefetch(crossings[i].packet);
    for (uint32_t i = 0; i < count; ++i) {
      Port& output = own(crossings[i].output);
      if (crossings[i].packet->flags & kPacketAtOnce) {
        gather_crossed(output, crossings[i].packet, now);
        continue;
      }
      if (output.output.at_once_packets != 0) send_at_once(output, now);  // of the same flow, perhaps: they go first
      if (const FlowId id = crossings[i].packet->output_flow; id != kNoFlow)
        take_flow(output.output.flows[id], crossings[i]);
      accept(output, crossings[i].packet, crossings[i].told);
    }
    if (at_once_outputs_ != 0) send_all_at_once(now);
  }
  GivenBack given_back[kRingBatch];
  while (const uint32_t count = from.given_back.take(given_back, std::min(pins, kRingBatch))) {
    for (uint32_t i = 0; i < count; ++i)
      release_output_flow(own(given_back[i].output), given_back[i].id, given_back[i].counted != 0);
    pins -= count;
  }
}

// How many.
uint32_t Worker::take_settled(Crossing& from, Nanos now) {
  uint32_t taken = 0;
  Settled settled[kRingBatch];
  while (const uint32_t count = taken < kMessagesPerTurn ? from.settled.take(settled, kRingBatch) : 0) {
    for (uint32_t i = 0; i < count; ++i)
      __builtin_prefetch(&own(settled[i].input.port).input.flows[settled[i].input.flow]);
    for (uint32_t i = 0; i < count; ++i) {
      Port& port = own(settled[i].input.port);
      const InputFlowRef& input = settled[i].input;
      if (settled[i].tells) on_congestion(port, input.epoch, input.flow, settled[i].congestion, now);
      on_ack(port, input.epoch, input.flow, settled[i].acknowledged, settled[i].lost, settled[i].path_ended, now);
    }
    taken += count;
  }
  return taken;
}

void Worker::take(const Message& message, Nanos now) {
  switch (message.kind) {
    case MessageKind::credit:
      return on_credit(own(message.input), message.value, message.flow, message.value2 != 0,
                       static_cast<uint32_t>(message.value64), now);
    case MessageKind::want:
      return on_want(own(message.output), message.input, message.value);
    case MessageKind::grant:
      return on_grant(own(message.input), message.output, message.flow);
    case MessageKind::refuse:
      return on_refuse(own(message.input), message.output, message.value, now);
    case MessageKind::returns:
      return apply_returns(own(message.input), message.output, message.flow,
                           {.room = message.value,
                            .held = message.value2,
                            .copies = static_cast<uint32_t>(message.value64),
                            .delivered = static_cast<uint32_t>(message.value64 >> 32)});
    case MessageKind::room_waiters:
      return on_waiting(own(message.output), message.input, message.flow, message.value);
    case MessageKind::orphans:
      own(message.input).input.orphans -= message.value;
      return;
    case MessageKind::learn:
      edge_.learn_remote(message.value64 >> 16, static_cast<uint16_t>(message.value64),
                         {static_cast<uint16_t>(message.value >> 16), static_cast<uint16_t>(message.value)}, now);
      return;
    case MessageKind::notice:
      if (link_state_.apply(message.flow, message.value, message.value64)) link_states_changed(message.flow);
      return;
  }
}

bool Worker::send(uint32_t worker, const Message& message) {
  Crossing& to = *to_[worker];
  if (to.messages.full()) hand_over(worker);
  if (to.messages.full()) return false;
  to.messages.gather() = message;
  ++result_.crossings;
  return true;
}

// A packet of a flow has come for an ID that another worker's input port has.
void Worker::take_flow(OutputFlow& entry, const CrossingPacket& crossing) {
  if (crossing.first) {
    entry.ftag = crossing.packet->ftag;
    entry.credit_base = entry.data_flow;
    entry.flags &= static_cast<uint8_t>(~kOutputMetered);
  }
  if (entry.input != crossing.packet->input) bind(entry, crossing.packet->input);
}

void Worker::send_packet(PortIndex output, Packet* packet, uint8_t told, bool first) {
  const uint32_t worker = worker_of_port_[output];
  Crossing& to = *to_[worker];
  if (to.data.full()) hand_over(worker);
  to.data.gather() = {packet, output, told, first};
  ++result_.crossings;
}

void Worker::return_id(PortIndex output, FlowId id, bool counted) {
  const uint32_t worker = worker_of_port_[output];
  Crossing& to = *to_[worker];
  if (to.given_back.full()) hand_over(worker);
  to.given_back.gather() = {output, id, counted};
  ++result_.crossings;
}

void Worker::hand_over(uint32_t worker) {
  if (to_[worker]->hand_over()) result_.woken |= uint64_t{1} << worker;
}

// What has been gathered for the others; messages that find no room are left for the next turn.
void Worker::hand_over_all() {
  for (uint32_t worker = 0; worker < to_.size(); ++worker) {
    if (to_[worker] == nullptr) continue;
    hand_over(worker);
    result_.busy = result_.busy || !to_[worker]->messages.empty() || !to_[worker]->settled.empty();
  }
}

}  // namespace heddle
