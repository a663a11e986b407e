// SPDX-License-Identifier: Apache-2.0
// Credits of single flows inside the fabric (C6). A flow that queues at a fabric port past its target is granted by
// credit: the switch before may send it up to a position, which follows what leaves the queue, so that a flow that does
// not get on holds few of the link's buffers. Its queue there grows in turn, and so it goes back hop by hop.
// Limits are positions (K3); a lost one is told again with the next ACK, and whoever waits for it asks (K7).
#include <algorithm>

#include "flow/flow_gate.h"
#include "node/worker.h"

namespace heddle {

namespace {
constexpr uint32_t kTargetMaxBytes = 64 * 1024;
constexpr Nanos kMeterSyncNs = kMillisecond;  // K7
constexpr uint32_t kMeteredPerTurn = 128;
}  // namespace

// What a flow may have queued at a fabric port before it is granted by credit: when each that queues there has twice
// that, it is half of the channel's buffers that are not in the outputs.
uint32_t Worker::credit_target(const Port& port, uint8_t channel) const {
  const uint32_t frame = topology_.edge_mtu_bytes + kEthernetHeaderBytes;
  const uint32_t all = port.credits[channel].buffers();
  const uint64_t bytes =
      uint64_t{all - std::min(all / 2, settings_.output_room_buffers)} * std::min(frame, kBufferBytes);
  const uint64_t share = bytes / (4 * std::max<uint32_t>(1, port.input.queued_flows[channel]));
  return static_cast<uint32_t>(std::clamp<uint64_t>(share, frame, std::max(frame, kTargetMaxBytes)));
}

// A packet comes to the queue of a flow at a fabric port, and is in queue_extent() already.
void Worker::grant_by_credit(Port& port, FlowId id, InputFlow& flow, const Packet& packet, Nanos now) {
  if (flow.queue.empty()) ++port.input.queued_flows[packet.vc];
  if ((flow.flags & kFlowFull) || !edge_.classifier().of_ftag(flow.ftag).flow_credits) return;
  const uint32_t target = credit_target(port, packet.vc);
  if (flow.queue_extent() <= target) return;
  flow.flags |= kFlowFull;
  port.input.meters[id].begin(target, flow.data_flow);
  port.counters.count(ProtocolEvent::flow_metered);
  mark_ack_due(port, id, flow, now);
  port.input.ack_urgent = true;
}

// A packet leaves the queue of a flow that is granted by credit.
void Worker::return_credit(Port& port, InputFlow& flow, const Packet& packet) {
  const FlowId id = packet.input.flow;
  const FlowMeter::Departure departure{.bytes = packet.payload,
                                       .queued = flow.queue_extent() - packet.payload,
                                       .received = flow.next_data_flow,
                                       .data_flow = flow.data_flow + packet.payload};
  const uint32_t frame = topology_.edge_mtu_bytes + kEthernetHeaderBytes;
  switch (port.input.meters[id].leave(departure, credit_target(port, packet.vc), frame)) {
    case FlowMeter::Verdict::nothing:
      return;
    case FlowMeter::Verdict::tell:
      port.counters.count(ProtocolEvent::credit_told);
      break;
    case FlowMeter::Verdict::over:
      flow.flags &= static_cast<uint16_t>(~kFlowFull);
      port.counters.count(ProtocolEvent::meter_ended);
      break;
  }
  mark_ack_due(port, id, flow, now_);
}

// The next hop says up to where it takes a flow's data, or that it takes all again. False if that cannot be: it has
// settled more.
bool Worker::take_credit(Port& port, const AckRecord& record, OutputFlow& entry) {
  const bool metered = record.flags & HEDDLE_ACK_METERED;
  if (metered && serial_before(record.credit_limit, record.ack_flow)) return false;
  // Of an ID that nobody uses, or with nothing under way, it is old news or none.
  if (entry.state != OutputFlowState::reserved || (metered && entry.extent() == 0)) return true;
  if (metered) {
    entry.flags |= kOutputMetered;
    if (!entry.listed) list_metered(port, record.flow, entry);
  } else if (entry.flags & kOutputMetered) {
    entry.flags &= static_cast<uint16_t>(~kOutputMetered);
    port.counters.count(ProtocolEvent::meter_lifted);
  }
  entry.credit_limit = record.credit_limit;
  if (entry.input.flow == kNoFlow) return true;
  entry.flags |= kOutputCredit;
  mark_dirty(port, record.flow, entry);
  return true;
}

void Worker::list_metered(Port& port, FlowId id, OutputFlow& entry) {
  entry.listed = true;
  if (metered_.empty()) next_metered_look_ns_ = now_ + kMeterSyncNs;
  metered_.push_back({reference(port.index, id), entry.credit_limit});
}

// K7: a flow that has no credit for a frame, and has heard nothing new since the last look, asks. The answer has the
// limit. So many a turn: however many there are, the devices are read meanwhile.
void Worker::look_at_metered(Nanos now) {
  if (metered_to_look_at_ == 0) {
    if (metered_.empty() || now < next_metered_look_ns_) return;
    next_metered_look_ns_ = now + kMeterSyncNs;
    metered_to_look_at_ = metered_.size();
  }
  const auto frame = static_cast<int32_t>(topology_.edge_mtu_bytes + kEthernetHeaderBytes);
  for (uint32_t looks = 0; looks < kMeteredPerTurn && metered_to_look_at_ != 0; ++looks) {
    const size_t at = --metered_to_look_at_;  // from the back: what takes the place of a removed one has been looked at
    const Metered metered = metered_[at];
    Port& port = own(static_cast<PortIndex>(metered.item >> 16));
    const auto id = static_cast<FlowId>(metered.item & 0xffff);
    OutputFlow& entry = port.output.flows[id];
    entry.listed = entry.state == OutputFlowState::reserved && (entry.flags & kOutputMetered) != 0 &&
                   (entry.flags & kOutputEnded) == 0;
    if (!entry.listed) {
      metered_.replace_by_last(at);
      continue;
    }
    const bool waits = entry.extent() != 0 && serial_distance(entry.data_flow, entry.credit_limit) < frame;
    if (waits && entry.credit_limit == metered.limit) {
      port.counters.count(ProtocolEvent::flow_credit_asked);
      probe(port, id);
    }
    metered_.replace(at, {metered.item, entry.credit_limit});
  }
}

// `granted`: bytes that the flow may hand on since it has its output flow ID.
void Worker::on_credit(Port& port, Epoch epoch, FlowId id, bool metered, uint32_t granted, Nanos now) {
  if (epoch != port.input.ref.epoch) return;
  InputFlow& flow = port.input.flows[id];
  if (!flow.in_use() || flow.branch.flow == kNoFlow) return;
  if (metered) {
    flow.flags |= kFlowMetered;
    port.input.meters[id].set_limit(flow.branch.turn_start + granted);
  } else {
    flow.flags &= static_cast<uint16_t>(~kFlowMetered);
  }
  if (flow.state == FlowState::blocked) unblock(port, id, flow, now);
}

// C8: of the next switch's buffers, for the channel that the queue's packets go in.
uint64_t Worker::free_bytes_of(const Voq& voq) const {
  const uint8_t channel = lanes_.channel(voq.lane);
  const Port* output = ports_[voq.output];
  const uint64_t free = output != nullptr ? free_buffers(*output, channel) : board_.free_buffers(voq.output, channel);
  return free * std::min(topology_.edge_mtu_bytes + kEthernetHeaderBytes, kBufferBytes);
}

bool Worker::has_share(const InputFlow& flow, const Voq& voq) const { return within_share(flow, free_bytes_of(voq)); }

}  // namespace heddle
