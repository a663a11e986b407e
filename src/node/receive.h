// SPDX-License-Identifier: Apache-2.0
// Bursts from the devices, sorted by the role of the port. Once a turn; of each port one burst at most, so that no port
// waits for another one's frames. Bounds from above when each frame came (ns), which its life counts from (K8).
#pragma once

#include "node/edge_flows.h"
#include "node/edge_receive.h"
#include "node/fabric_receive.h"
#include "node/ports.h"
#include "node/turn.h"

namespace heddle {

class Receive {
 public:
  Receive(Ports& ports, Turn& turn, EdgeFlows& edge_flows, EdgeReceive& edge_receive, FabricReceive& fabric_receive)
      : ports_(ports),
        turn_(turn),
        edge_flows_(edge_flows),
        edge_receive_(edge_receive),
        fabric_receive_(fabric_receive) {}

  // A burst of each port, behind the frames that have waited there for a flow ID.
  void run(Nanos now);
  // When the device has the next frame, or at once if frames can have the flow IDs that they wait for.
  Nanos next_wake(const Port& port, Nanos now) const;

 private:
  void receive(Port& port, Nanos now);
  static void bound_arrivals(Port& port, Nanos now);

  Ports& ports_;
  Turn& turn_;
  EdgeFlows& edge_flows_;
  EdgeReceive& edge_receive_;
  FabricReceive& fabric_receive_;
};

}  // namespace heddle
