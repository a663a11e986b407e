// SPDX-License-Identifier: Apache-2.0
#include "node/messages.h"

#include <algorithm>

namespace heddle {

namespace {
constexpr uint32_t kMessagesPerTurn = 512;  // from one worker
}  // namespace

void Messages::run(Nanos now) {
  for (Crossing* from : from_) {
    if (from == nullptr || !from->has_news()) continue;
    take_packets(*from, now);
    const bool all_settled = take_settled(*from, now) < kMessagesPerTurn;
    Message message;
    uint32_t taken = 0;
    while (taken < kMessagesPerTurn && from->messages.take(&message, 1) == 1) {
      take(message, now);
      ++taken;
    }
    if (all_settled && taken < kMessagesPerTurn) continue;
    from->look_again();
    turn_.stay_busy();
  }
}

// A pin may be given back while packets that it stands for are still crossing (an orphan's, K9): those crossed before
// it, so the packets are taken before the pins that are here now.
void Messages::take_packets(Crossing& from, Nanos now) {
  uint32_t pins = from.given_back.used();
  CrossingPacket crossings[kRingBatch];
  static_assert(kRingBatch <= kBurst, "what may be gathered for one output");
  while (const uint32_t count = from.data.take(crossings, kRingBatch)) {
    for (uint32_t i = 0; i < count; ++i) __builtin_prefetch(crossings[i].packet);
    for (uint32_t i = 0; i < count; ++i) {
      Port& output = ports_.own(crossings[i].output);
      if (crossings[i].packet->flags & kPacketAtOnce) {
        at_once_.gather_crossed(output, crossings[i].packet, now);
        continue;
      }
      output.output.at_once.close();
      if (crossings[i].packet->output_flow != kNoFlow) take_flow(output.output.flows, crossings[i]);
      crosspoint_.accept(output, crossings[i].packet, crossings[i].told);
    }
    at_once_.send_all(now);
  }
  GivenBack given_back[kRingBatch];
  while (const uint32_t count = from.given_back.take(given_back, std::min(pins, kRingBatch))) {
    for (uint32_t i = 0; i < count; ++i)
      settlement_.release(ports_.own(given_back[i].output), given_back[i].id, given_back[i].counted != 0);
    pins -= count;
  }
}

// How many.
uint32_t Messages::take_settled(Crossing& from, Nanos now) {
  uint32_t taken = 0;
  Settled settled[kRingBatch];
  while (const uint32_t count = taken < kMessagesPerTurn ? from.settled.take(settled, kRingBatch) : 0) {
    for (uint32_t i = 0; i < count; ++i)
      __builtin_prefetch(&ports_.own(settled[i].input.port).input.flows[settled[i].input.flow]);
    for (uint32_t i = 0; i < count; ++i) {
      Port& port = ports_.own(settled[i].input.port);
      const InputFlowRef& input = settled[i].input;
      if (settled[i].tells) flow_life_.on_congestion(port, input.epoch, input.flow, settled[i].congestion, now);
      if (settled[i].redirect) flow_redirects_.on_redirect(port, input.epoch, input.flow, settled[i].asked_by, now);
      flow_life_.on_ack(port, input.epoch, input.flow, settled[i].acknowledged, settled[i].lost, settled[i].path_ended,
                        now);
    }
    taken += count;
  }
  return taken;
}

void Messages::take(const Message& message, Nanos now) {
  std::visit([this, now](const auto& what) { take(what, now); }, message);
}

void Messages::take(const WantIds& want, Nanos) {
  flow_ids_.on_want(ports_.own(want.output), want.input, want.channel, want.flows);
}

void Messages::take(const WaitForRoom& wait, Nanos) {
  RoomReturns::on_wait(ports_.own(wait.output), wait.input, wait.lane, wait.flows);
}

void Messages::take(const GrantId& grant, Nanos) {
  flow_life_.on_grant(ports_.own(grant.input), grant.output, grant.channel, grant.id);
}

void Messages::take(const RefuseIds& refuse, Nanos) {
  flow_life_.on_refuse(ports_.own(refuse.input), refuse.output, refuse.channel, refuse.flows);
}

void Messages::take(const GiveReturns& give, Nanos) {
  room_.apply(ports_.own(give.input), give.output, give.lane, give.returns);
}

void Messages::take(const OrphansFreed& freed, Nanos) { orphans_.freed(ports_.own(freed.input), freed.count); }

void Messages::take(const TellCredit& credit, Nanos now) {
  flow_life_.on_credit(ports_.own(credit.input.port), credit.input.epoch, credit.input.flow, credit.metered,
                       credit.limit, now);
}

void Messages::take(const StationLearned& station, Nanos now) {
  edge_.learn_remote(station.mac, station.vlan, station.address, now);
}

void Messages::take(const LinkStateNews& news, Nanos) {
  if (link_state_.apply(news.node, news.record)) link_states_.changed(news.node);
}

// A packet of a flow has come for an ID that another worker's input port has.
void Messages::take_flow(OutputFlowTable& flows, const CrossingPacket& crossing) {
  OutputFlow& entry = flows[crossing.packet->output_flow];
  if (crossing.first) {
    flows.set_class(entry, crossing.packet->ftag);
    entry.credit_base = entry.data_flow;
    entry.flags &= static_cast<uint16_t>(~kOutputMetered);
  }
  if (entry.input != crossing.packet->input) flow_ids_.bind(entry, crossing.packet->input);
}

}  // namespace heddle
