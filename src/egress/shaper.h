// SPDX-License-Identifier: Apache-2.0
// Which traffic class has the next turn at an output port (X4). Classes are the leaves of a tree: some hang on
// branches, all on the head, which is the port. Leaves and branches may have a guarantee, and all have a ceiling or
// none. A packet may go while its leaf, its branch and the head are below their ceilings, and pays all three. Who goes
// first is found in three passes: leaves that are below their guarantee, by their priority; then those whose branch is
// below its own, by the branch's; then all. Among equals turns go round by bytes (deficit round robin): two largest
// frames for the least weight that a class has, and more for the others. A packet pays the guarantee of the pass that
// it went in, so what a class takes of the rest costs it nothing of its guarantee; and what one does not use is there
// for others, up to their ceilings. Without a policy classes share the port alike. Work per turn is in proportion to
// the classes that wait. Allocates in its constructor only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "flow/token_bucket.h"
#include "topology/shaper_policy.h"
#include "wire/port_bytes.h"

namespace heddle {

using ClassSet = uint16_t;  // bit c: the class at position c of the topology
static_assert(kClassesMax <= 16);

// A rate that something keeps below: in any time t at most rate x t and a burst, which is two largest frames or 100 us
// of the rate.
inline TokenBucket shaping_bucket(uint64_t rate_bps, uint32_t largest_bytes) {
  if (rate_bps == 0) return {};
  const double byte_ns = 8e9 / static_cast<double>(rate_bps);
  const double burst_ns = std::max(2 * largest_bytes * byte_ns, 100.0 * kMicrosecond);
  return {byte_ns, static_cast<Nanos>(burst_ns - largest_bytes * byte_ns)};  // the last frame goes beyond
}

class Shaper {
 public:
  static constexpr uint8_t kNobody = 0xff;
  enum Pass : uint8_t { kRest, kBranch, kLeaf };
  static constexpr uint32_t kPasses = 3;

  // `classes`: that the topology has. `largest_bytes`: of a frame on the wire.
  Shaper(const ShaperPolicy& policy, size_t classes, uint32_t largest_bytes)
      : policy_(policy), head_(shaping_bucket(policy.maximum_bps, largest_bytes)) {
    const auto node = [largest_bytes](const ShaperPolicy::Bandwidth& bandwidth) {
      return Node{shaping_bucket(bandwidth.minimum_bps, largest_bytes),
                  shaping_bucket(bandwidth.maximum_bps, largest_bytes), bandwidth.priority};
    };
    for (const ShaperPolicy::Branch& branch : policy.branches) branches_.push_back(node(branch.bandwidth));
    const uint32_t least = policy.least_weight(classes);
    for (size_t position = 0; position < classes; ++position) {
      const ShaperPolicy::Leaf& leaf = policy.leaves[position];
      const auto share = static_cast<int32_t>(2 * largest_bytes * leaf.weight / least);
      leaves_[position] = {node(leaf.bandwidth), share, leaf.branch, {}, {}};
      leaves_[position].shares.fill({share, 0});
    }
  }

  const ShaperPolicy& policy() const { return policy_; }
  bool shapes() const { return policy_.configured; }

  // The class among those that wait whose turn it is now; kNobody if ceilings hold them all.
  uint8_t next(ClassSet waiting, Nanos now) {
    const ClassSet open = shapes() ? static_cast<ClassSet>(waiting & ~held(waiting, now)) : waiting;
    if (open == 0) return kNobody;
    const ClassSet equals = shapes() ? first_of(open, now) : open;
    turn_ = static_cast<uint8_t>(std::countr_zero(equals));
    for (auto rest = static_cast<ClassSet>(equals & (equals - 1)); rest != 0;
         rest = static_cast<ClassSet>(rest & (rest - 1)))
      if (const auto other = static_cast<uint8_t>(std::countr_zero(rest));
          share_of(other).since < share_of(turn_).since)
        turn_ = other;
    share_used_ = false;
    alone_ = (waiting & (waiting - 1)) == 0;
    return turn_;
  }
  // A packet of the class whose turn it is goes.
  void took(uint32_t bytes, Nanos now) {
    Leaf& leaf = leaves_[turn_];
    Share& share = leaf.shares[pass_];
    share.left_bytes -= static_cast<int32_t>(bytes);
    if (share.left_bytes <= 0) {
      share = {begin_share(share.left_bytes, leaf.share_bytes), ++turns_};
      share_used_ = true;
    }
    if (!shapes()) return;
    leaf.sent_bytes[pass_] += bytes;
    head_.take(now, bytes);
    leaf.node.ceiling.take(now, bytes);
    if (pass_ == kLeaf) leaf.node.guarantee.take(now, bytes);
    if (leaf.branch == kNoBranch) return;
    Node& branch = branches_[leaf.branch];
    branch.ceiling.take(now, bytes);
    if (pass_ == kBranch) branch.guarantee.take(now, bytes);
  }
  // May another one of the class go in the same turn?
  bool goes_on(Nanos now) const {
    if (share_used_ && !alone_) return false;
    return !shapes() || (!is_held(turn_, now) && (pass_ == kRest || pass_of(turn_, now) == pass_));
  }

