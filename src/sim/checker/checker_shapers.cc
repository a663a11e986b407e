// SPDX-License-Identifier: Apache-2.0
// Invariant 11: in any time t no class, branch or port sends more than its maximum x t and a burst; and no class more
// than its minimum x t and a burst in the first pass, nor those of a branch more than the branch's in the second (X4).
#include <algorithm>

#include "sim/checker/checker.h"

namespace heddle::sim {

namespace {

// Bytes that are ahead of the rate, as a bucket that leaks: what it holds at most is the burst.
void fill(ShapedGhost& ghost, uint64_t sent_bytes, uint64_t rate_bps, Nanos now) {
  const double leaked = static_cast<double>(now - ghost.at_ns) * static_cast<double>(rate_bps) / 8e9;
  ghost.ahead_bytes = std::max(0.0, ghost.ahead_bytes + static_cast<double>(sent_bytes - ghost.sent_bytes) - leaked);
  ghost.sent_bytes = sent_bytes;
  ghost.at_ns = now;
}

}  // namespace

void Checker::check_shaper(uint16_t node, const Port& port) {
  const PortShapers& shapers = fabric_.setup().nodes[node].shapers;
  if (shapers.empty() || !shapers[port.index].configured) return;
  const ShaperPolicy& policy = shapers[port.index];
  const Shaper& shaper = port.output.scheduler.shaper();
  const Nanos now = fabric_.engine().now();
  const uint32_t overhead = port.settings.overhead_bytes + (port.is_fabric() ? HEDDLE_DATA_OVERHEAD_BYTES : 0);
  const double frame = fabric_.topology().edge_mtu_bytes + kEthernetHeaderBytes + kVlanTagBytes + overhead;
  PortShapedGhost& ghost = shaped_[node][port.index];
  const auto check = [&](ShapedGhost& one, uint64_t sent_bytes, uint64_t rate_bps, const std::string& what) {
    if (rate_bps == 0) return;
    fill(one, sent_bytes, rate_bps, now);
    const double burst = std::max(2 * frame, static_cast<double>(rate_bps) / 8 * 100e-6);
    if (one.ahead_bytes > burst + 1)
      fail(11, place(node, port.index) + ": " + what + " is " + std::to_string(one.ahead_bytes) + " bytes ahead of " +
                   std::to_string(rate_bps) + " bits per second");
    if (one.ahead_bytes > burst - frame) coverage_.reach("shaper: a rate is used up");
  };
  uint64_t all = 0;
  std::array<uint64_t, kBranchesMax> of_branch{}, second_of_branch{};
  for (uint8_t index = 0; index < fabric_.topology().classes.size(); ++index) {
    const ShaperPolicy::Leaf& leaf = policy.leaves[index];
    const uint64_t first = shaper.sent_bytes(index, Shaper::kLeaf), second = shaper.sent_bytes(index, Shaper::kBranch);
    const uint64_t sent = first + second + shaper.sent_bytes(index, Shaper::kRest);
    const std::string name = "class " + fabric_.topology().classes[index].name;
    check(ghost.leaves[index].maximum, sent, leaf.bandwidth.maximum_bps, name);
    check(ghost.leaves[index].minimum, first, leaf.bandwidth.minimum_bps, name + ", in the first pass,");
    if (first != 0) coverage_.reach("shaper: sent below a class's minimum");
    if (second != 0) coverage_.reach("shaper: sent below a branch's minimum");
    all += sent;
    if (leaf.branch == kNoBranch) continue;
    of_branch[leaf.branch] += sent;
    second_of_branch[leaf.branch] += second;
  }
  for (size_t index = 0; index < policy.branches.size(); ++index) {
    const ShaperPolicy::Branch& branch = policy.branches[index];
    check(ghost.branches[index].maximum, of_branch[index], branch.bandwidth.maximum_bps, "branch " + branch.name);
    check(ghost.branches[index].minimum, second_of_branch[index], branch.bandwidth.minimum_bps,
          "branch " + branch.name + ", in the second pass,");
  }
  check(ghost.head, all, policy.maximum_bps, "the port");
}

// Where another policy holds from now on, bursts are full again.
void Checker::before_reshape(uint16_t node, const PortShapers& shapers) {
  const Node& state = *fabric_.node(node);
  for (PortIndex index = 0; index < state.ports(); ++index) {
    const Port& port = state.port(index);
    check_shaper(node, port);
    const ShaperPolicy policy = shapers.empty() ? ShaperPolicy{} : shapers[index];
    if (policy != port.output.scheduler.shaper().policy()) shaped_[node][index] = {};
  }
}

}  // namespace heddle::sim
