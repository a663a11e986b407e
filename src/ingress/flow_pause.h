// SPDX-License-Identifier: Apache-2.0
// What the host of a flow has been told of it by fine-grained flow control (G1): how much it may send. A value: it is
// given what has come and what waits, and says whether there is something to tell.
//
// Positions are bytes of the match as its entry counts them, or of a group as its PausedGroup does, and wrap (K3). The
// host counts what it sends from the moment at which it hears of the pause, so what was under way by then is in no
// credit of it: the position up to which it may send moves up by what comes beyond.
#pragma once

#include <cstdint>

#include "wire/types.h"

namespace heddle {

using PauseId = Id<struct PauseKind, uint16_t>;  // of a pause of a port; 0 = none
constexpr PauseId kNoPause = 0;

// Of a flow's queue, in bytes; of a group's the mark is twice its target. A flow's is that of its class: there a lossy
// flow's frames are dropped and a lossless one's host is paused. It lies above the target by the bytes that may come
// before the host reacts.
struct PauseMarks {
  explicit PauseMarks(uint32_t mark) : target(mark / 2), low(mark / 16), step(mark / 32) {}
  uint32_t target;  // longer, and its host is told; with credit it is kept there
  uint32_t low;     // shorter for a while, and the host may go on as it likes
  uint32_t step;    // the host hears of so much new credit at once
};

class FlowPause {
 public:
  // `received`: all that has come. No credit.
  void begin(uint32_t number, uint32_t match, uint32_t received, Nanos now) {
    *this = FlowPause();
    since_ns_ = now;
    number_ = number;
    match_ = match;
    told_ = received;
  }
  // Something has come. How many bytes have come beyond credit since strike_counted().
  uint32_t came(uint32_t received) {
    const int32_t beyond = serial_distance(told_, received);
    if (beyond <= 0) return overrun_;
    told_ = received;
    overrun_ += static_cast<uint32_t>(beyond);
    return overrun_;
  }
  void strike_counted() { overrun_ = 0; }
  // What has come beyond in the course of time is no disobedience.
  void forgive_half() { overrun_ /= 2; }
  // `gone`: what has come and does not wait any more. Bytes that the host may send and does not know of.
  uint32_t unknown_credit(uint32_t gone, const PauseMarks& marks) const {
    const int32_t more = serial_distance(told_, gone + marks.target);
    return more > 0 ? static_cast<uint32_t>(more) : 0;
  }
  // It is going to be told of them.
  void tell(uint32_t more) {
    told_ += more;
    credit_ += more;
  }
  // Since when the queue has been short; kNever: it is not.
  Nanos calm_since() const { return calm_since_ns_; }
  void set_calm_since(Nanos since) { calm_since_ns_ = since; }
  // Nothing holds the flow back any more; its host is told so a few times, for frames get lost.
  void end() { ends_to_tell_ = kEnds; }
  bool ended() const { return ends_to_tell_ != 0; }
  // One of those times. True: there are more.
  bool tell_end() { return --ends_to_tell_ != 0; }

  uint64_t credit() const { return credit_; }  // as told
  Nanos since() const { return since_ns_; }
  uint32_t number() const { return number_; }
  uint32_t match() const { return match_; }

 private:
  static constexpr uint8_t kEnds = 3;
  uint64_t credit_ = 0;
  Nanos since_ns_ = 0;
  Nanos calm_since_ns_ = kNever;
  uint32_t told_ = 0;  // position up to which the host may send, as told
  uint32_t overrun_ = 0;
  uint32_t number_ = 0;
  uint32_t match_ = 0;
  uint8_t ends_to_tell_ = 0;
};

}  // namespace heddle
