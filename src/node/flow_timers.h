// SPDX-License-Identifier: Apache-2.0
// Timers of input and output flows in one wheel, an entry at most once. The links are the flow tables'; whether a flow
// is in it, its flags say (kFlowTimed, kFlowPending, kOutputTimed), which who adds it sets and who is called clears.
// Due times in ns, met at the wheel's next tick.
#pragma once

#include "flow/timer_wheel.h"
#include "node/ports.h"

namespace heddle {

// A flow of a port as one number.
constexpr uint32_t flow_item(PortIndex port, FlowId flow) { return uint32_t{port} << 16 | flow; }
constexpr PortIndex port_of_item(uint32_t item) { return PortIndex::of(item >> 16); }
constexpr FlowId flow_of_item(uint32_t item) { return FlowId::of(item & 0xffff); }

class FlowTimers {
 private:
  static constexpr uint32_t kInput = 1u << 31;

  auto next() {
    return [this](uint32_t item) -> uint32_t& {
      Port& port = ports_.own(port_of_item(item & ~kInput));
      const FlowId id = flow_of_item(item);
      return item & kInput ? port.input.flows.timer_link(id) : port.output.flows.timer_link(id);
    };
  }

  void add(uint32_t item, Nanos due) { wheel_.add(item, due, next()); }

 public:
  FlowTimers(Ports& ports, Nanos tick_ns) : ports_(ports), wheel_(tick_ns) {}

  void add_input(PortIndex port, FlowId id, Nanos due) { add(kInput | flow_item(port, id), due); }
  void add_output(PortIndex port, FlowId id, Nanos due) { add(flow_item(port, id), due); }
  Nanos next_due() const { return wheel_.next_due(); }

  // Calls on_input(port, id) and on_output(port, id) for those whose time has come; they may be added again from there.
  template <typename OnInput, typename OnOutput>
  void advance(Nanos now, OnInput on_input, OnOutput on_output) {
    wheel_.advance(now, next(), [&](uint32_t item) {
      Port& port = ports_.own(port_of_item(item & ~kInput));
      if (item & kInput)
        on_input(port, flow_of_item(item));
      else
        on_output(port, flow_of_item(item));
    });
  }

 private:
  Ports& ports_;
  TimerWheel wheel_;
};

}  // namespace heddle
