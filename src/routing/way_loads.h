// SPDX-License-Identifier: Apache-2.0
// Which of several ports has least to do (R3, R6), and whether a flow would be better off at another one (R9). By what
// the load board says of them and of the ports behind them (R8), and by what this worker has itself given each since
// its turn began: else all flows that begin in one burst would take the same. As the class of its traffic sees
// them; but what has been given in a turn is of all classes. Owned by one worker.
#pragma once

#include <array>

#include "routing/load_board.h"
#include "routing/next_hops.h"
#include "wire/types.h"

namespace heddle {

class WayLoads {
 public:
  WayLoads(const LoadBoard& board, const NextHops& next_hops) : board_(board), next_hops_(next_hops) {}

  // The least loaded of the ports, which are up, one at least; of equal ones `random` says which, each as likely.
  // `had`: a flow that comes from rest had that one, and leaves it only if more waits there than another one has to
  // send and has sent lately: what `had` has sent may be the flow's own.
  PortIndex least(PortSet ports, Heading heading, uint64_t random, PortIndex had, Nanos now, uint8_t of_class) const;

  // Neither there nor behind it: nothing costs less, and a flow that has it does not leave it for its like. So it is
  // with most flows that go on.
  bool nothing_waits(PortIndex port, Nanos now, uint8_t of_class) const {
    return board_.waiting_bytes(port) == 0 && board_.loaded_behind(port, of_class, now) == 0;
  }

  // R9: one of the ports that has so much to spare, or so few flows, that one that leaves `left` for it gets a quarter
  // more, if what is too much waits here (`by_itself`); if it waits further on, nearly as much. kNoPort if there is
  // none.
  PortIndex better(PortSet ports, Heading heading, PortIndex left, bool by_itself, Nanos now, uint8_t of_class) const;

  // What waits for the port, and at the next hop for the port after it, in time of their links.
  uint64_t waiting_ns(PortIndex port, Heading heading, Nanos now, uint8_t of_class) const;

  // What a choice compares: for what waits, and what was sent lately.
  uint64_t cost_ns(PortIndex port, Heading heading, bool had, Nanos now, uint8_t of_class) const;

  // A flow has chosen the port, with so many bytes to begin with.
  void took(PortIndex port, uint32_t bytes, Nanos now) {
    if (now != turn_) {
      taken_.fill(0);
      turn_ = now;
    }
    taken_[port] += bytes;
  }

 private:
  // The least loaded port that leads on at the next hop; nothing waits there if any has not much to do.
  struct Behind {
    Load load{};
    uint64_t rate_bps = 0;  // 0: has not much to do
  };
  Behind behind(PortIndex port, Heading heading, Nanos now, uint8_t of_class) const;
  uint64_t taken_ns(PortIndex port, Nanos now) const { return now == turn_ ? board_.time_ns(port, taken_[port]) : 0; }

  const LoadBoard& board_;
  const NextHops& next_hops_;
  Nanos turn_ = -1;
  std::array<uint32_t, kPortsMax> taken_{};  // bytes, in the turn
};

}  // namespace heddle
