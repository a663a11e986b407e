// SPDX-License-Identifier: Apache-2.0
// How much the applications of an edge port may have in the fabric (A6, A7). Injected are the bytes of original frames
// that have been handed on to a fabric port and are not settled, kept by injection limit ID. An ID has a limit of its
// own, and the port one that its active IDs share by their weights: those of which flows wait for a fabric port, or
// something is injected. So an application that is alone may use all of it. A packet goes while its ID and the port are
// below; a limit of 0 is closed, and one that has fallen below what is injected lets nothing go until that has fallen,
// too. Of frames without a flow, whose ID has no limit (kNoLimitId), nothing is asked here. Numbers only: who is next
// is the arbiter's business (ingress/input_arbiter.h), whose part this is.
//
// The shares of those that are active are worked out anew when an ID becomes active. One that is no longer is noticed
// when somebody meets a limit, and at once while somebody is held: as long as nobody is, nobody needs what it leaves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "flow/input_flow.h"
#include "topology/application_policy.h"
#include "wire/inlining.h"

namespace heddle {

class InjectionLimits {
 public:
  // Knows the policy's limits and weights; nothing is injected.
  explicit InjectionLimits(const ApplicationPolicy& policy)
      : port_bytes_(policy.port_bytes), port_room_(room_of(policy.port_bytes)) {
    for (uint8_t id = 0; id < kLimited; ++id) {
      ids_[id].own_bytes = policy.limits[id].bytes;
      ids_[id].weight = policy.limits[id].weight;
    }
    look();
  }

  // Bit i: ID i may hand on a packet towards the fabric. What no limit holds always may.
  uint16_t open() const { return open_; }
  // Those that somebody stands in line for, or has the turn of: nobody else sends of them. The arbiter says so.
  uint16_t contended() const { return contended_; }
  void set_contended(uint16_t ids) {
    contended_ = ids;
    refresh();
  }

  // Does the ID never send, whatever is settled?
  bool closed(uint8_t id) const { return std::min(ids_[id].own_bytes, port_bytes_) == 0; }

  // Each packet asks these three, of its flow, which counts as `as`: 1 + its ID, or kInjectsNothing.
  // May it be handed on, past those who wait?
  bool may_inject(uint8_t as) const { return at_once_ >> as & 1; }
  // It has been handed on towards the fabric, and counts.
  void inject(uint8_t as, uint32_t bytes) {
    Id& one = ids_[as - 1];
    one.room -= bytes;
    port_room_ -= bytes;
    if (!usually(one.room > 0) || !usually(port_room_ > 0)) has_more(static_cast<uint8_t>(as - 1));
  }
  // So many bytes that count are settled. True if it may be that somebody's turn has come.
  bool settle(uint8_t as, uint32_t bytes) {
    Id& one = ids_[as - 1];
    one.room += bytes;
    port_room_ += bytes;
    if (usually(one.room != one.most_room) && usually(at_once_ == kAllAtOnce)) return false;
    has_less(static_cast<uint8_t>(as - 1));
    return contended_ != 0;
  }
  // So many bytes of what the ID may inject are for somebody who can't use them yet, and are not any more. False if
  // that is not to be: beyond a first one, half of what it may have is for those who can.
  bool promise(uint8_t id, uint32_t bytes) {
    Id& one = ids_[id];
    if (one.promised_bytes != 0 && one.promised_bytes + bytes > one.in_force_bytes / 2) return false;
    promise_more(one, bytes);
    has_more(id);
    return true;
  }
  void keep_promise(uint8_t id, uint32_t bytes) {
    promise_more(ids_[id], -int64_t{bytes});
    has_less(id);
  }
  // Flows of the ID are ready at one more queue towards the fabric, or at one less.
  void waits(uint8_t id) {
    ++ids_[id].queues;
    idle_ = static_cast<uint16_t>(idle_ & ~(1u << id));
    if (!(active_ >> id & 1)) look();
  }
  void waits_no_more(uint8_t id) {
    --ids_[id].queues;
    has_less(id);
  }

  uint64_t injected_bytes(uint8_t id) const { return ids_[id].injected_bytes(); }
  uint64_t injected_bytes() const {  // of the port
    uint64_t sum = 0;
    for (uint8_t id = 0; id < kLimited; ++id) sum += ids_[id].injected_bytes();
    return sum;
  }
  bool port_open() const { return port_room_ > 0; }
  // The limits in force; kNoInjectionLimit if there is none.
  uint64_t limit_bytes(uint8_t id) const { return ids_[id].in_force_bytes; }
  uint64_t limit_bytes() const { return port_bytes_; }
  uint16_t active() const { return active_; }

