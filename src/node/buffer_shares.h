// SPDX-License-Identifier: Apache-2.0
// What is free of the next hop's buffers in a lossless channel, less what waits here (C8), of this worker's ports and
// of the others', who are told. Asked for each frame that is to cross to a lossless channel, in bytes, as if each
// buffer held as much as one can of the longest frame; told once a turn.
#pragma once

#include "flow/flow_gate.h"
#include "node/ports.h"
#include "node/site.h"
#include "routing/load_board.h"

namespace heddle {

class BufferShares {
 public:
  BufferShares(const Site& site, Ports& ports, LoadBoard& board) : site_(site), ports_(ports), board_(board) {}

  // C8: of the next switch's buffers, for the channel that the queue's packets go in; kNoShare if they take
  // credit of no lossless one.
  uint64_t free_bytes_of(const Voq& voq) const { return voq.shares_credit ? free_bytes_below(voq) : kNoShare; }
  // What the port's next hop has free, to the other workers' board, where it has changed.
  void publish(Port& port);

 private:
  uint64_t free_bytes_below(const Voq& voq) const;
  static uint32_t free_buffers(const Port& port, uint32_t channel);
  void publish_free(Port& port, uint32_t channel);

  const Site& site_;
  Ports& ports_;
  LoadBoard& board_;
};

}  // namespace heddle
