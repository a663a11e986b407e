// SPDX-License-Identifier: Apache-2.0
// Link session (K1): one end of a fabric link agrees with the other on a pair of fresh nonces, and notices when it is
// gone. Pure state: the owner sends the hellos it asks for and acts on the events it returns.
//
// Late hellos end nothing: a hello from an unknown nonce is only answered, with a nonce drawn for it, and the running
// session ends when that answer is echoed. Flapping links are held down longer each time (K10).
//
// A hello is short, or as long as the longest frame of the link. Only long ones make a session, and one that hears
// short ones alone ends: a path with too small an MTU would pass them and lose every full frame.
#pragma once

#include <cstdint>

#include "wire/fabric_frame.h"
#include "wire/types.h"

namespace heddle {

// Why a link has no session; for the operator.
enum class LinkDownReason : uint8_t {
  none,            // it is up
  no_hello,        // nothing heard
  no_carrier,      // the device says that nothing is plugged in
  one_way,         // heard, but our hello is not echoed
  too_long,        // short hellos pass, those as long as the longest frame do not
  wrong_cable,     // another port than the topology says is at the other end
  wrong_topology,  // the other end has read another topology
  wrong_version,   // the other end speaks another version of the protocol
  hold_down,       // it flapped
  orphans,         // too many orphans of earlier sessions (K9)
  kept_out,        // all its neighbours had given the node up, and it may hold what it was sent before (R12)
  protocol_error,  // reset after a contradiction (K3)
  loses_frames,    // reset after it has lost the same frame again and again (K6)
};
constexpr uint32_t kLinkDownReasons = static_cast<uint32_t>(LinkDownReason::loses_frames) + 1;
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
  uint32_t frame_bytes_max;  // of the link's longest frame
  bool sends_again;          // what the link loses (K6), so that moments without carrier cost nothing
};

// One to be sent, and how long its frame is.
struct DueHello {
  Hello hello;
  uint32_t frame_bytes;
};

class LinkSession {
 public:
  explicit LinkSession(const SessionOptions& options) : options_(options) {}

  bool up() const { return up_; }
  uint32_t tag() const { return tag_; }                   // while up
  uint64_t own_nonce() const { return own_nonce_; }       // while up
  uint64_t peer_nonce() const { return peer_nonce_; }     // while up
  LinkDownReason down_reason() const { return reason_; }  // none while up
  // Why it was down before that, and since when the present reason (or session) stands; none and 0 if it has not
  // changed.
  LinkDownReason last_reason() const { return last_reason_; }
  Nanos since_ns() const { return since_ns_; }
  const Hello& last_hello() const { return last_hello_; }  // of whoever is at the other end; valid once heard
  uint32_t flaps() const { return flaps_; }

  // A hello has come in, in a frame of so many bytes. `fresh` is a random number for a nonce, drawn for this call.
  // `refusal`: why no session may begin now; none if one may. After it, hello_due() may be true at once.
  SessionEvent receive(const Hello& hello, uint32_t frame_bytes, uint64_t fresh, LinkDownReason refusal, Nanos now);
  // A frame of another version of the protocol has come in.
  void hear_other_version(Nanos now);
  // The device's word. Without carrier the session ends at once and nothing is sent. The session of a link that sends
  // again what it loses goes on until the dead timer: the carrier may be back before the device says so.
  SessionEvent set_carrier(bool carrier, uint64_t fresh, Nanos now);
  // Call every turn: tells the end by the dead timer, and makes hellos due.
  SessionEvent tick(uint64_t fresh, Nanos now);
  // The link contradicted itself (K3): the session ends, and the next one may wait a hold-down (K10).
  void reset(uint64_t fresh, LinkDownReason reason, Nanos now);
  // The worker itself was away for so long: what it did not hear in that time says nothing about the link.
  void forgive_silence(Nanos away, Nanos now);

  bool hello_due(Nanos now) const { return !mute() && (answer_due_ || now >= next_hello_ns_); }
  // The hello to send now; digest is of the notice records (W6). Clears what made it due.
  DueHello take_hello(uint64_t notice_digest, Nanos now);
  // Call tick() and ask hello_due() then; looked at in every turn, so it is kept.
  Nanos next_wake() const { return next_wake_ns_; }
  void wake_soon() { next_wake_ns_ = 0; }

 private:
  static constexpr uint32_t kLongEvery = 10;  // of the hellos of a running session one in so many is a long one
  Nanos dead_ns() const { return options_.hello_interval_ns * options_.hellos_missed; }
  Nanos long_dead_ns() const { return kLongEvery * dead_ns(); }
  bool only_short(Nanos now) const { return now >= short_since_ns_ && now - short_since_ns_ >= dead_ns(); }
  bool mute() const { return !carrier_ && !up_; }
  LinkDownReason silence() const { return device_carrier_ ? LinkDownReason::no_hello : LinkDownReason::no_carrier; }
  void plan_wake();
  void set_reason(LinkDownReason reason, Nanos now);
  SessionEvent take(const Hello& hello, bool is_long, uint64_t fresh, LinkDownReason refusal, Nanos now);
  bool acceptable(const Hello& hello, Nanos now);
  SessionEvent receive_while_down(const Hello& hello, LinkDownReason refusal, Nanos now);
  SessionEvent receive_from_stranger(const Hello& hello, uint64_t fresh, LinkDownReason refusal, Nanos now);
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
  bool device_carrier_ = true;  // as the device says
  bool carrier_ = true;         // as believed: a hello proves it until there is silence
  LinkDownReason reason_ = LinkDownReason::no_hello;
  LinkDownReason last_reason_ = LinkDownReason::none;
  Nanos since_ns_ = 0;
  Hello last_hello_{};
  Nanos last_heard_ns_ = 0;                  // while up: a hello of this session; while down: anything at all
  Nanos last_long_ns_ = 0;                   // while up: a long one
  Nanos heard_since_ns_ = kNever;            // while down: hellos have come since
  Nanos short_since_ns_ = kNever;            // while down: short hellos have come since, and no long one
  uint32_t hellos_since_long_ = kLongEvery;  // sent
  Nanos next_hello_ns_ = 0;
  Nanos next_wake_ns_ = 0;
  Nanos up_since_ns_ = 0;
  Nanos hold_until_ns_ = 0;
  uint32_t flaps_ = 0;
};

}  // namespace heddle
