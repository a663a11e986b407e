// SPDX-License-Identifier: Apache-2.0
#include "egress/output_room.h"

#include <algorithm>

namespace heddle {

uint16_t crossing_room(const FabricSettings& settings, bool at_once) {
  return static_cast<uint16_t>(std::min(settings.output_room_buffers * (at_once ? 2 : 1), 0xffffu));
}

OutputRoom::OutputRoom(uint32_t inputs, uint32_t lanes)
    : inputs_(inputs), returns_(inputs * lanes), waiting_(inputs * lanes), most_waiting_(lanes), orphans_(inputs) {}

void OutputRoom::orphan_freed(PortIndex input) {
  ++orphans_[input];
  due_ |= PortSet{1} << input;
}

void OutputRoom::given(PortIndex input, LaneIndex lane, const Returns& given) {
  Returns& returns = returns_[at(input, lane)];
  const uint32_t kept = returns.room - given.room;
  returns = {};
  returns.room = kept;
}

void OutputRoom::set_waiting(PortIndex input, LaneIndex lane, uint32_t flows) {
  waiting_[at(input, lane)] = flows;
  uint32_t most = 0;
  for (PortIndex other = 0; other < inputs_; ++other) {
    most = std::max(most, waiting_[at(other, lane)]);
    if (returns_[at(other, lane)].any()) due_ |= PortSet{1} << other;
  }
  most_waiting_[lane] = most;
}

uint64_t OutputRoom::share(PortIndex input, LaneIndex lane, uint32_t room) const {
  const uint64_t flows = std::max<uint32_t>(1, waiting_[at(input, lane)]);
  return std::max<uint64_t>(room * flows / most_waiting_[lane], room / 8);
}

}  // namespace heddle
