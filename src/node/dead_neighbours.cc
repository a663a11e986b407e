// SPDX-License-Identifier: Apache-2.0
#include "node/dead_neighbours.h"

#include <algorithm>

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
}

void DeadNeighbours::session_ended(const Port& port) { session_end_[port.index] = board_.count_session_end(); }

void DeadNeighbours::look() {
  for (Port* port : ports_) {
    if (!port->is_fabric()) continue;
    Nanos& since = given_up_ns_[port->index];
    if (port->session.up() || !given_up(port->settings.peer.node_index)) {
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
bool DeadNeighbours::given_up(uint16_t node) const {
  if (link_state_.record(node).sequence == 0) return false;
  bool has_another = false;
  for (const TopologyPort& port : site_.topology.nodes[node].ports) {
    if (!port.fabric) continue;
    if (link_state_.ports_up()[port.peer.node_index] >> port.peer.port & 1) return false;
    has_another |= port.peer.node_index != site_.node;
  }
  return has_another;
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
