// SPDX-License-Identifier: Apache-2.0
// What those see who choose among paths (R3), for each fabric port, and which flows were asked to take another (R9).
#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

using Events = std::array<uint64_t, kProtocolEvents>;

void add_events(const Events& events, Json& row) {
  for (const ProtocolEvent event : {ProtocolEvent::redirect_asked, ProtocolEvent::redirect_obeyed,
                                    ProtocolEvent::redirect_passed_on, ProtocolEvent::redirect_ended}) {
    const auto position = static_cast<size_t>(event);
    row[std::string(kProtocolEventNames[position])] = events[position];
  }
}

}  // namespace

Json show_load(const SwitchProcess& process, const ShowRequest& request) {
  Json rows = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    const TopologyNode& about = description(process, node);
    for_each_port(node, request, [&](PortIndex index) {
      Json row{{"node", about.name}, {"port", about.ports[index].name}};
      const bool fabric = about.ports[index].fabric;
      Events events;
      look_at_port(process, node, index, [&events](const Port& port) { events = port.counters.events; });
      add_events(events, row);
      if (fabric) {
        const LoadBoard& board = node.node->worker(WorkerIndex::of(0)).board();
        const Load load = board.load(index, monotonic_now());
        row.update({{"up", board.up(index)},
                    {"waiting_bytes", board.waiting_bytes(index)},
                    {"waiting_ns", load.waiting_ns},
                    {"flows", load.flows},
                    {"busy", static_cast<double>(load.sent_ns) / static_cast<double>(load.lately_ns)}});
      }
      rows.push_back(std::move(row));
    });
  });
  return {{"load", std::move(rows)}};
}

}  // namespace heddle