 private:
  static constexpr uint8_t kLimited = kNoLimitId;
  static constexpr uint16_t kUnlimited = 1u << kNoLimitId;
  static constexpr uint16_t kAll = (1u << kLimitIds) - 1;
  static constexpr uint16_t kAllAtOnce = kAll << 1 | 1 << kInjectsNothing;

  // What is injected is counted as what is left for it, so that a packet changes one number and looks at its sign. For
  // one that is not active nothing is left: its first packet is noticed by that.
  struct Id {
    uint64_t injected_bytes() const { return static_cast<uint64_t>(most_room - room); }
    bool idle() const { return room == most_room && queues == 0; }
    bool below() const { return room > 0; }

    int64_t room = kEndless;       // the limit less what is injected and promised; below 0, what is above it
    int64_t most_room = kEndless;  // the same while nothing is injected
    uint64_t promised_bytes = 0;
    uint64_t in_force_bytes = kNoInjectionLimit;
    uint64_t own_bytes = kNoInjectionLimit;
    uint16_t queues = 0;
    uint8_t weight = 1;
  };
  static constexpr int64_t kEndless = int64_t{1} << 62;
  static int64_t room_of(uint64_t limit_bytes) {
    return limit_bytes == kNoInjectionLimit ? kEndless : static_cast<int64_t>(limit_bytes);
  }

  void promise_more(Id& one, int64_t bytes) {
    one.promised_bytes += static_cast<uint64_t>(bytes);
    one.room -= bytes;
    one.most_room -= bytes;
    port_room_ -= bytes;
  }
  // It has met its limit, or the port has, or it was not active. Who is idle then leaves its part.
  HEDDLE_COLD void has_more(uint8_t id) {
    if (!(active_ >> id & 1) || (!ids_[id].below() && idle_ != 0)) return look();
    if (!ids_[id].below()) below_ = static_cast<uint16_t>(below_ & ~(1u << id));
    refresh();
  }
  [[gnu::noinline]] void has_less(uint8_t id) {
    const Id& one = ids_[id];
    if (one.idle()) {
      idle_ = static_cast<uint16_t>(idle_ | 1u << id);
      if (below_ != kAll) return look();
    } else if (one.below()) {
      below_ = static_cast<uint16_t>(below_ | 1u << id);
    }
    refresh();
  }
  void refresh() {
    open_ = port_room_ > 0 ? below_ : kUnlimited;
    at_once_ = static_cast<uint16_t>((open_ & ~contended_) << 1 | 1 << kInjectsNothing);
  }

  // A7: who is active, what that makes of the limits, and who may go on. No share is so small that it is closed.
  HEDDLE_COLD void look() {
    active_ = idle_ = 0;
    uint32_t weights = 0;
    for (uint8_t id = 0; id < kLimited; ++id) {
      if (ids_[id].idle() || ids_[id].own_bytes == 0) continue;  // one that is closed leaves its part to others
      active_ = static_cast<uint16_t>(active_ | 1u << id);
      weights += ids_[id].weight;
    }
    below_ = kUnlimited;
    for (uint8_t id = 0; id < kLimited; ++id) {
      Id& one = ids_[id];
      const bool active = active_ >> id & 1;
      const uint64_t injected = one.injected_bytes();
      one.in_force_bytes = std::min(one.own_bytes, port_bytes_);
      if (active && one.in_force_bytes != 0 && port_bytes_ != kNoInjectionLimit)
        one.in_force_bytes = std::min(one.own_bytes, std::max<uint64_t>(1, port_bytes_ * one.weight / weights));
      one.most_room = (active ? room_of(one.in_force_bytes) : 0) - static_cast<int64_t>(one.promised_bytes);
      one.room = one.most_room - static_cast<int64_t>(injected);
      if (active ? one.below() : one.in_force_bytes != 0) below_ = static_cast<uint16_t>(below_ | 1u << id);
    }
    refresh();
  }

  std::array<Id, kLimited> ids_{};
  uint64_t port_bytes_;
  int64_t port_room_;
  uint16_t active_ = 0;  // those that have a share
  uint16_t idle_ = 0;    // of those, who perhaps need none
  uint16_t below_ = kAll;
  uint16_t open_ = kAll;  // below, and so is the port
  uint16_t contended_ = 0;
  uint16_t at_once_ = kAllAtOnce;  // bit i + 1: ID i is open and not contended; bit kInjectsNothing: always
};

}  // namespace heddle
