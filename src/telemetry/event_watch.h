// SPDX-License-Identifier: Apache-2.0
// Turns what the nodes of a process go through into events: what their workers tell, and drops that begin and end.
// Reads rings and, once a second, counters; nothing of it is on a packet's way. Control thread.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "io/switch_process.h"
#include "telemetry/event_journal.h"

namespace heddle {

class EventWatch {
 public:
  EventWatch(const SwitchProcess& process, EventJournal& journal) : process_(process), journal_(journal) {}

  // Some ten times a second. `now` is of the monotonic clock.
  void tick(Nanos now);

  // leaf1:p1, or leaf1 for kNoPort.
  std::string place(uint16_t node_index, PortIndex port) const;

 private:
  struct Drops {
    uint64_t frames = 0;  // when last looked at
    uint64_t before = 0;  // when they began
    Nanos began_ns = 0;   // 0 = none of late
    Nanos last_ns = 0;
  };
  using DropKey = std::tuple<uint16_t, PortIndex, std::string>;
  void take_events(const ProcessNode& node, Nanos now);
  void tell(uint16_t node_index, const NodeEvent& event, Nanos age);
  void look_at_drops(const ProcessNode& node, Nanos now);
  void note_drops(uint16_t node_index, PortIndex port, std::string_view reason, std::string_view text, uint64_t frames,
                  Nanos now);

  const SwitchProcess& process_;
  EventJournal& journal_;
  std::map<DropKey, Drops> drops_;       // of reasons that have come up
  std::map<uint16_t, uint32_t> starts_;  // of a node, when its counters were read last
  Nanos next_look_ns_ = 0;
};

}  // namespace heddle
