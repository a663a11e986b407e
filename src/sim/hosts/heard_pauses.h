// SPDX-License-Identifier: Apache-2.0
// What a host that announces fine-grained flow control knows (G3): how much it may send of which flows, and until when.
// Told by the switch frame by frame, found by the flow that wants to send. Whether it obeys is the sender's.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/engine/fabric.h"
#include "wire/fgfc.h"

namespace heddle::sim {

class HeardPauses {
 public:
  HeardPauses(Fabric& fabric, uint16_t host) : fabric_(fabric), host_(host) {}

  // The flows that it has held: they look again, who waits longest first.
  std::vector<uint16_t> hear(const FgfcPause& pause, Nanos now);
  // When a flow may send `bytes`, as far as it is known: 0 = now; else when its timer ends.
  Nanos may_send_at(uint16_t flow, uint32_t bytes, Nanos now) const;
  // It may not send, and waits.
  void hold(uint16_t flow, Nanos now);
  void sent(uint16_t flow, uint32_t bytes, Nanos now);
  // Flows of which it is told at that moment how much it may send.
  uint32_t held_flows(Nanos now) const;
  // Bytes that have been sent beyond credit once the host had heard of the pause, of the one with most since this was
  // asked last.
  uint64_t take_beyond_credit() { return std::exchange(most_beyond_, 0); }

 private:
  static constexpr uint32_t kNone = ~0u;

  struct Pause {
    std::vector<uint16_t> held;  // flows; those that it no longer holds too
    bool of_application = false;
    uint32_t number = 0;
    uint64_t credit = 0, sent = 0;
    Nanos until_ns = 0;
  };
  FgfcFlow described(const HostFlow& flow, uint8_t fields) const;
  uint32_t index_of(const FgfcFlow& flow);
  // The one that counts what the flow sends, its own before its application's; kNone: none does.
  uint32_t in_force(uint16_t flow, Nanos now) const;

  Fabric& fabric_;
  const uint16_t host_;
  std::map<FgfcFlow, uint32_t> indices_;         // of pauses_; of all flows of the host, as far as one was told of
  std::vector<Pause> pauses_;                    // never get fewer: a host of the simulator has few flows
  std::vector<std::vector<uint32_t>> of_flows_;  // by flow id: its pauses
  uint64_t most_beyond_ = 0;
};

}  // namespace heddle::sim
