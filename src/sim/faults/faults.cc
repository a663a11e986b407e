// SPDX-License-Identifier: Apache-2.0
#include "sim/faults/faults.h"

#include <algorithm>

#include "sim/hosts/host.h"

namespace heddle::sim {

FaultInjector::FaultInjector(Fabric& fabric, const FaultPlan& plan, uint64_t seed, Tell tell)
    : fabric_(fabric), plan_(plan), random_(seed), tell_(std::move(tell)) {}

void FaultInjector::run(Nanos from, Nanos until) {
  until_ = until;
  if (plan_.kinds != 0 && fabric_.links() != 0) next(from);
}

void FaultInjector::next(Nanos now) {
  const Nanos at = now + random_.below(2 * plan_.mean_interval_ns) + 1;
  if (at >= until_) return;
  fabric_.engine().at(at, [this, at] {
    do_one(at);
    next(at);
  });
}

void FaultInjector::do_one(Nanos now) {
  auto choice = random_.below(static_cast<uint32_t>(__builtin_popcount(plan_.kinds)));
  uint32_t rest = plan_.kinds;
  while (choice-- > 0) rest &= rest - 1;
  switch (static_cast<FaultKind>(__builtin_ctz(rest))) {
    case FaultKind::link_flap:
      return flap(now);
    case FaultKind::one_way:
      return one_way(now);
    case FaultKind::crash:
      return crash(some_node(), now);
    case FaultKind::crash_neighbours:
      return crash_neighbours(now);
    case FaultKind::pause_short:
      return pause(now, false);
    case FaultKind::pause_long:
      return pause(now, true);
    case FaultKind::pause_and_reset:
      return pause_and_reset(now);
    case FaultKind::delay_change:
      return change_delay();
    case FaultKind::burst_loss:
      return burst_loss(now);
    case FaultKind::host_stalls:
      return stall_host(now);
    case FaultKind::forgery:
      return forge();
    case FaultKind::unplugged:
      return unplug(now);
    case FaultKind::small_mtu:
      return narrow(now);
    case FaultKind::regroup:
      return regroup();
    case FaultKind::reshape:
      return reshape();
    case FaultKind::count:
      return;
  }
}

void FaultInjector::flap(Nanos now) {
  const uint32_t link = some_link();
  const Nanos length = random_.below(3) == 0 ? between(1, kMillisecond) : between(kMillisecond, 30 * kMillisecond);
  fabric_.link(link).set_up(false);
  fabric_.engine().at(std::min(now + length, until_), [this, link] { fabric_.link(link).set_up(true); });
  tell_(FaultKind::link_flap, "link " + std::to_string(link) + " down for " + std::to_string(length) + " ns", link);
}

// As flap(), and the devices at both ends tell.
void FaultInjector::unplug(Nanos now) {
  const uint32_t link = some_link();
  const Nanos length = between(10 * kMicrosecond, 30 * kMillisecond);
  fabric_.plug(link, false);
  fabric_.engine().at(std::min(now + length, until_), [this, link] { fabric_.plug(link, true); });
  tell_(FaultKind::unplugged, "link " + std::to_string(link) + " unplugged for " + std::to_string(length) + " ns",
        link);
}

// Something on the way takes short frames only.
void FaultInjector::narrow(Nanos now) {
  const uint32_t link = some_link();
  const auto direction = static_cast<unsigned>(random_.below(2));
  const Nanos length = between(kMillisecond, 60 * kMillisecond);
  const auto longest = static_cast<uint32_t>(between(200, 1500));
  fabric_.link(link).set_longest(direction, longest);
  fabric_.engine().at(std::min(now + length, until_),
                      [this, link, direction] { fabric_.link(link).set_longest(direction, MemoryLink::kNoLimit); });
  tell_(FaultKind::small_mtu,
        "link " + std::to_string(link) + " direction " + std::to_string(direction) + " carries frames of up to " +
            std::to_string(longest) + " bytes for " + std::to_string(length) + " ns",
        link);
}

void FaultInjector::one_way(Nanos now) {
  const uint32_t link = some_link();
  const auto direction = static_cast<unsigned>(random_.below(2));
  const Nanos length = between(kMillisecond, 30 * kMillisecond);
  const uint32_t loss = fabric_.setup().links[link][direction].loss_ppm;
  fabric_.link(link).set_loss(direction, 1'000'000);
  fabric_.engine().at(std::min(now + length, until_),
                      [this, link, direction, loss] { fabric_.link(link).set_loss(direction, loss); });
  tell_(FaultKind::one_way,
        "link " + std::to_string(link) + " direction " + std::to_string(direction) + " carries nothing for " +
            std::to_string(length) + " ns",
        link);
}

void FaultInjector::burst_loss(Nanos now) {
  const uint32_t link = some_link();
  const auto direction = static_cast<unsigned>(random_.below(2));
  const Nanos length = between(10 * kMicrosecond, kMillisecond);
  const uint32_t loss = fabric_.setup().links[link][direction].loss_ppm;
  fabric_.link(link).set_loss(direction, 1'000'000);
  fabric_.engine().at(std::min(now + length, until_),
                      [this, link, direction, loss] { fabric_.link(link).set_loss(direction, loss); });
  tell_(FaultKind::burst_loss,
        "link " + std::to_string(link) + " direction " + std::to_string(direction) + " loses a burst of " +
            std::to_string(length) + " ns",
        link);
}

void FaultInjector::crash(uint16_t node, Nanos now) {
  if (fabric_.node(node) == nullptr) return;
  const Nanos length = plan_.restart_least_ns + random_.below(20 * kMillisecond);
  fabric_.crash(node);
  // heal() comes after the end: a node that is still away then starts as soon as its time is over.
  fabric_.engine().at(now + length, [this, node] { fabric_.start(node); });
  tell_(FaultKind::crash, "node " + std::to_string(node) + " crashes, back in " + std::to_string(length) + " ns", 0);
}

// Both ends of a link at once: neither remembers the other.
void FaultInjector::crash_neighbours(Nanos now) {
  const TopologyLink& link = fabric_.topology().links[some_link()];
  tell_(FaultKind::crash_neighbours, "two neighbours crash", 0);
  for (const LinkEnd& end : link.ends) crash(end.node_index, now);
}

void FaultInjector::pause(Nanos now, bool is_long) {
  const uint16_t node = some_node();
  const auto worker = WorkerIndex::of(random_.below(fabric_.setup().nodes[node].workers));
  const Nanos length =
      is_long ? between(5 * kMillisecond, plan_.pause_max_ns) : between(10 * kMicrosecond, 3 * kMillisecond);
  pause_worker(node, worker, length, now);
  tell_(is_long ? FaultKind::pause_long : FaultKind::pause_short,
        "node " + std::to_string(node) + " worker " + std::to_string(worker) + " pauses for " + std::to_string(length) +
            " ns",
        0);
}

void FaultInjector::pause_worker(uint16_t node, WorkerIndex worker, Nanos length, Nanos now) {
  fabric_.pause(node, worker, now + length);
  pauses_end_ns_ = std::max(pauses_end_ns_, now + length);
}

// A session of one worker is reset while another worker of the node stands still, with packets of the ended session in
// the ring before it. Lies in wait for the worst moment: an output flow ID is given out and its first packet is to
// come.
void FaultInjector::pause_and_reset(Nanos now) {
  const uint32_t link = some_link();
  const auto direction = static_cast<unsigned>(random_.below(2));
  const LinkEnd end = fabric_.topology().links[link].ends[1 - direction];
  if (fabric_.setup().nodes[end.node_index].workers > 1) lie_in_wait(link, direction, now, now + 2 * kMillisecond);
}

void FaultInjector::lie_in_wait(uint32_t link, unsigned direction, Nanos now, Nanos patience) {
  const LinkEnd end = fabric_.topology().links[link].ends[1 - direction];
  const Node* node = fabric_.node(end.node_index);
  if (node == nullptr || now > std::min(patience, until_)) return;
  for (PortIndex output = 0; output < node->ports(); ++output) {
    const WorkerIndex worker = node->worker_of_port(output);
    if (worker == node->worker_of_port(end.port)) continue;
    const OutputFlowTable& flows = node->port(output).output.flows;
    for (uint32_t id = 1; id <= flows.size(); ++id) {
      const OutputFlow& entry = flows[FlowId::of(id)];
      const bool fresh = entry.state == OutputFlowState::reserved && entry.extent() == 0 && entry.queued == 0;
      if (fresh && entry.input.port == end.port) return reset_behind_pause(link, direction, worker, now);
    }
  }
  fabric_.engine().at(now + kMicrosecond / 2,
                      [=, this] { lie_in_wait(link, direction, now + kMicrosecond / 2, patience); });
}

void FaultInjector::reset_behind_pause(uint32_t link, unsigned direction, WorkerIndex worker, Nanos now) {
  const uint16_t node = fabric_.topology().links[link].ends[1 - direction].node_index;
  const Nanos length = between(100 * kMicrosecond, 3 * kMillisecond);
  pause_worker(node, worker, length, now);
  fabric_.engine().at(now + kMicrosecond, [this, link, direction, seed = random_.next()] {
    fabric_.forge_next(link, direction, Forgery::position_far, 1, seed);
  });
  tell_(FaultKind::pause_and_reset,
        "node " + std::to_string(node) + " worker " + std::to_string(worker) + " pauses for " + std::to_string(length) +
            " ns, and link " + std::to_string(link) + " is reset",
        link);
}

void FaultInjector::change_delay() {
  const uint32_t link = some_link();
  const auto direction = static_cast<unsigned>(random_.below(2));
  const Nanos delay = between(100, 500 * kMicrosecond);
  fabric_.link(link).set_delay(direction, delay);
  tell_(FaultKind::delay_change,
        "link " + std::to_string(link) + " direction " + std::to_string(direction) + " takes " + std::to_string(delay) +
            " ns",
        link);
}

void FaultInjector::stall_host(Nanos now) {
  if (fabric_.hosts() == 0) return;
  const auto host = static_cast<uint16_t>(random_.below(fabric_.hosts()));
  const Nanos length = between(kMillisecond, 10 * kMillisecond);
  fabric_.host(host).pause(now + length);
  tell_(FaultKind::host_stalls, "host " + std::to_string(host) + " stalls for " + std::to_string(length) + " ns", 0);
}

void FaultInjector::regroup() {
  const uint16_t node = some_node();
  const ApplicationPolicy& policy = plan_.policies[random_.below(plan_.policies.size())];
  fabric_.set_applications(node, policy);
  tell_(FaultKind::regroup, "node " + std::to_string(node) + " has another policy of applications", 0);
}

void FaultInjector::reshape() {
  const uint16_t node = some_node();
  const std::vector<PortShapers>& shapers = plan_.shapers[node];
  if (shapers.empty()) return;
  fabric_.set_shapers(node, shapers[random_.below(shapers.size())]);
  tell_(FaultKind::reshape, "node " + std::to_string(node) + " has other shapers", 0);
}

void FaultInjector::forge() {
  const uint32_t link = some_link();
  const auto direction = static_cast<unsigned>(random_.below(2));
  for (uint64_t orders = 1 + random_.below(6); orders > 0; --orders) {
    const auto forgery = static_cast<Forgery>(random_.below(kForgeries));
    const auto frames = static_cast<uint32_t>(1 + random_.below(8));
    fabric_.forge_next(link, direction, forgery, frames, random_.next());
    tell_(FaultKind::forgery,
          "link " + std::to_string(link) + " direction " + std::to_string(direction) + " forges " +
              std::string(kForgeryNames[static_cast<unsigned>(forgery)]),
          link);
  }
}

namespace {
bool closes(const ApplicationPolicy& policy) {
  const auto closed = [](const ApplicationPolicy::Limit& limit) { return limit.bytes == 0; };
  return policy.port_bytes == 0 || std::any_of(policy.limits.begin(), policy.limits.end(), closed);
}
}  // namespace

void FaultInjector::heal() {
  fabric_.end_shortage();
  for (uint32_t link = 0; link < fabric_.links(); ++link) {
    fabric_.plug(link, true);
    for (unsigned direction = 0; direction < 2; ++direction) {
      fabric_.link(link).set_longest(direction, MemoryLink::kNoLimit);
      MemoryLinkOptions clean = fabric_.setup().links[link][direction];
      clean.loss_ppm = clean.duplicate_ppm = clean.reorder_ppm = clean.corrupt_ppm = 0;
      fabric_.link(link).set_options(direction, clean);
    }
  }
  fabric_.stop_forging();
  for (uint16_t node = 0; node < fabric_.topology().nodes.size(); ++node)
    if (closes(fabric_.setup().nodes[node].applications)) fabric_.set_applications(node, plan_.policies.front());
}

}  // namespace heddle::sim
