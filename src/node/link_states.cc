// SPDX-License-Identifier: Apache-2.0
#include "node/link_states.h"

#include <bit>

#include "wire/fabric_frame.h"

namespace heddle {

void LinkStates::changed(uint16_t node, PortIndex from) {
  changed_ = true;
  news_.insert(node);
  from_[node] = node == site_.node ? kNoPort : from;  // what it says of itself is an answer to what came
  for (WorkerIndex worker = 0; worker < outbox_.workers(); ++worker)
    if (worker != site_.worker) untold_[worker].insert(node);
  untold_workers_ = (~uint64_t{0} >> (64 - outbox_.workers())) & ~(uint64_t{1} << site_.worker);
}

bool LinkStates::pass_on() {
  changed_ = false;
  ended_paths_.look();
  for (Port* port : ports_)
    if (port->is_fabric() && port->session.up()) tell_neighbour(*port);
  news_.clear();
  tell_workers();
  // Another worker that keeps a node out may have seen an end before this one, which speaks for both.
  if (said_with_ != link_state_.ends_seen()) board_version_ = board_.version() - 1;
  return paths_.compile(link_state_.ports_up());
}

void LinkStates::tell_neighbour(Port& port) {
  Packet* packet = nullptr;
  news_.each([&](uint16_t node) {
    return from_[node] == port.index || append_notice(port, packet, node, ProtocolEvent::notice_news);
  });
  if (packet != nullptr) control_.queue(port, packet);
}

// To the packet, or to a fresh one, which is counted; false if there is none: the next hello's digest heals it.
bool LinkStates::append_notice(Port& port, Packet*& packet, uint16_t node, ProtocolEvent frame) {
  if (packet == nullptr) {
    packet = control_.make(port);
    if (packet == nullptr) return false;
    start_records(*packet, HEDDLE_NOTICE);
    port.counters.count(frame);
  }
  const LinkState::Record& record = link_state_.record(node);
  append_record(*packet,
                NoticeRecord{site_.topology.nodes[node].address, record.sequence, record.ports_up, record.ports_settled,
                             record.ports_kept_out, record.ends_seen, record.session_ends});
  if (record_count(*packet) < HEDDLE_NOTICE_RECORDS_MAX) return true;
  control_.queue(port, packet);
  packet = nullptr;
  return true;
}

void LinkStates::tell_untold() {
  for (uint64_t rest = untold_workers_; rest != 0; rest &= rest - 1) {
    const auto worker = WorkerIndex::of(std::countr_zero(rest));
    const bool all = untold_[worker].each([&](uint16_t node) {
      if (!outbox_.send_to(worker, LinkStateNews{node, link_state_.record(node)})) return false;
      untold_[worker].erase(node);
      return true;
    });
    if (all)
      untold_workers_ &= ~(rest & -rest);
    else
      turn_.stay_busy();
  }
}

void LinkStates::say_own() {
  board_version_ = board_.version();
  const uint64_t seen = said_with_ = link_state_.ends_seen();
  LinkState::Record own;
  for (PortSet rest = site_.fabric_ports; rest != 0; rest &= rest - 1) {
    const auto port = PortIndex::of(std::countr_zero(rest));
    const LinkStanding standing = board_.standing(port);
    if (standing == LinkStanding::up) own.ports_up |= rest & -rest;
    if (standing != LinkStanding::settled) continue;
    own.ports_settled |= rest & -rest;
    if (const uint64_t kept = board_.kept_out_with(port); kept != 0 && kept == seen) own.ports_kept_out |= rest & -rest;
  }
  if (own.ports_kept_out != 0) own.ends_seen = seen;
  own.session_ends = board_.session_ends();  // after the standings: of each that is down the end is counted
  if (link_state_.originate(own)) changed(site_.node);
}

void LinkStates::send_notices(Port& port) {
  Packet* packet = nullptr;
  for (uint16_t node = 0; node < site_.topology.nodes.size(); ++node)
    if (link_state_.record(node).sequence != 0 && !append_notice(port, packet, node, ProtocolEvent::notice_sent))
      return;
  if (packet != nullptr) control_.queue(port, packet);
}

}  // namespace heddle
