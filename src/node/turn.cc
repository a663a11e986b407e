// SPDX-License-Identifier: Apache-2.0
#include "node/turn.h"

namespace heddle {

void Turn::flush() {
  if (discarded_count_ == 0) return;
  pool_.release(discarded_.data(), discarded_count_);
  discarded_count_ = 0;
}

void Turn::drop_at_input(Port& port, Packet* packet, DropReason reason) {
  port.counters.drop(reason);
  port.input.queues.dropped(packet->ftag, reason);
  if (port.is_fabric() && packet->cost != 0) {
    count_loss(port, *packet, reason);
    release_buffers(port, *packet);
  }
  discard(packet);
}

void Turn::count_loss(Port& port, const Packet& packet, DropReason reason) {
  if (!site_.lanes.lossless(packet.ftag & 15) || packet.destination.node == HEDDLE_FLOOD_NODE) return;
  const bool spare = reason == DropReason::duplicate || reason == DropReason::old_sequence ||
                     reason == DropReason::stale_session || reason == DropReason::link_not_up;
  if (!spare) port.counters.count(ProtocolEvent::lossless_lost);
}

}  // namespace heddle
