// SPDX-License-Identifier: Apache-2.0
// Link session (K1): one end of a fabric link agrees with the other on a pair of fresh nonces, and notices when it is
// gone. Pure state: the owner sends the hellos it asks for and acts on the events it returns.
//
// Late hellos end nothing: a hello from an unknown nonce is only answered, with a nonce drawn for it, and the running
// session ends when that answer is echoed. Flapping links are held down longer each time (K10).
#pragma once

#include <cstdint>

#include "wire/fabric_frame.h"
#include "wire/types.h"

namespace heddle {

// Why a link has no session; for the operator.
enum class LinkDownReason : uint8_t {
  none,            // it is up
  no_hello,        // nothing heard
  one_way,         // heard, but our hello is not echoed
  wrong_cable,     // another port than the topology says is at the other end
  wrong_topology,  // the other end has read another topology
  hold_down,       // it flapped
  orphans,         // too many orphans of earlier sessions (K9)
  protocol_error,  // reset after a contradiction (K3)
  loses_frames,    // reset after it has lost the same frame again and again (K6)
};
const char* link_down_text(LinkDownReason reason);

enum class SessionEvent : uint8_t { none, began, ended, ended_and_began };

struct SessionOptions {
  Nanos hello_interval_ns;
  uint32_t hellos_missed;
  uint64_t topology_hash;
  FabricAddress self;     // node address and port
  FabricAddress peer;     // as the topology says
  const char* node_name;  // outlives the session
  const char* port_name;
  uint32_t buffer_bytes;
  uint32_t credits;
};

class LinkSession {
 public:
  explicit LinkSession(const SessionOptions& options) : options_(options) {}

  bool up() const { return up_; }
  uint32_t tag() const { return tag_; }                // while up
  uint64_t own_nonce() const { return own_nonce_; }    // while up
  uint64_t peer_nonce() const { return peer_nonce_; }  // while up
  LinkDownReason down_reason() const { return up_ ? LinkDownReason::none : down_reason_; }
  const Hello& last_hello() const { return last_hello_; }  // of whoever is at the other end; valid once heard
  uint32_t flaps() const { return flaps_; }

  // A hello has come in. `fresh` is a random number for a nonce, drawn for this call. `admit`: false keeps the link
  // down (orphan quota). After it, hello_due() may be true at once.
  SessionEvent receive(const Hello& hello, uint64_t fresh, bool admit, Nanos now);
  // Call every turn: tells the end by the dead timer, and makes hellos due.
  SessionEvent tick(uint64_t fresh, Nanos now);
  // The link contradicted itself (K3): the session ends, and the next one may wait a hold-down (K10).
  void reset(uint64_t fresh, LinkDownReason reason, Nanos now);
  // The worker itself was away for so long: what it did not hear in that time says nothing about the link.
  void forgive_silence(Nanos away, Nanos now) { last_heard_ns_ = std::min(now, last_heard_ns_ + away); }

  bool hello_due(Nanos now) const { return answer_due_ || now >= next_hello_ns_; }
  // The hello to send now; digest is of the notice records (W6). Clears what made it due.
  Hello take_hello(uint64_t notice_digest, Nanos now);
  Nanos next_wake() const;

 private:
  Nanos dead_ns() const { return options_.hello_interval_ns * options_.hellos_missed; }
  bool acceptable(const Hello& hello);
  void begin(uint64_t own, uint64_t peer, Nanos now);
  void count_flap(Nanos now);
  void end(uint64_t fresh, LinkDownReason reason, Nanos now);
  void drop_session(uint64_t fresh, LinkDownReason reason, Nanos now);

  SessionOptions options_;
  uint64_t own_nonce_ = 0;      // running session's, or the one offered while down
  uint64_t peer_nonce_ = 0;     // running session's, or the one heard while down
  uint64_t candidate_own_ = 0;  // drawn in answer to candidate_peer_ while a session runs
  uint64_t candidate_peer_ = 0;
  uint32_t tag_ = 0;
  bool up_ = false;
  bool answer_due_ = false;
  bool answer_is_candidate_ = false;
  LinkDownReason down_reason_ = LinkDownReason::no_hello;
  Hello last_hello_{};
  Nanos last_heard_ns_ = 0;
  Nanos next_hello_ns_ = 0;
  Nanos up_since_ns_ = 0;
  Nanos hold_until_ns_ = 0;
  uint32_t flaps_ = 0;
};

}  // namespace heddle
