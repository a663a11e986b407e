// SPDX-License-Identifier: Apache-2.0
// Room at one output port (X1): of each input port so many buffers may have crossed to each of its lanes, and beside
// them so many of copies that were made by replication. It comes back to the input when its packets have left or died
// here, and with it what else belongs there: link credit, deliveries of frames without a flow, and flow IDs of ended
// sessions that are free again (K9).
// Owned by the output's worker. Allocates in its constructor only.
#pragma once

#include <vector>

#include "topology/topology.h"
#include "wire/packet.h"
#include "wire/types.h"

namespace heddle {

// May frames of the class cross without a flow between these two ports, if they are of two workers, and wait in the
// lane of that channel if they can't be delivered at once?
bool crosses_at_once(const TopologyPort& input, const TopologyPort& output, const TrafficClass& traffic_class,
                     uint8_t channel);
// Buffers of an input port at one lane of an output (X1). Where frames cross `at_once` to another worker, twice as
// many: room comes back a turn of each later, and two bursts would all be on the way.
uint16_t crossing_room(const FabricSettings& settings, bool at_once);
// Of those, what flows that wait keep. Frames without a flow come first in a turn; but where these had all of it,
// nothing would cross at once any more after a stall.
inline uint32_t room_of_flows(const FabricSettings& settings, bool at_once) {
  return crossing_room(settings, at_once) / 2u;
}

// Buffers of copies of an input port at one lane of an output. Flows that wait take all room that there is, as it comes
// back, and copies wait nowhere (E1): of one room for both, either would starve the other. In one queue each has its
// part by what it has there: copies as many buffers as the input's flows, and never more (A2).
inline uint16_t copy_room(const FabricSettings& settings) { return crossing_room(settings, false); }

// What goes back to an input port, for one lane.
struct Returns {
  uint32_t room = 0;       // buffers of crossing room in the lane
  uint32_t held = 0;       // buffers of link credit, in the channel that its packets came in
  uint32_t copy_room = 0;  // buffers of room for copies
  uint32_t copies = 0;     // the same, of the budget of all
  uint32_t delivered = 0;  // bytes of packets that crossed without a flow, to be delivered at once

  bool any() const { return (room | held | copy_room | copies | delivered) != 0; }
  // The packet's buffers are free.
  void add(const Packet& packet) {
    if (packet.flags & kPacketCopy) {
      copy_room += packet.cost;
      copies += packet.cost;
    } else {
      room += packet.cost;
      held += packet.cost;
    }
  }
};

class OutputRoom {
 public:
  OutputRoom(uint32_t inputs, uint32_t lanes);

  // Where the packet came from: to be added to, and given at the end of the turn.
  Returns& returns_for(const Packet& packet) {
    due_ |= PortSet{1} << packet.input.port;
    return returns_[at(packet.input.port, packet.lane)];
  }
  // A flow ID that an ended session of the input still held is free (K9).
  void orphan_freed(PortIndex input);

  // Inputs that something is to be given to; in those no longer due, some room may be kept.
  PortSet due() const { return due_; }
  void nothing_due(PortIndex input) { due_ &= ~(PortSet{1} << input); }
  const Returns& returns(PortIndex input, LaneIndex lane) const { return returns_[at(input, lane)]; }
  void given(PortIndex input, LaneIndex lane, const Returns& given);
  // What is kept in the lane may be less now.
  void look_again(LaneIndex lane);
  uint32_t orphans(PortIndex input) const { return orphans_[input]; }
  void orphans_told(PortIndex input) { orphans_[input] = 0; }

 private:
  size_t at(PortIndex input, LaneIndex lane) const { return size_t{lane} * inputs_ + input; }

  uint32_t inputs_;
  PortSet due_ = 0;
  std::vector<Returns> returns_;   // by lane and input port
  std::vector<uint32_t> orphans_;  // by input port: counted ones that are gone
};

}  // namespace heddle
