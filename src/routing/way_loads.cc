// SPDX-License-Identifier: Apache-2.0
#include "routing/way_loads.h"

#include <algorithm>
#include <bit>

namespace heddle {

namespace {
constexpr uint32_t kAlikeNs = kLatelyNs / 2;  // links that have sent alike: else small flows all crowd on the idlest

uint64_t busy_ns(const Load& load) { return load.waiting_ns + load.sent_ns / kAlikeNs * kAlikeNs; }

// What a neighbour told is old: smaller differences than this say nothing, and all would crowd where it was less.
uint64_t in_steps(uint64_t ns, const Load& behind) {
  return behind.lately_ns == 0 ? 0 : ns / behind.lately_ns * behind.lately_ns;
}

double sent_part(const Load& load) {
  return std::min(1.0, static_cast<double>(load.sent_ns) / static_cast<double>(load.lately_ns));
}

// Of a link, if one more flow comes: what is idle of it, or what each of its flows has. What waits at the output alone
// has no flows that could be counted: then what is idle there is all that is known.
double part_of_another(const Load& load) {
  const double idle = 1 - sent_part(load);
  const bool queue_full = load.flows == 0 && load.waiting_ns > load.lately_ns;
  return queue_full ? idle : std::max(idle, load.part / (std::max(1u, load.flows) + 1));
}

// Of the link, that each flow has where it is; beside other classes, what is idle for its own may be more.
double part_of_each(const Load& load) {
  const double own = static_cast<double>(load.sent_ns - load.others_ns) / static_cast<double>(load.lately_ns);
  const double each = std::min(1.0, own) / std::max(1u, load.flows);
  return load.part < 1 ? std::max(each, 1 - sent_part(load)) : each;
}
}  // namespace

WayLoads::Behind WayLoads::behind(PortIndex port, Heading heading, Nanos now, uint8_t of_class) const {
  const PortSet loaded = board_.loaded_behind(port, of_class, now);
  Behind least;
  if (loaded == 0) return least;
  PortSet there = next_hops_.behind(port, heading, now);
  if ((there & ~loaded) != 0) return least;
  for (; there != 0; there &= there - 1) {
    const auto next = PortIndex::of(std::countr_zero(there));
    const Load load = board_.behind(port, next, of_class);
    if (least.rate_bps == 0 || busy_ns(load) < busy_ns(least.load)) least = {load, next_hops_.rate_bps(port, next)};
  }
  return least;
}

uint64_t WayLoads::cost_ns(PortIndex port, Heading heading, bool had, Nanos now, uint8_t of_class) const {
  const Load load = board_.load(port, of_class, now), next = behind(port, heading, now, of_class).load;
  if (had) return load.waiting_ns + in_steps(next.waiting_ns, next);
  return busy_ns(load) + taken_ns(port, now) + in_steps(busy_ns(next), next);
}

uint64_t WayLoads::waiting_ns(PortIndex port, Heading heading, Nanos now, uint8_t of_class) const {
  return board_.load(port, of_class, now).waiting_ns + taken_ns(port, now) +
         behind(port, heading, now, of_class).load.waiting_ns;
}

PortIndex WayLoads::least(PortSet ports, Heading heading, uint64_t random, PortIndex had, Nanos now,
                          uint8_t of_class) const {
  if (had != kNoPort && (ports >> had & 1) && nothing_waits(had, now, of_class)) return had;
  PortIndex best = kNoPort;
  uint64_t best_ns = 0;
  uint32_t ties = 0;
  for (PortSet rest = ports; rest != 0; rest &= rest - 1) {
    const auto port = PortIndex::of(std::countr_zero(rest));
    const uint64_t cost = cost_ns(port, heading, port == had, now, of_class);
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

PortIndex WayLoads::better(PortSet ports, Heading heading, PortIndex left, bool by_itself, Nanos now,
                           uint8_t of_class) const {
  // A part of the link, in bytes of a ns.
  const auto part = [this](PortIndex port, double of_link) {
    return of_link * 1e6 / static_cast<double>(board_.time_ns(port, 1'000'000));
  };
  const Load here = board_.load(left, of_class, now);
  double best = (by_itself ? 1.25 : 0.9) * part(left, part_of_each(here));
  PortIndex found = kNoPort;
  for (PortSet rest = ports; rest != 0; rest &= rest - 1) {
    const auto port = PortIndex::of(std::countr_zero(rest));
    if (!board_.up(port)) continue;
    double gets = part(port, part_of_another(board_.load(port, of_class, now)));
    const Behind next = behind(port, heading, now, of_class);
    if (next.rate_bps != 0)
      gets = std::min(gets, part_of_another(next.load) * static_cast<double>(next.rate_bps) / 8e9);
    if (gets < best || (gets == best && found != kNoPort)) continue;
    best = gets;
    found = port;
  }
  return found;
}

}  // namespace heddle
