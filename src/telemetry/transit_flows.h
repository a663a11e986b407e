// SPDX-License-Identifier: Apache-2.0
// What the fabric ports of nodes hold now, flow by flow: the hops behind the one where a host's flow enters.
#pragma once

#include "telemetry/show.h"

namespace heddle {

const char* state_text(FlowState state, bool rests);
// leaf3:p4, or "flooded" of an address that is no port.
std::string destination_text(const SwitchProcess& process, FabricAddress address);
// Where a flow goes on: its output port, flow ID there, and the port at the other end of that link. Nothing of kNoPort.
void add_output(Json& json, const SwitchProcess& process, const TopologyNode& about, PortIndex port, FlowId flow);

// Those with most bytes first, a bounded number of them.
Json transit_json(const SwitchProcess& process, const ShowRequest& request);

}  // namespace heddle
