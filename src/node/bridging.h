// SPDX-License-Identifier: Apache-2.0
// Bridging (E1): frames whose destination is not known, or is a group, go everywhere; stations are learned from frames
// that come over the fabric, and workers tell each other. Called by those who receive. A frame that is flooded ends
// here; where copies (`copies_max`) or buffers are short its missing copies are drops, and counted.
#pragma once

#include <array>

#include "ingress/edge_input.h"
#include "node/crosspoint.h"
#include "node/outbox.h"
#include "node/port.h"
#include "node/room_returns.h"
#include "node/site.h"
#include "node/turn.h"
#include "routing/load_board.h"
#include "routing/path_choice.h"
#include "wire/inlining.h"
#include "wire/packet.h"

namespace heddle {

class Bridging {
 public:
  Bridging(const Site& site, Turn& turn, Outbox& outbox, LoadBoard& board, PacketPool& pool, EdgeInput& edge,
           PathChoice& paths, RoomReturns& room, CrossPoint& crosspoint)
      : site_(site),
        turn_(turn),
        outbox_(outbox),
        board_(board),
        pool_(pool),
        edge_(edge),
        paths_(paths),
        room_(room),
        crosspoint_(crosspoint) {}

  // E1: along the spanning tree and to the edge ports of its VLAN, never back. Copies come from a bounded budget
  // (decision 3).
  HEDDLE_COLD void flood(Port& port, Packet* packet, Nanos now);
  // The station behind a frame that came over the fabric (E1).
  void meet_station(Port& port, const Packet& packet, Nanos now) {
    // The address and what follows it in the frame, in place of which its VLAN goes.
    const uint64_t station = (load_be64(packet.data + HEDDLE_DATA_OVERHEAD_BYTES + 6) & ~uint64_t{0xffff}) | packet.vni;
    Recent& recent = recent_[(station ^ station >> 16 ^ station >> 32) % recent_.size()];
    const bool known = recent.station == station && recent.address == packet.source;
    if (!usually(known && recent.version == edge_.stations().version())) learn_from_fabric(port, packet, recent, now);
  }
  // The other workers hear where a station is, if that is news.
  HEDDLE_COLD void announce(Port& port, Learned learned, uint64_t mac, uint16_t vlan, FabricAddress address);

 private:
  struct Recent {  // stations of the last frames: saves the look-up per frame, as long as the table has not changed
    uint64_t station = 0;
    FabricAddress address;
    uint32_t version = 0;
  };
  HEDDLE_COLD void learn_from_fabric(Port& port, const Packet& packet, Recent& recent, Nanos now);

  const Site& site_;
  Turn& turn_;
  Outbox& outbox_;
  LoadBoard& board_;
  PacketPool& pool_;
  EdgeInput& edge_;
  PathChoice& paths_;
  RoomReturns& room_;
  CrossPoint& crosspoint_;
  std::array<Recent, 64> recent_{};
};

}  // namespace heddle
