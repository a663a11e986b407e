// SPDX-License-Identifier: Apache-2.0
#include "egress/output_room.h"

#include <algorithm>

#include "topology/virtual_channels.h"

namespace heddle {

bool crosses_at_once(const TopologyPort& input, const TopologyPort& output, const TrafficClass& traffic_class,
                     uint8_t channel) {
  if (input.fabric || output.fabric) return false;
  if (!traffic_class.lossless) return true;
  // None does to a port with a rate, where twice the room were twice the time in which lossless frames grow old (K8).
  return traffic_class.flow_channels && channel == kFirstLosslessChannel && output.rate_bps == 0;
}

uint16_t crossing_room(const FabricSettings& settings, bool at_once) {
  return static_cast<uint16_t>(std::min(settings.output_room_buffers * (at_once ? 2 : 1), 0xffffu));
}

OutputRoom::OutputRoom(uint32_t inputs, uint32_t lanes) : inputs_(inputs), returns_(inputs * lanes), orphans_(inputs) {}

void OutputRoom::orphan_freed(PortIndex input) {
  ++orphans_[input];
  due_ |= PortSet{1} << input;
}

void OutputRoom::given(PortIndex input, LaneIndex lane, const Returns& given) {
  Returns& returns = returns_[at(input, lane)];
  const uint32_t kept = returns.room - given.room, of_copies = returns.copy_room - given.copy_room;
  returns = {};
  returns.room = kept;
  returns.copy_room = of_copies;
}

void OutputRoom::look_again(LaneIndex lane) {
  for (PortIndex input = 0; input < inputs_; ++input)
    if (returns_[at(input, lane)].any()) due_ |= PortSet{1} << input;
}

}  // namespace heddle
