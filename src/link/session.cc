// SPDX-License-Identifier: Apache-2.0
#include "link/session.h"

#include <algorithm>
#include <cstring>

namespace heddle {

namespace {
constexpr Nanos kStableNs = 10 * kSecond;  // up so long, and earlier flaps are forgotten
constexpr uint32_t kHoldDoublingsMax = 6;  // hold-down: dead time, doubled per flap, at most 64 times
constexpr uint32_t kFreeFlaps = 2;         // a link may come back at once so often
}  // namespace

const char* link_down_text(LinkDownReason reason) {
  switch (reason) {
    case LinkDownReason::none:
      return "up";
    case LinkDownReason::no_hello:
      return "no hello";
    case LinkDownReason::no_carrier:
      return "no carrier";
    case LinkDownReason::one_way:
      return "one way: our hello is not echoed";
    case LinkDownReason::too_long:
      return "long frames don't pass";
    case LinkDownReason::wrong_cable:
      return "wrong cable";
    case LinkDownReason::wrong_topology:
      return "other end has another topology";
    case LinkDownReason::wrong_version:
      return "other end speaks another version of the protocol";
    case LinkDownReason::hold_down:
      return "held down after flapping";
    case LinkDownReason::orphans:
      return "too many orphans of earlier sessions";
    case LinkDownReason::kept_out:
      return "kept out: it may still hold old frames";
    case LinkDownReason::protocol_error:
      return "protocol error";
    case LinkDownReason::loses_frames:
      return "it loses the same frame again and again";
  }
  return "?";
}

void LinkSession::set_reason(LinkDownReason reason, Nanos now) {
  if (reason == reason_) return;
  if (reason_ != LinkDownReason::none) last_reason_ = reason_;
  reason_ = reason;
  since_ns_ = now;
}

bool LinkSession::acceptable(const Hello& hello, Nanos now) {
  LinkDownReason reason = LinkDownReason::none;
  if (hello.node != options_.peer.node || hello.port != options_.peer.port || hello.peer_node != options_.self.node ||
      hello.peer_port != options_.self.port)
    reason = LinkDownReason::wrong_cable;
  else if (hello.topology_hash != options_.topology_hash)
    reason = LinkDownReason::wrong_topology;
  if (reason == LinkDownReason::none) return true;
  if (!up_) set_reason(reason, now);
  return false;
}

SessionEvent LinkSession::receive(const Hello& hello, uint32_t frame_bytes, uint64_t fresh, LinkDownReason refusal,
                                  Nanos now) {
  carrier_ = true;
  if (own_nonce_ == 0) own_nonce_ = fresh;
  const SessionEvent event = take(hello, frame_bytes >= options_.frame_bytes_max, fresh, refusal, now);
  plan_wake();
  return event;
}

SessionEvent LinkSession::take(const Hello& hello, bool is_long, uint64_t fresh, LinkDownReason refusal, Nanos now) {
  if (up_ && hello.nonce == peer_nonce_) {  // the running session's
    last_hello_ = hello;
    if (hello.echo != own_nonce_) return SessionEvent::none;
    last_heard_ns_ = now;
    if (is_long) last_long_ns_ = now;
    return SessionEvent::none;
  }
  last_hello_ = hello;
  if (!up_) {
    last_heard_ns_ = now;
    heard_since_ns_ = std::min(heard_since_ns_, now);
  }
  if (!acceptable(hello, now)) return SessionEvent::none;
  if (up_) return is_long ? receive_from_stranger(hello, fresh, refusal, now) : SessionEvent::none;
  if (is_long) {
    short_since_ns_ = kNever;
    return receive_while_down(hello, refusal, now);
  }
  short_since_ns_ = std::min(short_since_ns_, now);
  if (only_short(now)) peer_nonce_ = 0;  // the other end may live by its echo alone
  if (only_short(now) || hello.hears_only_short) set_reason(LinkDownReason::too_long, now);
  return SessionEvent::none;
}

SessionEvent LinkSession::receive_while_down(const Hello& hello, LinkDownReason refusal, Nanos now) {
  if (refusal == LinkDownReason::none && now < hold_until_ns_) refusal = LinkDownReason::hold_down;
  if (refusal != LinkDownReason::none) {
    set_reason(refusal, now);
    return SessionEvent::none;
  }
  // Whatever it echoes, its nonce is learned: two ends that both restarted twice would ignore each other for ever.
  peer_nonce_ = hello.nonce;
  answer_due_ = true;  // the other end waits for its echo
  answer_is_candidate_ = false;
  if (hello.echo != own_nonce_) {
    if (hello.hears_only_short)
      set_reason(LinkDownReason::too_long, now);
    else if (now - heard_since_ns_ >= dead_ns())
      set_reason(LinkDownReason::one_way, now);
    return SessionEvent::none;
  }
  begin(own_nonce_, hello.nonce, now);
  return SessionEvent::began;
}

// A session runs and somebody with an unknown nonce speaks: the other end has restarted, or the hello is late.
SessionEvent LinkSession::receive_from_stranger(const Hello& hello, uint64_t fresh, LinkDownReason refusal, Nanos now) {
  if (hello.echo == 0 || hello.echo == own_nonce_) {
    if (hello.nonce != candidate_peer_) {
      candidate_peer_ = hello.nonce;
      candidate_own_ = fresh;
    }
    answer_due_ = answer_is_candidate_ = true;
    return SessionEvent::none;
  }
  if (hello.echo != candidate_own_ || hello.nonce != candidate_peer_) return SessionEvent::none;
  if (refusal != LinkDownReason::none) return SessionEvent::none;
  count_flap(now);
  if (now < hold_until_ns_) {
    drop_session(fresh, LinkDownReason::hold_down, now);
    return SessionEvent::ended;
  }
  begin(candidate_own_, candidate_peer_, now);
  since_ns_ = now;
  answer_due_ = true;
  return SessionEvent::ended_and_began;
}

void LinkSession::hear_other_version(Nanos now) {
  if (up_) return;
  last_heard_ns_ = now;
  set_reason(LinkDownReason::wrong_version, now);
}

SessionEvent LinkSession::set_carrier(bool carrier, uint64_t fresh, Nanos now) {
  if (carrier == device_carrier_) return SessionEvent::none;
  const bool was_up = up_;
  device_carrier_ = carrier_ = carrier;
  if (carrier) {
    next_hello_ns_ = now;
    if (!was_up) last_heard_ns_ = now;
  } else if (!was_up) {
    set_reason(LinkDownReason::no_carrier, now);
  } else if (!options_.sends_again) {
    end(fresh, LinkDownReason::no_carrier, now);
  }
  plan_wake();
  return was_up && !up_ ? SessionEvent::ended : SessionEvent::none;
}

void LinkSession::begin(uint64_t own, uint64_t peer, Nanos now) {
  own_nonce_ = own;
  peer_nonce_ = peer;
  candidate_own_ = candidate_peer_ = 0;
  answer_is_candidate_ = false;
  tag_ = session_tag(own, peer);
  up_ = true;
  set_reason(LinkDownReason::none, now);
  last_heard_ns_ = last_long_ns_ = up_since_ns_ = now;
}

// K10: a link that goes up and down is held down, longer each time.
void LinkSession::count_flap(Nanos now) {
  flaps_ = now - up_since_ns_ > kStableNs ? 1 : flaps_ + 1;
  if (flaps_ > kFreeFlaps) hold_until_ns_ = now + (dead_ns() << std::min(flaps_ - kFreeFlaps, kHoldDoublingsMax));
}

void LinkSession::end(uint64_t fresh, LinkDownReason reason, Nanos now) {
  count_flap(now);
  drop_session(fresh, reason, now);
}

void LinkSession::drop_session(uint64_t fresh, LinkDownReason reason, Nanos now) {
  up_ = false;
  set_reason(reason, now);
  own_nonce_ = fresh;
  peer_nonce_ = candidate_own_ = candidate_peer_ = 0;
  answer_due_ = answer_is_candidate_ = false;
  tag_ = 0;
  hellos_since_long_ = kLongEvery;
  last_heard_ns_ = now;
  heard_since_ns_ = kNever;
  short_since_ns_ = reason == LinkDownReason::too_long ? now - dead_ns() : kNever;
  next_hello_ns_ = now;  // the other end learns of it from the new nonce
  plan_wake();
}

SessionEvent LinkSession::tick(uint64_t fresh, Nanos now) {
  if (own_nonce_ == 0) own_nonce_ = fresh;
  if (!up_) {  // what was heard of another one, or of none, holds as long as it is heard
    if (carrier_ && now >= last_heard_ns_ + dead_ns()) {
      heard_since_ns_ = short_since_ns_ = kNever;
      peer_nonce_ = 0;  // whoever had it may live by its echo alone
      carrier_ = device_carrier_;
      set_reason(silence(), now);
    }
    plan_wake();
    return SessionEvent::none;
  }
  // Later than that, not then: who planned to wake then and was late itself has been forgiven just so much, and first
  // reads what has come meanwhile.
  const bool silent = now > last_heard_ns_ + dead_ns();
  if (!silent && now <= last_long_ns_ + long_dead_ns()) {
    plan_wake();
    return SessionEvent::none;
  }
  if (silent) carrier_ = device_carrier_;
  end(fresh, silent ? silence() : LinkDownReason::too_long, now);
  return SessionEvent::ended;
}

void LinkSession::reset(uint64_t fresh, LinkDownReason reason, Nanos now) { end(fresh, reason, now); }

void LinkSession::forgive_silence(Nanos away, Nanos now) {
  last_heard_ns_ = std::min(now, last_heard_ns_ + away);
  last_long_ns_ = std::min(now, last_long_ns_ + away);
  plan_wake();
}

DueHello LinkSession::take_hello(uint64_t notice_digest, Nanos now) {
  DueHello due{};
  Hello& hello = due.hello;
  const bool candidate = answer_due_ && answer_is_candidate_;
  hello.nonce = candidate ? candidate_own_ : own_nonce_;
  hello.echo = candidate ? candidate_peer_ : peer_nonce_;
  hello.topology_hash = options_.topology_hash;
  hello.notice_digest = notice_digest;
  hello.node = options_.self.node;
  hello.port = options_.self.port;
  hello.peer_node = options_.peer.node;
  hello.peer_port = options_.peer.port;
  hello.buffer_bytes = options_.buffer_bytes;
  hello.credits = options_.credits;
  hello.hears_only_short = !up_ && only_short(now);
  hello.set_names(options_.node_name, options_.port_name);
  // Answers make sessions, so they are long; while there is none the others are by turns, so that the other end can
  // tell a path for short frames from none.
  const bool is_long = answer_due_ || ++hellos_since_long_ >= (up_ ? kLongEvery : 2);
  if (is_long) hellos_since_long_ = 0;
  due.frame_bytes = is_long ? options_.frame_bytes_max : 0;
  if (answer_due_) {
    answer_due_ = answer_is_candidate_ = false;
  } else {
    next_hello_ns_ = now + options_.hello_interval_ns;
  }
  plan_wake();
  return due;
}

void LinkSession::plan_wake() {
  next_wake_ns_ = mute() ? kNever : answer_due_ ? 0 : next_hello_ns_;
  if (up_) next_wake_ns_ = std::min({next_wake_ns_, last_heard_ns_ + dead_ns(), last_long_ns_ + long_dead_ns()});
}

}  // namespace heddle
