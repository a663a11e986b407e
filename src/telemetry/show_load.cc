// SPDX-License-Identifier: Apache-2.0
// What those see who choose among paths (R3), for each fabric port, and which flows were asked to take another (R9).
#include <bit>

#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

using Events = std::array<uint64_t, kProtocolEvents>;

void add_events(const Events& events, Json& row) {
  for (const ProtocolEvent event :
       {ProtocolEvent::redirect_asked, ProtocolEvent::redirect_obeyed, ProtocolEvent::redirect_passed_on,
        ProtocolEvent::redirect_ended, ProtocolEvent::flow_detoured}) {
    const auto position = static_cast<size_t>(event);
    row[std::string(kProtocolEventNames[position])] = events[position];
  }
}

double busy(const Load& load) { return static_cast<double>(load.sent_ns) / static_cast<double>(load.lately_ns); }

// What each class sees of the port.
Json of_classes(const SwitchProcess& process, const LoadBoard& board, PortIndex port, Nanos now) {
  Json rows = Json::array();
  for (uint8_t position = 0; position < board.classes(); ++position) {
    const Load load = board.load(port, position, now);
    rows.push_back({{"class", process.topology().classes[position].name},
                    {"waiting_ns", load.waiting_ns},
                    {"flows", load.flows},
                    {"busy", busy(load)},
                    {"part", load.part}});
  }
  return rows;
}

// R8: ports of the node at the other end that have told they have much to do, and for which class.
Json behind(const SwitchProcess& process, const LoadBoard& board, const TopologyPort& about, PortIndex port,
            Nanos now) {
  Json rows = Json::array();
  const std::vector<TopologyPort>& ports = process.topology().nodes[about.peer.node_index].ports;
  for (uint8_t position = 0; position < board.classes(); ++position) {
    for (PortSet rest = board.loaded_behind(port, position, now); rest != 0; rest &= rest - 1) {
      const auto there = PortIndex::of(std::countr_zero(rest));
      if (there >= ports.size()) continue;  // a broken neighbour says that
      const Load load = board.behind(port, there, position);
      rows.push_back({{"port", ports[there].name},
                      {"class", process.topology().classes[position].name},
                      {"waiting_ns", load.waiting_ns},
                      {"flows", load.flows},
                      {"busy", busy(load)},
                      {"part", load.part}});
    }
  }
  return rows;
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
        const Nanos now = monotonic_now();
        const Load load = board.load(index, now);
        row.update({{"up", board.up(index)},
                    {"waiting_bytes", board.waiting_bytes(index)},
                    {"waiting_ns", load.waiting_ns},
                    {"flows", load.flows},
                    {"busy", busy(load)},
                    {"classes", of_classes(process, board, index, now)},
                    {"behind", behind(process, board, about.ports[index], index, now)}});
      }
      rows.push_back(std::move(row));
    });
  });
  return {{"load", std::move(rows)}};
}

}  // namespace heddle
