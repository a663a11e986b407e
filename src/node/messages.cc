// SPDX-License-Identifier: Apache-2.0
// What the other workers of the node have for this one, and what goes back to the inputs whose packets have left (X1).
#include <bit>

#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kMessagesPerTurn = 512;  // from one worker
}  // namespace

void Worker::take_messages(Nanos now) {
  for (Crossing* from : from_) {
    if (from == nullptr) continue;
    // A pin may be given back while packets that it stands for are still crossing (an orphan's, K9): those crossed
    // before it, so the packets are taken before the pins that are here now.
    const uint32_t pins = from->given_back.used();
    CrossingPacket crossing;
    while (from->data.pop(&crossing)) accept(own(crossing.output), crossing.packet);
    GivenBack pin;
    for (uint32_t taken = 0; taken < pins && from->given_back.pop(&pin); ++taken)
      release_output_flow(own(pin.output), pin.id, pin.counted != 0);
    Message message;
    uint32_t messages = 0;
    for (; messages < kMessagesPerTurn && from->messages.pop(&message); ++messages) take(message, now);
    if (messages == kMessagesPerTurn) result_.busy = true;
  }
}

void Worker::take(const Message& message, Nanos now) {
  switch (message.kind) {
    case MessageKind::ack:
      return on_ack(own(message.input), message.epoch, message.flow, message.value, message.value2,
                    message.path_ended != 0, now);
    case MessageKind::want:
      return on_want(own(message.output), message.input, message.value);
    case MessageKind::grant:
      return on_grant(own(message.input), message.output, message.flow, now);
    case MessageKind::refuse:
      return on_refuse(own(message.input), message.output, message.value, now);
    case MessageKind::returns:
      return apply_returns(own(message.input), message.output,
                           {.room = message.value, .held = message.value2, .orphans = message.flow});
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
  if (!to_[worker]->messages.push(&message)) return false;
  result_.woken |= uint64_t{1} << worker;
  ++result_.crossings;
  return true;
}

void Worker::send_returns() {
  for (Port* port : own_ports_) {
    OutputSide& output = port->output;
    for (PortSet rest = output.returns_due; rest != 0; rest &= rest - 1) {
      const auto input = static_cast<PortIndex>(std::countr_zero(rest));
      Returns& returns = output.returns[input];
      if (is_own(input)) {
        apply_returns(own(input), port->index, returns);
      } else {
        Message message{.kind = MessageKind::returns};
        message.input = input;
        message.output = port->index;
        message.value = returns.room;
        message.value2 = returns.held;
        message.flow = static_cast<FlowId>(returns.orphans);
        if (!send(worker_of_port_[input], message)) {
          result_.busy = true;
          continue;
        }
      }
      returns = {};
      output.returns_due &= ~(PortSet{1} << input);
    }
  }
}

void Worker::apply_returns(Port& input, PortIndex output, const Returns& returns) {
  Voq& voq = input.input.voqs[output];
  voq.room += returns.room;
  copies_out_ -= returns.room - returns.held;
  if (input.is_fabric()) input.credits.released(returns.held);
  input.input.orphans -= returns.orphans;
  if (!voq.room_blocked) return;
  voq.room_blocked = false;
  activate(input, output);
}

}  // namespace heddle
