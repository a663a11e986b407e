// SPDX-License-Identifier: Apache-2.0
// Link credits of one virtual channel (C9), both directions of one link, absolute on the wire (K3) and synchronised
// (K7). A credit stands for one receive buffer. The sender's total counts stamped frames; the receiver's limit is what
// it has counted as sent, less what it still holds, plus what it has.
#pragma once

#include <cstdint>

#include "wire/types.h"

namespace heddle {

class LinkCredits {
 public:
  LinkCredits() = default;
  // `buffers`: what this end has for the other one's frames. `interval_ns`: how often a lack is told (K7).
  LinkCredits(uint32_t buffers, Nanos interval_ns) : buffers_(buffers), interval_ns_(interval_ns) {}

  void begin_session(uint32_t peer_buffer_bytes, uint32_t peer_buffers);

  // --- sending ---
  uint32_t cost(uint32_t length_bytes) const {
    return length_bytes <= peer_buffer_bytes_ ? 1 : (length_bytes + peer_buffer_bytes_ - 1) / peer_buffer_bytes_;
  }
  bool may_send(uint32_t cost) const { return serial_distance(sent_total_, limit_) >= static_cast<int32_t>(cost); }
  // `sure`: in a retry channel (K6), where nothing is lost and no total needs to be told.
  void sent(uint32_t cost, bool sure, Nanos now) {
    if (all_home()) {
      ask_at_ns_ = now + interval_ns_;
      ask_backoff_ = 0;
    }
    sent_total_ += cost;
    if (sure) sure_sent_ += cost;
  }
  uint32_t sent_total() const { return sent_total_; }
  uint32_t limit() const { return limit_; }
  uint32_t left() const { return limit_ - sent_total_; }
  bool all_home() const { return left() == peer_buffers_; }

  // --- receiving ---
  uint32_t may_receive() const { return granted_ - received_total_; }  // that is granted and has not come
  // A frame, or several, have come in and are held; false = beyond what was granted: protocol error.
  bool received(uint32_t cost, bool sure);
  // Buffers of this port's frames have been let go, in whatever session they came.
  void released(uint32_t buffers) { held_ -= buffers; }
  uint32_t held() const { return held_; }
  uint32_t buffers() const { return buffers_; }
  uint32_t granted() const { return granted_; }
  uint32_t received_total() const { return received_total_; }

  // --- the credit record ---
  // A record has come in, of sequence channel 0 as all control frames; false = protocol error.
  bool apply(uint32_t peer_sent_total, uint32_t peer_limit, bool asks);
  // True when a record should go out now.
  bool due(Nanos now) const;
  Nanos next_due() const;
  // What the record says; call when it is handed to the transmit queue, so that sent_total stands behind its frames.
  struct Record {
    uint32_t sent_total, limit;
    bool asks;
  };
  Record take(Nanos now);

 private:
  uint32_t limit_now() const;
  bool ask_due(Nanos now) const { return !all_home() && now >= ask_at_ns_; }

  uint32_t buffers_ = 0;
  Nanos interval_ns_ = 0;
  uint32_t peer_buffer_bytes_ = 1;
  uint32_t peer_buffers_ = 0;
  uint32_t sent_total_ = 0;      // buffers of frames stamped here
  uint32_t sure_sent_ = 0;       // of those in a retry channel
  uint32_t limit_ = 0;           // granted by the other end
  uint32_t received_total_ = 0;  // buffers of frames sent by the other end, lost ones too once it has told so
  uint32_t sure_received_ = 0;   // of those in a retry channel
  uint32_t held_ = 0;            // buffers of its frames that are still somewhere in this node
  uint32_t granted_ = 0;         // newest limit told
  bool answer_due_ = false;
  Nanos ask_at_ns_ = 0;
  uint8_t ask_backoff_ = 0;
};

}  // namespace heddle