  // Those that a ceiling holds, and when the first of them may go; kNever if none is held.
  ClassSet held(ClassSet waiting, Nanos now) const {
    ClassSet held = 0;
    if (!shapes()) return held;
    for (ClassSet rest = waiting; rest != 0; rest = static_cast<ClassSet>(rest & (rest - 1)))
      if (is_held(std::countr_zero(rest), now)) held = static_cast<ClassSet>(held | (rest & -rest));
    return held;
  }
  Nanos ready_at(ClassSet waiting, Nanos now) const {
    Nanos first = kNever;
    for (ClassSet rest = held(waiting, now); rest != 0; rest = static_cast<ClassSet>(rest & (rest - 1))) {
      const Leaf& leaf = leaves_[static_cast<size_t>(std::countr_zero(rest))];
      Nanos ready = std::max(head_.ready_at(), leaf.node.ceiling.ready_at());
      if (leaf.branch != kNoBranch) ready = std::max(ready, branches_[leaf.branch].ceiling.ready_at());
      first = std::min(first, ready);
    }
    return first;
  }

  uint64_t sent_bytes(uint8_t of_class, Pass pass) const { return leaves_[of_class].sent_bytes[pass]; }

 private:
  static constexpr uint32_t kPriorities = kShaperPriorityMax + 1;

  struct Node {
    TokenBucket guarantee, ceiling;
    uint8_t priority = 0;
  };
  // What a class may take in its next turn, and in which order those begin. One that is held keeps its place.
  struct Share {
    int32_t left_bytes = 0;
    uint64_t since = 0;
  };
  struct Leaf {
    Node node;
    int32_t share_bytes = 0;
    uint8_t branch = kNoBranch;
    std::array<Share, kPasses> shares{};
    std::array<uint64_t, kPasses> sent_bytes{};
  };

  const Share& share_of(uint8_t of_class) const { return leaves_[of_class].shares[pass_]; }

  bool is_held(int of_class, Nanos now) const {
    const Leaf& leaf = leaves_[static_cast<size_t>(of_class)];
    return !head_.allows(now) || !leaf.node.ceiling.allows(now) ||
           (leaf.branch != kNoBranch && !branches_[leaf.branch].ceiling.allows(now));
  }
  static bool below_guarantee(const Node& node, Nanos now) {
    return node.guarantee.limits() && node.guarantee.allows(now);
  }
  Pass pass_of(int of_class, Nanos now) const {
    const Leaf& leaf = leaves_[static_cast<size_t>(of_class)];
    if (below_guarantee(leaf.node, now)) return kLeaf;
    return leaf.branch != kNoBranch && below_guarantee(branches_[leaf.branch], now) ? kBranch : kRest;
  }
  // Those that come first: in the first pass that has any, with the highest priority.
  ClassSet first_of(ClassSet open, Nanos now) {
    ClassSet equals = 0;
    uint32_t first = 0;
    for (ClassSet rest = open; rest != 0; rest = static_cast<ClassSet>(rest & (rest - 1))) {
      const int of_class = std::countr_zero(rest);
      const Leaf& leaf = leaves_[static_cast<size_t>(of_class)];
      const Pass pass = pass_of(of_class, now);
      const uint32_t priority = pass == kLeaf     ? leaf.node.priority
                                : pass == kBranch ? branches_[leaf.branch].priority
                                                  : 0;
      const uint32_t rank = pass * kPriorities + priority;
      if (rank < first) continue;
      if (rank > first) equals = 0;
      first = rank;
      pass_ = pass;
      equals = static_cast<ClassSet>(equals | 1u << of_class);
    }
    return equals;
  }

  ShaperPolicy policy_;
  TokenBucket head_;
  std::vector<Node> branches_;
  std::array<Leaf, kClassesMax> leaves_{};
  uint64_t turns_ = 0;  // that have begun
  Pass pass_ = kRest;
  uint8_t turn_ = 0;         // the class that has it
  bool share_used_ = false;  // of the turn
  bool alone_ = false;       // nobody else waits
};

}  // namespace heddle
