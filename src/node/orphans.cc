// SPDX-License-Identifier: Apache-2.0
#include "node/orphans.h"

#include <bit>

namespace heddle {

Orphans::Orphans(const Site& site, Ports& ports, Outbox& outbox, LoadBoard& board)
    : site_(site), ports_(ports), outbox_(outbox), board_(board) {
  for (Port* port : ports_)
    if (port->is_fabric()) unsaid_ |= PortSet{1} << port->index;
}

void Orphans::session_began(Port& input) {
  unsaid_ &= ~(PortSet{1} << input.index);
  publish(input, LinkStanding::up);
}

void Orphans::session_ended(Port& input) {
  unsaid_ |= PortSet{1} << input.index;
  publish(input, LinkStanding::down);
}

void Orphans::made(Port& input) {
  input.input.orphans = input.input.orphans + 1;
  input.counters.count(ProtocolEvent::orphan_made);
}

void Orphans::freed(Port& input, uint32_t count) { input.input.orphans = input.input.orphans - count; }

void Orphans::say(Nanos now) {
  if (sure_at_ == kNever) sure_at_ = now + dead_after_ns(site_.classes.longest_life_ns());
  if (now < sure_at_) return;
  for (PortSet rest = unsaid_; rest != 0; rest &= rest - 1) {
    Port& input = ports_.own(PortIndex::of(std::countr_zero(rest)));
    if (input.input.orphans != 0) continue;
    unsaid_ &= ~(rest & -rest);
    publish(input, LinkStanding::settled);
  }
}

void Orphans::publish(Port& input, LinkStanding standing) {
  board_.publish_standing(input.index, standing);
  if (site_.worker != 0) outbox_.wake(0);  // the first worker tells the fabric
}

}  // namespace heddle
