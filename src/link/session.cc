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
    case LinkDownReason::one_way:
      return "one way: our hello is not echoed";
    case LinkDownReason::wrong_cable:
      return "wrong cable";
    case LinkDownReason::wrong_topology:
      return "other end has another topology";
    case LinkDownReason::hold_down:
      return "held down after flapping";
    case LinkDownReason::orphans:
      return "too many orphans of earlier sessions";
    case LinkDownReason::protocol_error:
      return "protocol error";
    case LinkDownReason::loses_frames:
      return "it loses the same frame again and again";
  }
  return "?";
}

bool LinkSession::acceptable(const Hello& hello) {
  if (hello.node != options_.peer.node || hello.port != options_.peer.port || hello.peer_node != options_.self.node ||
      hello.peer_port != options_.self.port) {
    down_reason_ = LinkDownReason::wrong_cable;
    return false;
  }
  if (hello.topology_hash != options_.topology_hash) {
    down_reason_ = LinkDownReason::wrong_topology;
    return false;
  }
  return true;
}

SessionEvent LinkSession::receive(const Hello& hello, uint64_t fresh, bool admit, Nanos now) {
  if (own_nonce_ == 0) own_nonce_ = fresh;
  if (up_ && hello.nonce == peer_nonce_) {  // the running session's
    last_hello_ = hello;
    if (hello.echo == own_nonce_) last_heard_ns_ = now;
    return SessionEvent::none;
  }
  last_hello_ = hello;
  if (!acceptable(hello)) return SessionEvent::none;
  if (!up_) {
    if (now < hold_until_ns_ || !admit) {
      down_reason_ = admit ? LinkDownReason::hold_down : LinkDownReason::orphans;
      return SessionEvent::none;
    }
    // Whatever it echoes, its nonce is learned: two ends that both restarted twice would ignore each other for ever.
    peer_nonce_ = hello.nonce;
    answer_due_ = true;  // the other end waits for its echo
    answer_is_candidate_ = false;
    if (hello.echo != own_nonce_) {
      down_reason_ = LinkDownReason::one_way;
      return SessionEvent::none;
    }
    begin(own_nonce_, hello.nonce, now);
    return SessionEvent::began;
  }
  // A session runs and somebody with an unknown nonce speaks: the other end has restarted, or the hello is late.
  if (hello.echo == 0 || hello.echo == own_nonce_) {
    if (hello.nonce != candidate_peer_) {
      candidate_peer_ = hello.nonce;
      candidate_own_ = fresh;
    }
    answer_due_ = answer_is_candidate_ = true;
    return SessionEvent::none;
  }
  if (hello.echo != candidate_own_ || hello.nonce != candidate_peer_) return SessionEvent::none;
  if (!admit) return SessionEvent::none;
  count_flap(now);
  if (now < hold_until_ns_) {
    drop_session(fresh, LinkDownReason::hold_down, now);
    return SessionEvent::ended;
  }
  begin(candidate_own_, candidate_peer_, now);
  answer_due_ = true;
  return SessionEvent::ended_and_began;
}

void LinkSession::begin(uint64_t own, uint64_t peer, Nanos now) {
  own_nonce_ = own;
  peer_nonce_ = peer;
  candidate_own_ = candidate_peer_ = 0;
  answer_is_candidate_ = false;
  tag_ = session_tag(own, peer);
  up_ = true;
  last_heard_ns_ = up_since_ns_ = now;
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
  down_reason_ = reason;
  own_nonce_ = fresh;
  peer_nonce_ = candidate_own_ = candidate_peer_ = 0;
  answer_is_candidate_ = false;
  tag_ = 0;
  next_hello_ns_ = now;  // the other end learns of it from the new nonce
}

SessionEvent LinkSession::tick(uint64_t fresh, Nanos now) {
  if (own_nonce_ == 0) own_nonce_ = fresh;
  if (!up_ || now < last_heard_ns_ + dead_ns()) return SessionEvent::none;
  end(fresh, LinkDownReason::no_hello, now);
  return SessionEvent::ended;
}

void LinkSession::reset(uint64_t fresh, LinkDownReason reason, Nanos now) { end(fresh, reason, now); }

Hello LinkSession::take_hello(uint64_t notice_digest, Nanos now) {
  Hello hello{};
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
  hello.set_names(options_.node_name, options_.port_name);
  if (answer_due_) {
    answer_due_ = answer_is_candidate_ = false;
  } else {
    next_hello_ns_ = now + options_.hello_interval_ns;
  }
  return hello;
}

Nanos LinkSession::next_wake() const {
  if (answer_due_) return 0;
  return up_ ? std::min(next_hello_ns_, last_heard_ns_ + dead_ns()) : next_hello_ns_;
}

}  // namespace heddle
