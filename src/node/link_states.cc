// SPDX-License-Identifier: Apache-2.0
#include "node/link_states.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "wire/fabric_frame.h"

namespace heddle {

void LinkStates::changed(uint16_t node) {
  routes_stale_ = true;
  ended_paths_.look();
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
      if (outbox_.send_to(worker, LinkStateNews{node, record})) continue;
      turn_.stay_busy();
      break;
    }
  }
}

void LinkStates::say_own() {
  board_version_ = board_.version();
  LinkState::Record own{.session_ends = board_.session_ends()};
  const uint64_t seen = link_state_.ends_seen();
  for (PortSet rest = site_.fabric_ports; rest != 0; rest &= rest - 1) {
    const auto port = PortIndex::of(std::countr_zero(rest));
    const LinkStanding standing = board_.standing(port);
    if (standing == LinkStanding::up) own.ports_up |= rest & -rest;
    if (standing != LinkStanding::settled) continue;
    own.ports_settled |= rest & -rest;
    if (const uint64_t kept = board_.kept_out_with(port); kept != 0 && kept == seen) own.ports_kept_out |= rest & -rest;
  }
  if (own.ports_kept_out != 0) own.ends_seen = seen;
  if (link_state_.originate(own)) changed(site_.node);
}

NoticeRecord LinkStates::notice_of(uint16_t node) const {
  const LinkState::Record& record = link_state_.record(node);
  return {site_.topology.nodes[node].address,
          record.sequence,
          record.ports_up,
          record.ports_settled,
          record.ports_kept_out,
          record.ends_seen,
          record.session_ends};
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
