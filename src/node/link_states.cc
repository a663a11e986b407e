// SPDX-License-Identifier: Apache-2.0
// Link states: what this node knows of all nodes' links, passed on to neighbours and to the other workers (W6, R12).
#include <algorithm>
#include <bit>

#include "node/worker.h"

namespace heddle {

// All records this worker has, to a neighbour whose digest differs (W6).
void Worker::send_notices(Port& port) {
  Packet* packet = nullptr;
  for (uint16_t node = 0; node < topology_.nodes.size(); ++node) {
    const LinkState::Record& record = link_state_.record(node);
    if (record.sequence == 0) continue;
    if (packet == nullptr) {
      packet = control_packet(port);
      if (packet == nullptr) return;  // the next hello asks again
      start_records(*packet, HEDDLE_NOTICE);
    }
    append_record(*packet, NoticeRecord{topology_.nodes[node].address, record.sequence, record.ports_up});
    if (record_count(*packet) < HEDDLE_NOTICE_RECORDS_MAX) continue;
    queue_control(port, packet);
    packet = nullptr;
  }
  if (packet != nullptr) queue_control(port, packet);
  port.counters.count(ProtocolEvent::notice_sent);
}

// News about a node's links: on to all neighbours, to the other workers, and into the routes at the end of the turn.
void Worker::link_states_changed(uint16_t node) {
  routes_stale_ = true;
  const LinkState::Record& record = link_state_.record(node);
  for (Port* port : own_ports_) {
    if (!port->is_fabric() || !port->session.up()) continue;
    port->counters.count(ProtocolEvent::notice_news);
    Packet* packet = control_packet(*port);
    if (packet == nullptr) continue;  // the next hello's digest heals it
    start_records(*packet, HEDDLE_NOTICE);
    append_record(*packet, NoticeRecord{topology_.nodes[node].address, record.sequence, record.ports_up});
    queue_control(*port, packet);
  }
  for (uint16_t& told : told_) told = std::min(told, node);
  tell_link_states();
}

// The other workers hear of every record; what a full ring does not take is said next turn.
void Worker::tell_link_states() {
  for (uint32_t worker = 0; worker < outbox_.workers(); ++worker) {
    if (worker == index_) continue;
    for (uint16_t& node = told_[worker]; node < topology_.nodes.size(); ++node) {
      const LinkState::Record& record = link_state_.record(node);
      if (record.sequence == 0) continue;
      if (outbox_.send_to(worker, LinkStateNews{node, record.sequence, record.ports_up})) continue;
      result_.busy = true;
      break;
    }
  }
}

// The first worker speaks for the node.
void Worker::originate_link_state() {
  PortSet up = 0;
  for (PortSet rest = fabric_ports_; rest != 0; rest &= rest - 1) {
    const auto port = static_cast<PortIndex>(std::countr_zero(rest));
    if (board_.up(port)) up |= PortSet{1} << port;
  }
  if (link_state_.originate(up)) link_states_changed(node_index_);
}

}  // namespace heddle
