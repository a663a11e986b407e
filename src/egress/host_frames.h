// SPDX-License-Identifier: Apache-2.0
// How frames leave an edge port for its hosts: which of them it takes, what their class writes over DSCP and PCP (E2),
// and the tag that the port wants (W4). A value, one per port; written once.
#pragma once

#include <array>
#include <vector>

#include "topology/topology.h"
#include "wire/ethernet.h"
#include "wire/inlining.h"

namespace heddle {

class HostFrames {
 public:
  // `port` outlives it.
  HostFrames(const TopologyPort& port, const std::vector<TrafficClass>& classes)
      : vlans_(&port.vlans),
        native_(port.vlans.native != 0 ? port.vlans.native : kNoVlan),
        unchanged_(native_),
        longest_bytes_(port.mtu_bytes + kEthernetHeaderBytes) {
    for (const TrafficClass& one : classes) {
      by_ftag_[one.ftag & (kClassesMax - 1)] = {.dscp = one.rewrite_dscp, .pcp = one.rewrite_pcp};
      if (one.rewrite_dscp != kAsSent || one.rewrite_pcp != kAsSent) unchanged_ = kRewritten;
    }
  }

  // Without tag and fabric header; `payload` is its length then.
  DropReason refuses(const Packet& packet) const {
    if (packet.vni != native_ && !vlans_->member(packet.vni)) return DropReason::vlan_egress;
    return packet.payload > longest_bytes_ ? DropReason::output_too_long : DropReason::none;
  }
  bool takes(const Packet& packet) const { return refuses(packet) == DropReason::none; }
  // Of a frame that it does not refuse, without a tag or fabric header.
  void finish(Packet& packet) const {
    if (packet.vni == unchanged_) [[likely]]
      return;
    if (unchanged_ != native_) rewrite(packet);
    if (tagged(packet)) tag_for_host(packet);
  }
  bool tagged(const Packet& packet) const { return packet.vni != native_; }

 private:
  static constexpr uint16_t kNoVlan = 0xffff, kRewritten = 0xfffe;  // no frame is of these
  struct Rewrite {
    uint8_t dscp = kAsSent, pcp = kAsSent;
  };

  HEDDLE_COLD void rewrite(Packet& packet) const {
    const Rewrite& its = by_ftag_[packet.ftag & (kClassesMax - 1)];
    if (its.dscp != kAsSent) write_dscp(packet.data, packet.length, its.dscp);
    if (its.pcp != kAsSent) packet.priority = static_cast<uint8_t>((packet.priority & 0xf1) | its.pcp << 1);
  }

  const VlanMembership* vlans_;
  uint16_t native_;         // whose frames have no tag; kNoVlan if it has none
  uint16_t unchanged_;      // whose frames leave as they came: native_, or where any class rewrites kRewritten
  uint32_t longest_bytes_;  // of an untagged frame
  std::array<Rewrite, kClassesMax> by_ftag_{};
};

}  // namespace heddle
