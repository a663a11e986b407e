// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/heard_pauses.h"

#include <algorithm>
#include <cstring>

#include "sim/hosts/sim_frame.h"
#include "wire/ethernet.h"

namespace heddle::sim {

// As a switch would describe it that tells flows apart by those fields.
FgfcFlow HeardPauses::described(const HostFlow& flow, uint8_t fields) const {
  const auto& hosts = fabric_.setup().hosts;
  const LinkEnd end = hosts[host_].port;
  const bool tagged = flow.vlan != fabric_.topology().nodes[end.node_index].ports[end.port].vlans.native;
  uint8_t bytes[256];
  const uint32_t length = write_frame(bytes, flow, {hosts[host_].mac, host_},
                                      {hosts[flow.destination].mac, flow.destination}, tagged, 128, 0, 0, false);
  EdgeHeaders headers;
  parse_edge_frame(bytes, length, headers);
  FgfcFlow described{.fields = fields, .vlan = tagged ? flow.vlan : uint16_t{0}};
  if (!(fields & HEDDLE_FGFC_ANY_DESTINATION)) described.destination = headers.destination_mac;
  if (fields & ~(HEDDLE_FGFC_FLOW_LABEL | HEDDLE_FGFC_ANY_DESTINATION)) described.l3 = headers.l3;
  if (fields & HEDDLE_FGFC_DSCP) described.dscp = headers.dscp;
  if (fields & HEDDLE_FGFC_FLOW_LABEL) described.flow_label = headers.flow_label;
  if (fields & (HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_SOURCE_ADDRESS))
    std::memcpy(described.source_address.data(), headers.address_source, sizeof headers.address_source);
  if (fields & HEDDLE_FGFC_ADDRESSES)
    std::memcpy(described.destination_address.data(), headers.address_destination, sizeof headers.address_destination);
  if (fields & HEDDLE_FGFC_PORTS) {
    described.protocol = headers.protocol;
    described.source_port = headers.source_port;
    described.destination_port = headers.destination_port;
  }
  return described;
}

uint32_t HeardPauses::index_of(const FgfcFlow& flow) {
  const auto [place, is_new] = indices_.emplace(flow, static_cast<uint32_t>(pauses_.size()));
  if (!is_new) return place->second;
  pauses_.emplace_back().of_application = flow.fields & HEDDLE_FGFC_ANY_DESTINATION;
  const std::vector<HostFlow>& flows = fabric_.traffic().flows;
  of_flows_.resize(flows.size());
  for (const HostFlow& candidate : flows) {
    if (candidate.source != host_ || described(candidate, flow.fields) != flow) continue;
    of_flows_[candidate.id].push_back(place->second);
  }
  return place->second;
}

std::vector<uint16_t> HeardPauses::hear(const FgfcPause& told, Nanos now) {
  Pause& pause = pauses_[index_of(told.flow)];
  if (told.timer_ns == 0 && pause.number != told.number) return {};  // the end of an earlier one
  if (pause.number != told.number) pause.sent = told.credit;         // what it has not heard of in time is gone
  pause.number = told.number;
  pause.credit = told.credit;
  pause.until_ns = now + told.timer_ns;
  return std::exchange(pause.held, {});
}

uint32_t HeardPauses::in_force(uint16_t flow, Nanos now) const {
  uint32_t found = kNone;
  if (flow >= of_flows_.size()) return found;
  for (const uint32_t index : of_flows_[flow])
    if (now < pauses_[index].until_ns && (found == kNone || pauses_[found].of_application)) found = index;
  return found;
}

Nanos HeardPauses::may_send_at(uint16_t flow, uint32_t bytes, Nanos now) const {
  const uint32_t index = in_force(flow, now);
  if (index == kNone) return 0;
  const Pause& pause = pauses_[index];
  return pause.sent + bytes > pause.credit ? pause.until_ns : 0;
}

void HeardPauses::hold(uint16_t flow, Nanos now) { pauses_[in_force(flow, now)].held.push_back(flow); }

void HeardPauses::sent(uint16_t flow, uint32_t bytes, Nanos now) {
  const uint32_t index = in_force(flow, now);
  if (index == kNone) return;
  Pause& pause = pauses_[index];
  pause.sent += bytes;
  if (pause.sent > pause.credit) most_beyond_ = std::max(most_beyond_, pause.sent - pause.credit);
}

uint32_t HeardPauses::held_flows(Nanos now) const {
  uint32_t held = 0;
  for (size_t flow = 0; flow < of_flows_.size(); ++flow) held += in_force(static_cast<uint16_t>(flow), now) != kNone;
  return held;
}

}  // namespace heddle::sim
