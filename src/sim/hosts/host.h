// SPDX-License-Identifier: Apache-2.0
// A host: sends the flows that start at it (host_sender.h), announces its address, and takes in what comes. A hostile
// one sends besides whatever an attacker or a broken machine would.
#pragma once

#include <memory>
#include <vector>

#include "sim/engine/engine.h"
#include "sim/engine/fabric.h"
#include "sim/hosts/host_sender.h"
#include "sim/hosts/hostile.h"
#include "sim/hosts/sim_frame.h"
#include "wire/random.h"

namespace heddle::sim {

class HostActor : public Actor {
 public:
  HostActor(Fabric& fabric, uint16_t index, Device& device, uint64_t seed);

  // Flows of the traffic table that start here. Announcements begin.
  void begin(const std::vector<uint16_t>& flows, const std::vector<uint16_t>& vlans);
  // Takes up a flow, or one whose times were changed.
  void resume(uint16_t flow);
  void set_hostile(const HostileOptions& options) {
    hostile_ = std::make_unique<HostileSender>(options, random_.next());
  }
  // A frame arrives at `at`.
  void notify(Nanos at) { fabric_.engine().wake(*this, std::max({at, free_ns_, paused_until_ns_})); }
  void act(Nanos now) override;
  void announce(Nanos now);
  // A frame of one of its flows has arrived at the other end: its window may have opened.
  void frame_delivered(HostFlow& flow);
  // Its receiver says whether that frame was marked (C10).
  static void hear_mark(HostFlow& flow, uint32_t sequence, bool marked);
  // From now on no flow and no announcement is sent.
  void stop() { stopped_ = true; }
  // While paused it takes nothing in: its receive ring fills.
  void pause(Nanos until) { paused_until_ns_ = until; }

  const HostSetup& setup() const { return fabric_.setup().hosts[index_]; }
  StationAddress station() const { return {setup().mac, index_}; }
  uint64_t received_frames() const { return received_frames_; }
  HeardPauses& flow_pauses() { return sender_.flow_pauses(); }

 private:
  static constexpr Nanos kTurnNs = 1 * kMicrosecond;  // it looks at its receive ring no more often

  void send_hostile(Nanos now);
  void receive(Nanos now);
  void take(Packet& packet, Nanos now);
  void announce_obedience(Nanos now);
  bool take_fgfc(const Packet& packet, Nanos now);
  void count_delivery(HostFlow& flow, const Trailer& trailer, uint32_t length, Nanos now);
  void count_message(HostFlow& flow, const Trailer& trailer, Nanos now);
  const TopologyPort& port() const;

  Fabric& fabric_;
  uint16_t index_;
  Device& device_;
  Random random_;
  HostSender sender_;
  std::vector<uint16_t> vlans_;
  std::unique_ptr<HostileSender> hostile_;
  Nanos next_announcement_ns_ = kNever;
  Nanos next_hostile_ns_ = kNever;
  Nanos next_obedience_ns_ = kNever;  // it says again that it obeys
  Nanos free_ns_ = 0;                 // it receives again
  Nanos paused_until_ns_ = 0;
  bool stopped_ = false;
  uint64_t received_frames_ = 0;
  uint32_t fgfc_frames_ = 0;  // that were sent to it
};

}  // namespace heddle::sim
