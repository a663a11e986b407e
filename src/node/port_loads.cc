// SPDX-License-Identifier: Apache-2.0
#include "node/port_loads.h"

namespace heddle {

void PortLoads::look(Port& port, Nanos now) {
  OutputSide& output = port.output;
  const uint32_t queued = output.scheduler.bytes();
  const uint64_t sent = port.counters.sent_bytes;
  if (sent == output.told_sent && queued == output.told_queued) return;
  output.sent_lately = faded(output.sent_lately, now - output.told_ns, board_.lately_ns(port.index)) +
                       static_cast<uint32_t>(sent - output.told_sent);
  output.told_queued = queued;
  output.told_sent = sent;
  output.told_ns = now;
  board_.publish_load(port.index, queued, output.sent_lately, now);
  if (output.redirects.due(now))
    output.redirects.look(board_.waiting_bytes(port.index), board_.load(port.index, now).flows, sent, random_, now);
}

void PortLoads::ask(Port& port, Packet* const* burst, uint32_t count, Nanos now) {
  for (uint32_t i = 0; i < count && port.output.redirects.asking(now); ++i)
    if (burst[i]->input.port != kNoPort) ask(port, *burst[i]);  // not made here
}

void PortLoads::ask(Port& port, const Packet& packet) {
  if (packet.output_flow == kNoFlow || site_.classes.of(packet.ftag).path != PathPolicy::adaptive) return;
  OutputFlow& entry = port.output.flows[packet.output_flow];
  if (((entry.congestion | entry.told) & kCongestionLevelMask) != 0 || (entry.flags & kOutputRedirect)) return;
  entry.flags |= kOutputRedirect;
  port.output.asked_by[packet.output_flow] = site_.address;
  settlement_.mark(port, packet.output_flow, entry);
  port.output.redirects.asked(entry.extent());
  port.counters.count(ProtocolEvent::redirect_asked);
}

}  // namespace heddle
