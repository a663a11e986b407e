// SPDX-License-Identifier: Apache-2.0
#include "routing/way_loads.h"

#include <algorithm>
#include <bit>

namespace heddle {

namespace {
constexpr uint32_t kAlikeNs = kLatelyNs / 2;  // links that have sent alike: else small flows all crowd on the idlest
}  // namespace

uint64_t WayLoads::cost_ns(PortIndex port, bool had, Nanos now) const {
  const Load load = board_.load(port, now);
  if (had) return load.waiting_ns;
  const uint64_t taken = now == turn_ ? board_.time_ns(port, taken_[port]) : 0;
  return load.waiting_ns + taken + load.sent_ns / kAlikeNs * kAlikeNs;
}

PortIndex WayLoads::least(PortSet ports, uint64_t random, PortIndex had, Nanos now) const {
  PortIndex best = kNoPort;
  uint64_t best_ns = 0;
  uint32_t ties = 0;
  for (PortSet rest = ports; rest != 0; rest &= rest - 1) {
    const auto port = PortIndex::of(std::countr_zero(rest));
    const uint64_t cost = cost_ns(port, port == had, now);
    if (best == kNoPort || cost < best_ns) {
      best = port;
      best_ns = cost;
      ties = 1;
    } else if (cost == best_ns && best != had) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      if (port == had || (random >> 33) % ++ties == 0) best = port;  // each of the ties is as likely
    }
  }
  return best;
}

PortIndex WayLoads::better(PortSet ports, PortIndex left, bool by_itself, Nanos now) const {
  const auto flows_of = [](const Load& load) { return std::max(1u, load.flows); };
  // A part of the link, in bytes of a second: what is idle of it, or what each of its flows has if one more comes.
  const auto part = [this](PortIndex port, double of_link) {
    return of_link / static_cast<double>(board_.time_ns(port, 1'000'000));
  };
  const Load here = board_.load(left, now);
  const double sent_here = std::min(1.0, static_cast<double>(here.sent_ns) / static_cast<double>(here.lately_ns));
  double best = (by_itself ? 1.25 : 0.9) * part(left, sent_here / flows_of(here));
  PortIndex found = kNoPort;
  for (PortSet rest = ports; rest != 0; rest &= rest - 1) {
    const auto port = PortIndex::of(std::countr_zero(rest));
    if (!board_.up(port)) continue;
    const Load there = board_.load(port, now);
    const double sent = std::min(1.0, static_cast<double>(there.sent_ns) / static_cast<double>(there.lately_ns));
    // What waits at the output alone has no flows that could be counted: then what is idle there is all that is known.
    const bool queue_full = there.flows == 0 && there.waiting_ns > there.lately_ns;
    const double gets = part(port, queue_full ? 1 - sent : std::max(1 - sent, 1.0 / (flows_of(there) + 1)));
    if (gets < best || (gets == best && found != kNoPort)) continue;
    best = gets;
    found = port;
  }
  return found;
}

}  // namespace heddle
