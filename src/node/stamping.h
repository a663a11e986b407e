// SPDX-License-Identifier: Apache-2.0
// A data frame gets the header that it goes over its link with: its position in its flow (F6, K4), what its port and
// lane say, and one hop less. From then on it is under way: its flow is asked after (K5), and nothing of the port may
// overtake it (K2). Called by FabricTransmit as a frame leaves its queue, and by Express as it crosses, for each frame
// lives(), cost(), number() and stamp(). The session is up then, and the frame has life, link credit and a hop left.
// What has got a number goes to the device, in that order: the other end takes one that is missing for lost.
#pragma once

#include "node/port.h"
#include "node/prober.h"
#include "node/site.h"
#include "wire/fabric_frame.h"

namespace heddle {

class Stamping {
 public:
  Stamping(const Site& site, Prober& prober) : site_(site), prober_(prober) {}

  // Link credit that a frame of so many bytes takes (C9).
  static uint32_t cost(const LinkCredits& credits, uint32_t payload) {
    return credits.cost(HEDDLE_DATA_OVERHEAD_BYTES + payload);
  }
  // What all frames of a port have that go in one virtual channel, and perhaps in the link's retry channel (K6).
  // Sequence, life and what is the flow's are each frame's own.
  static Stamp common(const Port& port, uint8_t channel, bool retry) {
    return {.session_tag = port.session.tag(),
            .vc = channel,
            .channel = retry ? uint8_t{HEDDLE_RETRY_CHANNEL} : uint8_t{0},
            .flags = channel != kLossyChannel ? uint8_t{HEDDLE_DATA_LOSSLESS} : uint8_t{0},
            .start = port.data_frame_start};
  }
  // Is what is left of its life as much as a header can say (K8)? Of a host's frame that has not crossed, all of it is.
  static bool lives(Nanos left) { return left >= HEDDLE_LIFE_UNIT_NS; }
  // Its place among all of the link, or of its retry channel, and what is left of its life (K8). Before stamp().
  static void number(Port& port, Stamp& stamp, Nanos left, bool retry) {
    stamp.sequence = retry ? port.retry.next_sequence() : ++port.output.sequence;
    stamp.life_units = life_units(left);
  }
  // Writes the header, and moves the entry's position on by the frame's payload. A frame that has no header yet has the
  // headroom for it.
  void stamp(Port& port, Packet& packet, Stamp& stamp, Nanos now) {
    stamp.flow = packet.output_flow;
    stamp.data_flow = 0;
    if (packet.output_flow != kNoFlow) {
      OutputFlow& entry = port.output.flows[packet.output_flow];
      if (entry.extent() == 0) {  // K5 starts anew; a timer that still runs comes too early, and looks at due_ns
        entry.backoff = 0;
        entry.probe_mark = entry.ack_flow;
        entry.due_ns = now + site_.settings.probe_base_ns;
        if (!(entry.flags & kOutputTimed)) prober_.set(port.index, packet.output_flow, now);
      }
      stamp.data_flow = entry.data_flow;
      entry.data_flow += packet.payload;
    }
    if (!(packet.flags & kPacketFabric)) prepend_fabric_header(packet);
    --packet.hop_limit;
    stamp_data_frame(packet, stamp);
  }

 private:
  const Site& site_;
  Prober& prober_;
};

}  // namespace heddle
