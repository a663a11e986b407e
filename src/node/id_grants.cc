// SPDX-License-Identifier: Apache-2.0
#include "node/id_grants.h"

#include <bit>

namespace heddle {

namespace {
constexpr uint32_t kGrantsPerTurn = 64;  // one output's flow IDs to waiting inputs
}  // namespace

void IdGrants::run() {
  for (Port* port : ports_) {
    WantedIds& wanted = port->output.wanted;
    if (wanted.inputs() == 0) continue;
    uint32_t granted = 0;
    int refused = 0;  // in a row
    while (granted < kGrantsPerTurn && refused < std::popcount(wanted.inputs())) {
      const bool answered = answer(*port, wanted.next_input());
      granted += answered;
      refused = answered ? 0 : refused + 1;
    }
    if (granted == kGrantsPerTurn) turn_.stay_busy();  // the others next turn
  }
}

// One of its channels, by turns. False if nothing could be said in any.
bool IdGrants::answer(Port& output, PortIndex input) {
  WantedIds& wanted = output.output.wanted;
  for (int tries = std::popcount(wanted.channels(input)); tries > 0; --tries) {
    const uint8_t channel = wanted.next_channel(input);
    if (output.usable() ? grant(output, input, channel) : refuse(output, input, channel)) return true;
  }
  return false;
}

// An ID for one of its flows, whichever waits first when it comes.
bool IdGrants::grant(Port& output, PortIndex input, uint8_t channel) {
  if (!flow_life_.reclaim(output, input, channel)) return false;
  const FlowId id = output.output.flows.reserve(InputFlowRef::of(0, input, kNoFlow), 0, channel);
  if (!ports_.is_own(input) && !outbox_.send(input, GrantId{input, output.index, channel, id})) {
    output.output.flows.free(id);
    turn_.stay_busy();  // the ring is full: next turn
    return false;
  }
  output.output.wanted.answered(input, channel, 1);
  output.counters.count(ProtocolEvent::id_reserved);
  if (ports_.is_own(input)) flow_life_.on_grant(ports_.own(input), output.index, channel, id);
  return true;
}

// There is none to come.
bool IdGrants::refuse(Port& output, PortIndex input, uint8_t channel) {
  const uint32_t flows = output.output.wanted.of(input, channel);
  if (!ports_.is_own(input) && !outbox_.send(input, RefuseIds{input, output.index, channel, flows})) {
    turn_.stay_busy();
    return false;
  }
  output.output.wanted.answered(input, channel, flows);
  output.counters.count(ProtocolEvent::id_refused);
  if (ports_.is_own(input)) flow_life_.on_refuse(ports_.own(input), output.index, channel, flows);
  return true;
}

}  // namespace heddle
