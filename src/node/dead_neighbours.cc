// SPDX-License-Identifier: Apache-2.0
#include "node/dead_neighbours.h"

#include <algorithm>

#include "topology/graph.h"

namespace heddle {

DeadNeighbours::DeadNeighbours(const Site& site, Ports& ports, const Turn& turn, Outbox& outbox, LoadBoard& board,
                               const LinkState& link_state)
    : site_(site),
      ports_(ports),
      turn_(turn),
      outbox_(outbox),
      board_(board),
      link_state_(link_state),
      life_ns_(dead_after_ns(site.classes.longest_life_ns())) {
  given_up_ns_.fill(kNever);
  for (const Port* port : ports_)
    if (port->is_fabric() && is_transit(site_.topology, port->settings.peer.node_index))
      transit_ |= PortSet{1} << port->index;
}

void DeadNeighbours::session_ended(const Port& port) { session_end_[port.index] = board_.count_session_end(); }

void DeadNeighbours::look() {
  for (Port* port : ports_) {
    Nanos& since = given_up_ns_[port->index];
    if (port->session.up() || !given_up(*port)) {
      since = kNever;
      continue;
    }
    since = std::min(since, turn_.now());
    const uint64_t seen = link_state_.ends_seen();
    if (board_.standing(port->index) != LinkStanding::settled || board_.kept_out_with(port->index) == seen ||
        turn_.now() - since >= life_ns_)
      continue;
    kept_out_until_ns_[port->index] = turn_.now() + life_ns_;
    board_.publish_kept_out(port->index, seen);
    port->counters.count(ProtocolEvent::neighbour_kept_out);
    if (site_.worker != 0) outbox_.wake(0);  // the first worker tells the fabric
  }
}

// By all whom it has links to, as far as is known here; and it was heard of before.
bool DeadNeighbours::given_up(const Port& port) const {
  const uint16_t node = port.settings.peer.node_index;
  if (!(transit_ >> port.index & 1) || link_state_.record(node).sequence == 0) return false;
  const auto& ports = site_.topology.nodes[node].ports;
  return std::none_of(ports.begin(), ports.end(), [this](const TopologyPort& there) {
    return there.fabric && (link_state_.ports_up()[there.peer.node_index] >> there.peer.port & 1) != 0;
  });
}

bool DeadNeighbours::nothing_is_left(const Port& output) const {
  const uint32_t ends_said = link_state_.record(site_.node).session_ends;
  if (static_cast<int32_t>(ends_said - session_end_[output.index]) < 0) return false;
  const auto& ports = site_.topology.nodes[output.settings.peer.node_index].ports;
  return std::all_of(ports.begin(), ports.end(),
                     [this](const TopologyPort& port) { return !port.fabric || keeps_out(port.peer); });
}

// The node keeps out who is at the other end of its port, and had seen all ends that are known here as it began to.
bool DeadNeighbours::keeps_out(const PortPeer& end) const {
  const LinkState::Record& record = link_state_.record(end.node_index);
  return (record.ports_kept_out >> end.port & 1) != 0 && record.ends_seen == link_state_.ends_seen();
}

}  // namespace heddle
