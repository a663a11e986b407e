// SPDX-License-Identifier: Apache-2.0
// What is on the links, compared with both ends: positions (1), flow IDs (4), credits (6).
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <ostream>

#include "heddle/frames.h"
#include "sim/checker/checker.h"
#include "wire/fabric_frame.h"

namespace heddle::sim {

uint32_t Checker::new_ghost() {
  if (free_ghosts_.empty()) {
    ghosts_.emplace_back();
    return static_cast<uint32_t>(ghosts_.size() - 1);
  }
  const uint32_t index = free_ghosts_.back();
  free_ghosts_.pop_back();
  ghosts_[index] = {};
  return index;
}

void Checker::log_frame(uint32_t link, unsigned direction, LinkFrameEvent event, const Packet& packet, Nanos at) const {
  static const char* const kEvents[] = {"sent",      "lost",      "corrupted", "duplicated",
                                        "under way", "ring full", "delivered"};
  static const char* const kKinds[] = {"?", "data", "ack", "probe", "credit", "notice", "load", "hello", "retry"};
  if (event == LinkFrameEvent::under_way) return;
  *log_ << fabric_.engine().now() << " link " << link << '.' << direction << ' '
        << kEvents[static_cast<unsigned>(event)] << " at " << at << ": " << packet.length << " bytes";
  WireLink wire;
  WireData data;
  if (read_wire_link(packet.data, packet.length, wire))
    *log_ << ", " << kKinds[wire.kind < std::size(kKinds) ? wire.kind : 0] << " session " << std::hex << wire.tag
          << std::dec << " sequence " << wire.sequence << (wire.channel != 0 ? " in turn" : "")
          << (wire.flags & HEDDLE_DATA_RETRY ? " again" : "");
  if (read_wire_data(packet.data, packet.length, data))
    *log_ << " flow ID " << data.flow_id << " position " << data.data_flow << " + " << data.length << " pattern "
          << pattern_of(packet);
  LinkFrame frame;
  if (check_frame(packet.data, packet.length, frame) == DropReason::none) {
    for (const AckRecord record : ack_records(frame))
      *log_ << " [" << record.flow << ": " << record.ack_flow << ", lost " << record.lost_total << ']';
    for (const ProbeRecord record : probe_records(frame))
      *log_ << " [" << record.flow << ": " << record.data_flow << ']';
    Hello hello;
    if (frame.kind == HEDDLE_HELLO) {
      read_hello(frame, hello);
      *log_ << std::hex << " nonce " << hello.nonce << " echo " << hello.echo << std::dec;
    }
    for (const RetryRecord record : retry_records(frame))
      *log_ << " [flags " << int{record.flags} << ", round " << record.round << ", " << record.sequence << ']';
    for (const CreditRecord record : credit_records(frame))
      *log_ << " [sent " << record.sent_total << ", limit " << record.limit << ']';
  }
  *log_ << '\n';
}

void Checker::on_frame(uint32_t link, unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) {
  if (event == LinkFrameEvent::sent && SimPool::tag(packet).doomed)
    fail(1, "a forged frame that no switch may forward is sent on link " + std::to_string(link));
  if (link >= directions_.size()) return;  // a host's: what matters is what the host gets
  if (log_ != nullptr) log_frame(link, direction, event, packet, at);
  trace(uint64_t{link} << 40 | uint64_t{direction} << 36 | uint64_t(event) << 32 | packet.length);
  trace(at);
  switch (event) {
    case LinkFrameEvent::sent:
      return on_sent(link, direction, packet);
    case LinkFrameEvent::duplicated:
      coverage_.reach("fault: frame duplicated");
      return on_duplicated(link, direction, packet);
    case LinkFrameEvent::corrupted: {
      coverage_.reach("fault: frame corrupted");
      const uint32_t ghost = SimPool::tag(packet).ghost;
      if (ghost != ~0u && ghosts_[ghost].is_data) damage_ += fabric_.hosts();  // it may be flooded
      return;
    }
    case LinkFrameEvent::under_way:
      return;
    case LinkFrameEvent::ring_full:
      coverage_.reach("fault: receive ring full");
      return drop_ghost(link, direction, packet, false);
    case LinkFrameEvent::lost:
      coverage_.reach("fault: frame lost");
      return drop_ghost(link, direction, packet, false);
    case LinkFrameEvent::delivered:
      return drop_ghost(link, direction, packet, true);
  }
}

void Checker::on_sent(uint32_t link, unsigned direction, Packet& packet) {
  WireLink wire;
  const LinkEnd end = end_of(link, direction);
  if (!read_wire_link(packet.data, packet.length, wire)) fail(1, place(link, direction) + ": not a fabric frame");
  trace(uint64_t{wire.tag} << 32 | wire.sequence);
  SimPool::tag(packet).ghost = ~0u;
  if (wire.kind == HEDDLE_HELLO) {
    uint64_t nonce = 0;
    std::memcpy(&nonce, packet.data + HEDDLE_ETHERNET_BYTES + offsetof(heddle_hello, nonce), sizeof nonce);
    nonces_[link][direction].insert(big_endian(nonce));
    return;
  }
  const Port& sender = fabric_.node(end.node_index)->port(end.port);
  DirectionGhost& ghost = directions_[link][direction];
  if (!sender.session.up() || sender.session.tag() != wire.tag)
    fail(4, place(link, direction) + ": frame of another session than the sender's");
  if (wire.tag != ghost.tag || !ghost.any_sent) {
    const uint64_t session = ghost.session + 1;
    const size_t channels = ghost.channels.size();
    ghost = {};
    ghost.session = session;
    ghost.tag = wire.tag;
    ghost.channels.resize(channels);
    ghost.any_sent = true;
  }
  const bool in_turn = wire.channel != 0;
  const bool again = wire.flags & HEDDLE_DATA_RETRY;
  SequenceGhost& order = ghost.orders[in_turn];
  if (order.any && (again ? serial_before(order.last, wire.sequence) : wire.sequence != order.last + 1))
    fail(4, place(link, direction) + ": sequence " + std::to_string(wire.sequence) + " after " +
                std::to_string(order.last) + (in_turn ? " in turn" : "") + (again ? ", sent again" : ""));
  if (!again) {
    if (order.any && wire.sequence < order.last) coverage_.reach("state: link sequence wrapped");
    order = {wire.sequence, true};
  }
  const uint32_t index = new_ghost();
  SimPool::tag(packet).ghost = index;
  GhostFrame& frame = ghosts_[index];
  frame = {.session = ghost.session,
           .sequence = wire.sequence,
           .pattern = 0,
           .flow_id = 0,
           .in_turn = in_turn,
           .is_data = false};
  WireData data;
  if (wire.kind != HEDDLE_DATA) return;
  if (!read_wire_data(packet.data, packet.length, data)) fail(1, place(link, direction) + ": broken data frame");
  frame.is_data = true;
  ++data_under_way_;
  if (data.flow_id != 0) on_data_sent(link, direction, data, packet, frame);
}

// The copy may be accepted instead of the frame, and then the frame no longer.
void Checker::on_duplicated(uint32_t link, unsigned direction, Packet& copy) {
  WireLink wire;
  const DirectionGhost& way = directions_[link][direction];
  if (!read_wire_link(copy.data, copy.length, wire) || wire.kind == HEDDLE_HELLO || wire.tag != way.tag) return;
  const uint32_t index = new_ghost();
  SimPool::tag(copy).ghost = index;
  ghosts_[index] = {.session = way.session,
                    .sequence = wire.sequence,
                    .pattern = 0,
                    .flow_id = 0,
                    .in_turn = wire.channel != 0,
                    .is_data = false};
}

// Which match pattern a frame belongs to; 0 if it is of no flow of ours.
uint32_t Checker::pattern_of(const Packet& packet) const {
  Trailer trailer;
  if (!read_trailer(packet.data, packet.length, trailer)) return 0;
  const auto& flows = fabric_.traffic().flows;
  return trailer.flow < flows.size() ? flows[trailer.flow].pattern : 0;
}

void Checker::on_data_sent(uint32_t link, unsigned direction, const WireData& data, Packet& packet, GhostFrame& ghost) {
  DirectionGhost& way = directions_[link][direction];
  const std::string where = place(link, direction) + " flow ID " + std::to_string(data.flow_id);
  if (data.flow_id >= way.channels.size()) fail(4, where + ": out of range");
  Channel& channel = way.channels[data.flow_id];
  if (data.again) check_sent_again(link, direction, data);
  if (data.in_turn && !data.again) way.in_turn.push_back(data);
  if (way.in_turn.size() > 2 * fabric_.topology().settings.lossless_credits * kVirtualChannels) way.in_turn.pop_front();
  if (!channel.used) {
    channel.used = true;
    channel.next = data.data_flow;
  }
  if (!data.again) {
    if (data.data_flow != channel.next)
      fail(1, where + ": stamped at " + std::to_string(data.data_flow) + ", behind " + std::to_string(channel.next));
    channel.starts.push_back(channel.next);
    channel.next += data.length;
    if (channel.next < channel.starts.back()) coverage_.reach("state: position wrapped");
  }
  const uint32_t pattern = pattern_of(packet);
  for (const Channel::UnderWay& other : channel.under_way) {
    if (pattern == 0 || other.pattern == 0 || other.pattern == pattern) continue;  // 0: damaged, nobody knows
    // Frames that were sent before the newest delivered one are refused by their sequence (K2), in a retry channel
    // those that were taken.
    const Node* receiving = fabric_.node(end_of(link, 1 - direction).node_index);
    if (other.in_turn && receiving == nullptr) continue;
    const bool may_be_taken =
        other.in_turn ? serial_before(receiving->port(end_of(link, 1 - direction).port).retry.taken(), other.sequence)
                      : !way.any_delivered || serial_before(way.newest_delivered, other.sequence);
    if (may_be_taken)
      fail(4, where + ": names pattern " + std::to_string(pattern) + " while a frame of pattern " +
                  std::to_string(other.pattern) + " is under way, sequence " + std::to_string(other.sequence));
  }
  channel.under_way.push_back({data.sequence, pattern, data.in_turn});
  ghost.pattern = pattern;
  ghost.flow_id = data.flow_id;
}

// A frame that is sent again is the one that had its number (K6).
void Checker::check_sent_again(uint32_t link, unsigned direction, const WireData& data) {
  for (const WireData& first : directions_[link][direction].in_turn) {
    if (first.sequence != data.sequence) continue;
    if (first.flow_id == data.flow_id && first.data_flow == data.data_flow && first.length == data.length) return;
    fail(1,
         place(link, direction) + ": another frame has number " + std::to_string(data.sequence) + " when sent again");
  }
}

void Checker::drop_ghost(uint32_t link, unsigned direction, Packet& packet, bool delivered) {
  const uint32_t index = SimPool::tag(packet).ghost;
  if (index == ~0u) return;
  SimPool::tag(packet).ghost = ~0u;
  const GhostFrame frame = ghosts_[index];
  free_ghosts_.push_back(index);
  if (frame.is_data) --data_under_way_;
  DirectionGhost& way = directions_[link][direction];
  if (frame.session != way.session) return;
  if (frame.flow_id != 0) {
    auto& under_way = way.channels[frame.flow_id].under_way;
    const auto found = std::find_if(under_way.begin(), under_way.end(), [&frame](const Channel::UnderWay& other) {
      return other.sequence == frame.sequence && other.in_turn == frame.in_turn;
    });
    if (found != under_way.end()) under_way.erase(found);
  }
  if (frame.in_turn) return;
  LinkFrame checked;
  if (!delivered || check_frame(packet.data, packet.length, checked) != DropReason::none) return;
  if (!way.any_delivered || serial_before(way.newest_delivered, frame.sequence)) way.newest_delivered = frame.sequence;
  way.any_delivered = true;
}

// Forged data frames that no switch may forward. One with an old position only if the receiver is past it already.
bool Checker::must_die(uint32_t link, unsigned direction, std::string_view forgery, const Packet& packet) const {
  for (const std::string_view kind : {"flow_id_high", "other_channel", "bad_kind", "other_version", "stale_tag",
                                      "no_life", "strange_class", "strange_channel"})
    if (forgery == kind) return true;
  WireData data;
  if (forgery != "position_back" || !read_wire_data(packet.data, packet.length, data)) return false;
  const LinkEnd to = end_of(link, 1 - direction);
  const Node* node = fabric_.node(to.node_index);
  if (node == nullptr) return false;
  const Port& port = node->port(to.port);
  return port.session.up() && port.session.tag() == data.tag &&
         serial_before(data.data_flow, port.input.flows[FlowId::of(data.flow_id)].next_data_flow);
}

// What a forger has touched is not compared byte by byte until the next session.
void Checker::on_forged(uint32_t link, unsigned direction, std::string_view forgery, Packet& packet) {
  SimPool::tag(packet).doomed = must_die(link, direction, forgery, packet);
  coverage_.reach("forgery: " + std::string(forgery));
  directions_[link][direction].forged = directions_[link][1 - direction].forged = true;
  sessions_lost_ = true;
}

// Both ends of one direction, if they are in one session.
void Checker::check_link(uint32_t link, unsigned direction) {
  const DirectionGhost& way = directions_[link][direction];
  const LinkEnd from = end_of(link, direction), to = end_of(link, 1 - direction);
  const Node* sending = fabric_.node(from.node_index);
  const Node* receiving = fabric_.node(to.node_index);
  if (sending == nullptr) return;
  const Port& sender = sending->port(from.port);
  if (sender.session.up() && !nonces_[link][1 - direction].contains(sender.session.peer_nonce()))
    fail(10, place(link, direction) + ": a session with somebody who is not there");
  if (way.forged) return;
  if (!sender.session.up() || !way.any_sent || sender.session.tag() != way.tag) return;
  const Port* receiver = receiving == nullptr ? nullptr : &receiving->port(to.port);
  if (receiver != nullptr && (!receiver->session.up() || receiver->session.tag() != way.tag)) receiver = nullptr;
  for (uint32_t id = 1; id < way.channels.size(); ++id)
    if (way.channels[id].used) check_channel(link, direction, FlowId::of(id), sender, receiver);
  for (uint32_t channel = 0; channel < lanes_.channels() && receiver != nullptr; ++channel)
    check_credits(link, direction, channel);
}

void Checker::check_channel(uint32_t link, unsigned direction, FlowId id, const Port& sender, const Port* receiver) {
  Channel& channel = directions_[link][direction].channels[id];
  const OutputFlow& entry = sender.output.flows[id];
  const auto where = [&] { return place(link, direction) + " flow ID " + std::to_string(id); };
  if (entry.flags & kOutputEnded) return;
  if (entry.data_flow != channel.next)
    fail(1, where() + ": data_flow " + std::to_string(entry.data_flow) + ", but " + std::to_string(channel.next) +
                " was handed to the link");
  if (receiver == nullptr) return;
  const InputFlow& flow = receiver->input.flows[id];
  while (!channel.starts.empty() && serial_before(channel.starts.front(), flow.next_data_flow))
    channel.starts.pop_front();
  const uint32_t boundary = channel.starts.empty() ? channel.next : channel.starts.front();
  if (boundary != flow.next_data_flow)
    fail(1, where() + ": next_data_flow " + std::to_string(flow.next_data_flow) +
                " is no frame's position; the next is " + std::to_string(boundary) + ", sent up to " +
                std::to_string(channel.next));
  if (serial_before(flow.ack_flow, entry.ack_flow))
    fail(1, where() + ": the sender has " + std::to_string(entry.ack_flow) + " settled, the receiver only " +
                std::to_string(flow.ack_flow));
  if (serial_before(flow.lost_total, entry.lost_total))
    fail(1, where() + ": the sender knows of " + std::to_string(entry.lost_total) + " lost, the receiver of " +
                std::to_string(flow.lost_total));
}

void Checker::check_credits(uint32_t link, unsigned direction, uint32_t channel) {
  const LinkEnd from = end_of(link, direction), to = end_of(link, 1 - direction);
  const LinkCredits& sender = fabric_.node(from.node_index)->port(from.port).credits[channel];
  const LinkCredits& receiver = fabric_.node(to.node_index)->port(to.port).credits[channel];
  const auto numbers = [&] {
    return place(link, direction) + " channel " + std::to_string(channel) + ": sent " +
           std::to_string(sender.sent_total()) + ", limit " + std::to_string(sender.limit()) + ", received " +
           std::to_string(receiver.received_total()) + ", granted " + std::to_string(receiver.granted()) + ", held " +
           std::to_string(receiver.held());
  };
  if (serial_before(sender.limit(), sender.sent_total())) fail(6, numbers() + ": sent beyond the limit");
  if (serial_before(receiver.granted(), sender.limit())) fail(6, numbers() + ": a limit that was not granted");
  if (serial_before(sender.sent_total(), receiver.received_total())) fail(6, numbers() + ": received more than sent");
}

}  // namespace heddle::sim
