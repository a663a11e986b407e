// SPDX-License-Identifier: Apache-2.0
#include "node/id_grants.h"

#include <bit>

namespace heddle {

namespace {
constexpr uint32_t kGrantsPerTurn = 64;  // one output's flow IDs to waiting inputs
}  // namespace

void IdGrants::run() {
  for (Port* port : ports_) {
    OutputSide& output = port->output;
    if (output.wanting_inputs == 0) continue;
    uint32_t granted = 0;
    int refused = 0;  // in a row
    while (granted < kGrantsPerTurn && refused < std::popcount(output.wanting_inputs)) {
      const PortIndex first = output.next_wanting;
      const PortSet later = output.wanting_inputs & ~((PortSet{1} << first) - 1);
      const auto input = PortIndex::of(std::countr_zero(later != 0 ? later : output.wanting_inputs));
      output.next_wanting = PortIndex::of((input + 1) % kPortsMax);
      const bool answered = grant(*port, input);
      granted += answered;
      refused = answered ? 0 : refused + 1;
    }
    if (granted == kGrantsPerTurn) turn_.stay_busy();  // the others next turn
  }
}

// The answer to one input: an ID for one of its flows, whichever waits first when it comes, or that there is none to
// come. False if nothing could be said.
bool IdGrants::grant(Port& output, PortIndex input) {
  if (!output.usable()) return refuse(output, input);
  if (!flow_life_.reclaim(output, input)) return false;
  const FlowId id = output.output.flows.reserve(InputFlowRef::of(0, input, kNoFlow), 0);
  if (!ports_.is_own(input) && !outbox_.send(input, GrantId{input, output.index, id})) {
    output.output.flows.free(id);
    turn_.stay_busy();  // the ring is full: next turn
    return false;
  }
  if (--output.output.wanted[input] == 0) output.output.wanting_inputs &= ~(PortSet{1} << input);
  output.counters.count(ProtocolEvent::id_reserved);
  if (ports_.is_own(input)) flow_life_.on_grant(ports_.own(input), output.index, id);
  return true;
}

bool IdGrants::refuse(Port& output, PortIndex input) {
  const uint32_t flows = output.output.wanted[input];
  if (!ports_.is_own(input) && !outbox_.send(input, RefuseIds{input, output.index, flows})) {
    turn_.stay_busy();
    return false;
  }
  output.output.wanted[input] = 0;
  output.output.wanting_inputs &= ~(PortSet{1} << input);
  output.counters.count(ProtocolEvent::id_refused);
  if (ports_.is_own(input)) flow_life_.on_refuse(ports_.own(input), output.index, flows);
  return true;
}

}  // namespace heddle
