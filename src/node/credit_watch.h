// SPDX-License-Identifier: Apache-2.0
// Output flows that the next hop grants by credit (C6). One that has none for a frame and hears nothing asks (K7). The
// only writer of an entry's credit_limit (a position, in bytes). Work is for the flows that are metered, a bounded
// number of them a turn; their list has room for all flow IDs of the worker's ports.
#pragma once

#include "flow/bounded_list.h"
#include "node/ports.h"
#include "node/prober.h"
#include "node/settlement.h"
#include "node/site.h"
#include "node/turn.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"

namespace heddle {

class CreditWatch {
 public:
  CreditWatch(const Site& site, Ports& ports, Turn& turn, Settlement& settlement, Prober& prober)
      : site_(site),
        ports_(ports),
        turn_(turn),
        settlement_(settlement),
        prober_(prober),
        metered_(ports.size() * site.settings.flow_ids) {}

  // The next hop says up to where it takes a flow's data, or that it takes all again. False if that cannot be: it has
  // settled more.
  HEDDLE_COLD bool hear(Port& port, const AckRecord& record, OutputFlow& entry);
  // K7: a flow that has no credit for a frame, and has heard nothing new since the last look, asks. The answer has the
  // limit. So many a turn: however many there are, the devices are read meanwhile.
  void look(Nanos now);
  bool looking() const { return to_look_at_ != 0; }
  Nanos next_wake() const { return metered_.empty() ? kNever : next_look_ns_; }

 private:
  HEDDLE_COLD void list(Port& port, FlowId id, OutputFlow& entry);

  const Site& site_;
  Ports& ports_;
  Turn& turn_;
  Settlement& settlement_;
  Prober& prober_;
  struct Metered {
    uint32_t item;   // flow_item()
    uint32_t limit;  // its credit_limit at the last look; at first, as it was before it was listed
  };
  BoundedList<Metered> metered_;
  size_t to_look_at_ = 0;  // in the look that is under way: the first so many
  Nanos next_look_ns_ = 0;
};

}  // namespace heddle
