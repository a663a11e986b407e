// SPDX-License-Identifier: Apache-2.0
// A flow is asked to take another way (R9), by its output here or by the hop below, in an ACK. The nearest hop upstream
// that has a better one for it acts: the flow sends nothing more until all that it has under way is settled, then it
// takes another port, and keeps off the one that it has left for a lease. Others pass the wish on.
#pragma once

#include "node/flow_queues.h"
#include "node/flow_ways.h"
#include "node/site.h"
#include "routing/path_choice.h"

namespace heddle {

class FlowRedirects {
 public:
  FlowRedirects(const Site& site, const PathChoice& paths, const FlowWays& ways, const FlowQueues& flow_queues,
                Random& random)
      : site_(site), paths_(paths), ways_(ways), flow_queues_(flow_queues), random_(random) {}

  // Not obeyed by a flow that its destination holds back anyway (R10), nor by one whose queue can't hold what comes
  // meanwhile; of a flow with nothing under way it is old news, and of an ended session, too.
  void on_redirect(Port& port, Epoch epoch, FlowId id, uint16_t asked_by, Nanos now);

 private:
  const Site& site_;
  const PathChoice& paths_;
  const FlowWays& ways_;
  const FlowQueues& flow_queues_;
  Random& random_;
};

}  // namespace heddle
