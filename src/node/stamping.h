// SPDX-License-Identifier: Apache-2.0
// A data frame gets the header that it goes over its link with: its position in its flow (F6, K4), what its port and
// lane say, and one hop less. From then on it is under way: its flow is asked after (K5), and nothing of the port may
// overtake it (K2). Called by FabricTransmit as a frame leaves its queue, and by StampingAtOnce and Express as it
// crosses, for each frame lives(), cost(), advance() and stamp(). The session is up then, and the frame has life, link
// credit and a hop left. What has got a number goes to the device, in that order: the other end takes one that is
// missing for lost.
#pragma once

#include "node/port.h"
#include "node/prober.h"
#include "node/site.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"

namespace heddle {

class Stamping {
 public:
  Stamping(const Site& site, Prober& prober) : site_(site), prober_(prober) {}

  // How frames of one lane leave a port: in a virtual channel, and in the link's retry channel or not (K6).
  struct Lane {
    uint8_t channel;
    bool retry;
  };
  static Lane lane_of(const Lanes& lanes, LaneIndex lane) { return {lanes.channel(lane), lanes.retry(lane)}; }
  // Link credit that a frame of so many bytes takes (C9).
  static uint32_t cost(const LinkCredits& credits, uint32_t payload) {
    return credits.cost(HEDDLE_DATA_OVERHEAD_BYTES + payload);
  }
  // What all frames of a session have that go in one virtual channel, and perhaps in the retry channel. By LinkControl,
  // when it begins.
  static void begin_session(Port& port) {
    for (uint8_t channel = 0; channel < port.channels; ++channel)
      for (const bool retry : {false, true})
        port.stamps[channel][retry] = link_stamp(port.data_frame_start, port.session.tag(), channel,
                                                 retry ? uint8_t{HEDDLE_RETRY_CHANNEL} : uint8_t{0},
                                                 channel != kLossyChannel ? uint8_t{HEDDLE_DATA_LOSSLESS} : uint8_t{0});
  }
  // Is what is left of its life as much as a header can say (K8)? Of a host's frame that has not crossed, all of it is.
  static bool lives(Nanos left) { return left >= HEDDLE_LIFE_UNIT_NS; }
  // So many bytes of the flow are under way now. Where they begin.
  uint32_t advance(PortIndex output, FlowId flow, OutputFlow& entry, uint32_t bytes, Nanos now) {
    if (entry.extent() == 0) {  // K5 starts anew; a timer that still runs comes too early, and looks at due_ns
      entry.backoff = 0;
      entry.probe_mark = entry.ack_flow;
      entry.due_ns = now + site_.settings.probe_base_ns;
      if (!usually(entry.flags & kOutputTimed)) prober_.set(output, flow, now);
    }
    const uint32_t position = entry.data_flow;
    entry.data_flow = position + bytes;
    return position;
  }
  // Writes the header with what is left of its life, its place among all of the link, or of its retry channel, and its
  // place in its flow, or kNoFlow and 0. The frame begins with its last header, or with room for one
  // (prepend_fabric_header()).
  static void stamp(Port& port, Packet& packet, Lane lane, FlowId flow, uint32_t position, Nanos left) {
    const uint32_t sequence = lane.retry ? port.retry.next_sequence() : ++port.output.sequence;
    stamp_data_frame(packet, port.stamps[lane.channel][lane.retry], sequence, flow, position, life_units(left));
  }

 private:
  const Site& site_;
  Prober& prober_;
};

}  // namespace heddle
