// SPDX-License-Identifier: Apache-2.0
// The sending half of a host: its flows take turns at the transmit ring of its link, as fast as that empties. A flow
// with a rate has a burst due each interval; one without always has. What is late, since the ring was full or the
// thread away, is caught up with, but for long absences.
#pragma once

#include <array>
#include <deque>
#include <vector>

#include "sim/engine/fabric.h"
#include "sim/hosts/heard_pauses.h"
#include "sim/hosts/sim_frame.h"
#include "wire/pause.h"
#include "wire/random.h"

namespace heddle::sim {

class HostSender {
 public:
  // `random` is the host's and outlives it.
  HostSender(Fabric& fabric, uint16_t host, Device& device, Random& random);

  // Takes up a flow that starts here, or one whose times were changed.
  void resume(uint16_t flow);
  // Sends what is due and finds room. When it wants to be called again; kNever if nothing is planned.
  Nanos send(Nanos now);
  // Frames of one of its flows have arrived: its window may have opened. Call send() then.
  void window_moved(HostFlow& flow, Nanos now);
  // PAUSE or PFC of the switch (F10). Call send() then.
  void hear_pause(const PauseFrame& frame, Nanos now);
  // How much of a flow it may send (G1). Call send() then.
  void hear_flow_pause(const FgfcPause& pause, Nanos now);
  // What its switch has told it of them, obeyed or not.
  HeardPauses& flow_pauses() { return flow_pauses_; }
  // False: the ring is full, and the packet is gone.
  bool transmit(Packet* packet, Nanos now);

 private:
  enum class Waits : uint8_t { not_at_all, for_time, for_window, for_pause, for_credit, for_room };
  struct Sender {       // of a flow
    Nanos due_ns = 0;   // when its burst is due
    Nanos wake_ns = 0;  // while it waits: what its entry in the heap must say to be true
    uint32_t burst_left = 0;
    Waits waits = Waits::not_at_all;
  };
  struct Step {  // what became of a flow's turn
    Waits waits;
    Nanos until_ns;  // kNever: for good
  };
  struct Wake {
    Nanos at;
    uint16_t flow;
    bool operator>(const Wake& other) const { return at != other.at ? at > other.at : flow > other.flow; }
  };

  const HostSetup& setup() const { return fabric_.setup().hosts[host_]; }
  const TopologyPort& port() const;
  bool obeys() const { return setup().fgfc == FgfcConduct::obeys; }
  StationAddress station(uint16_t host) const { return {fabric_.setup().hosts[host].mac, host}; }
  Nanos room_at(uint32_t frames) const;
  void wait(uint16_t flow, Waits waits, Nanos until);
  void ready(uint16_t flow);
  uint16_t take_wake();
  Nanos next_wake();
  Nanos paused_until(const HostFlow& flow) const;
  Step may_send(const HostFlow& flow, Nanos now) const;
  Step take_turn(HostFlow& flow, Sender& sender, Nanos now);
  bool window_open(HostFlow& flow, Nanos now);
  bool send_one(HostFlow& flow, Nanos now);

  Fabric& fabric_;
  const uint16_t host_;
  Device& device_;
  Random& random_;
  std::vector<Sender> senders_;   // by flow id
  std::vector<Wake> wakes_;       // heap, earliest first
  std::deque<uint16_t> ready_;    // flows that have something to send, in turn
  std::vector<uint16_t> paused_;  // flows that wait for_pause; those that no longer do too
  HeardPauses flow_pauses_;
  std::array<Nanos, kPriorities> told_to_wait_until_ns_{};  // by the switch, by priority
};

}  // namespace heddle::sim
