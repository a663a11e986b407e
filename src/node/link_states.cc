// SPDX-License-Identifier: Apache-2.0
#include "node/link_states.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "wire/fabric_frame.h"

namespace heddle {

void LinkStates::changed(uint16_t node) {
  routes_stale_ = true;
  ended_paths_.look(node);
  for (Port* port : ports_) {
    if (!port->is_fabric() || !port->session.up()) continue;
    port->counters.count(ProtocolEvent::notice_news);
    Packet* packet = control_.make(*port);
    if (packet == nullptr) continue;  // the next hello's digest heals it
    start_records(*packet, HEDDLE_NOTICE);
    append_record(*packet, notice_of(node));
    control_.queue(*port, packet);
  }
  for (uint16_t& told : told_) told = std::min(told, node);
  tell_workers();
}

void LinkStates::tell_workers() {
  for (WorkerIndex worker = 0; worker < outbox_.workers(); ++worker) {
    if (worker == site_.worker) continue;
    for (uint16_t& node = told_[worker]; node < site_.topology.nodes.size(); ++node) {
      const LinkState::Record& record = link_state_.record(node);
      if (record.sequence == 0) continue;
      if (outbox_.send_to(worker, LinkStateNews{node, record.sequence, record.ports_up, record.ports_settled}))
        continue;
      turn_.stay_busy();
      break;
    }
  }
}

void LinkStates::originate() {
  if (!news()) return;
  board_version_ = board_.version();
  PortSet up = 0, settled = 0;
  for (PortSet rest = site_.fabric_ports; rest != 0; rest &= rest - 1) {
    const LinkStanding standing = board_.standing(PortIndex::of(std::countr_zero(rest)));
    if (standing == LinkStanding::up) up |= rest & -rest;
    if (standing == LinkStanding::settled) settled |= rest & -rest;
  }
  if (link_state_.originate(up, settled)) changed(site_.node);
}

NoticeRecord LinkStates::notice_of(uint16_t node) const {
  const LinkState::Record& record = link_state_.record(node);
  return {site_.topology.nodes[node].address, record.sequence, record.ports_up, record.ports_settled};
}

bool LinkStates::recompile() { return std::exchange(routes_stale_, false) && paths_.compile(link_state_.ports_up()); }

void LinkStates::send_notices(Port& port) {
  Packet* packet = nullptr;
  for (uint16_t node = 0; node < site_.topology.nodes.size(); ++node) {
    if (link_state_.record(node).sequence == 0) continue;
    if (packet == nullptr) {
      packet = control_.make(port);
      if (packet == nullptr) return;  // the next hello asks again
      start_records(*packet, HEDDLE_NOTICE);
    }
    append_record(*packet, notice_of(node));
    if (record_count(*packet) < HEDDLE_NOTICE_RECORDS_MAX) continue;
    control_.queue(port, packet);
    packet = nullptr;
  }
  if (packet != nullptr) control_.queue(port, packet);
  port.counters.count(ProtocolEvent::notice_sent);
}

}  // namespace heddle
