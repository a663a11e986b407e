// SPDX-License-Identifier: Apache-2.0
#include "node/credit_watch.h"

namespace heddle {

namespace {
constexpr Nanos kMeterSyncNs = kMillisecond;  // K7
constexpr uint32_t kMeteredPerTurn = 128;
}  // namespace

bool CreditWatch::hear(Port& port, const AckRecord& record, OutputFlow& entry) {
  const bool metered = record.flags & HEDDLE_ACK_METERED;
  if (metered && serial_before(record.credit_limit, record.ack_flow)) return false;
  // Of an ID that nobody uses, or with nothing under way, it is old news or none.
  if (entry.state != OutputFlowState::reserved || (metered && entry.extent() == 0)) return true;
  if (metered) {
    entry.flags |= kOutputMetered;
    if (!entry.listed) list(port, record.flow, entry);
  } else if (entry.flags & kOutputMetered) {
    entry.flags &= static_cast<uint16_t>(~kOutputMetered);
    port.counters.count(ProtocolEvent::meter_lifted);
  }
  entry.credit_limit = record.credit_limit;
  if (entry.input.flow == kNoFlow) return true;
  entry.flags |= kOutputCredit;
  settlement_.mark(port, record.flow, entry);
  return true;
}

void CreditWatch::look(Nanos now) {
  if (to_look_at_ == 0) {
    if (metered_.empty() || now < next_look_ns_) return;
    next_look_ns_ = now + kMeterSyncNs;
    to_look_at_ = metered_.size();
  }
  const auto frame = static_cast<int32_t>(site_.frame_bytes);
  for (uint32_t looks = 0; looks < kMeteredPerTurn && to_look_at_ != 0; ++looks) {
    const size_t at = --to_look_at_;  // from the back: what takes the place of a removed one has been looked at
    const Metered metered = metered_[at];
    Port& port = ports_.own(port_of_item(metered.item));
    const FlowId id = flow_of_item(metered.item);
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
      prober_.probe(port, id);
    }
    metered_.replace(at, {metered.item, entry.credit_limit});
  }
}

void CreditWatch::list(Port& port, FlowId id, OutputFlow& entry) {
  entry.listed = true;
  if (metered_.empty()) next_look_ns_ = turn_.now() + kMeterSyncNs;
  metered_.push_back({flow_item(port.index, id), entry.credit_limit});
}

}  // namespace heddle
