// SPDX-License-Identifier: Apache-2.0
// A node's policy of applications changes while it runs (A9), or it gets its first one, or has none any more. All in
// one step, between two turns of the worker: what stands somewhere by its group is taken out, each flow gets the group
// that it has from now on, and everybody stands where it belongs, frames in their order. So no flow is ever in two
// groups, nothing is dropped, and nobody waits for old flows to end. Costs time in proportion to flow IDs, waiting
// frames, and queues times groups of edge ports.
#pragma once

#include "ingress/edge_input.h"
#include "node/flow_pauses.h"
#include "node/ports.h"
#include "node/site.h"

namespace heddle {

class Regrouping {
 public:
  Regrouping(const Site& site, Ports& ports, EdgeInput& edge, FlowPauses& flow_pauses)
      : site_(site), ports_(ports), edge_(edge), flow_pauses_(flow_pauses) {}

  // The policy that edge input and arbiters refer to is another one. Allocates.
  void run();

 private:
  void run(Port& port);
  void regroup(Port& port, FlowId id);
  uint8_t regroup(uint32_t match);

  const Site& site_;
  Ports& ports_;
  EdgeInput& edge_;
  FlowPauses& flow_pauses_;
};

}  // namespace heddle
