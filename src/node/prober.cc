// SPDX-License-Identifier: Apache-2.0
#include "node/prober.h"

#include <algorithm>

#include "wire/fabric_frame.h"

namespace heddle {

namespace {
constexpr uint8_t kProbeBackoffMax = 3;  // K5: at most 8 times the base
}  // namespace

void Prober::set(PortIndex output, FlowId id, Nanos now) {
  OutputFlow& entry = ports_.own(output).output.flows[id];
  entry.flags |= kOutputTimed;
  timers_.add_output(output, id, std::min(entry.due_ns, now + site_.settings.probe_base_ns));
}

void Prober::on_timer(Port& output, FlowId id, Nanos now) {
  OutputFlow& entry = output.output.flows[id];
  entry.flags &= static_cast<uint16_t>(~kOutputTimed);
  if (entry.extent() == 0) return;
  if (now < entry.due_ns) return set(output.index, id, now);
  if (entry.flags & kOutputEnded) return settlement_.settle_ended(output, id, entry, ProtocolEvent::settled_by_end);
  if (entry.ack_flow != entry.probe_mark) {
    entry.backoff = 0;
  } else {
    probe(output, id);
    if (entry.backoff < kProbeBackoffMax) ++entry.backoff;
  }
  entry.probe_mark = entry.ack_flow;
  entry.due_ns = now + (site_.settings.probe_base_ns << entry.backoff);
  set(output.index, id, now);
}

void Prober::probe(Port& port, FlowId id) {
  const OutputFlow& entry = port.output.flows[id];
  const bool in_turn = site_.lanes.valid(entry.ftag, kFirstLosslessChannel, true);
  Packet*& probes = in_turn ? port.output.probes_in_turn : port.output.probes;
  if (probes != nullptr && record_count(*probes) == HEDDLE_PROBE_RECORDS_MAX) send(port);
  if (probes == nullptr) {
    probes = control_.make(port);
    if (probes == nullptr) return;  // asked again by the next timer
    start_records(*probes, HEDDLE_PROBE);
  }
  if (!append_record(*probes, ProbeRecord{id, entry.data_flow})) return;  // full, and it may not go yet
  if (in_turn) port.output.probes_after = port.retry.sent();
  port.counters.count(ProtocolEvent::probe_sent);
}

void Prober::send(Port& port) {
  OutputSide& output = port.output;
  if (output.probes != nullptr) control_.queue(port, output.probes);
  output.probes = nullptr;
  if (output.probes_in_turn == nullptr || serial_before(port.retry.settled(), output.probes_after)) return;
  control_.queue(port, output.probes_in_turn);
  output.probes_in_turn = nullptr;
}

}  // namespace heddle
