// SPDX-License-Identifier: Apache-2.0
#include "node/control_frames.h"

namespace heddle {

namespace {
constexpr uint32_t kControlQueueMax = 64;  // frames made here and not sent yet, per port
}  // namespace

Packet* ControlFrames::make(Port& port) {
  Packet* packet = nullptr;
  if (port.output.control_packets >= kControlQueueMax || pool_.allocate(&packet, 1) == 0) {
    ++port.counters.originated_frames;
    port.counters.drop(DropReason::no_buffer);
    return nullptr;
  }
  ++port.counters.originated_frames;
  packet->input.port = kNoPort;
  packet->flags = kPacketRecords;
  return packet;
}

void ControlFrames::queue(Port& port, Packet* packet) {
  port.output.control.push(packet);
  ++port.output.control_packets;
}

}  // namespace heddle
