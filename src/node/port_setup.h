// SPDX-License-Identifier: Apache-2.0
// A port as it is before its first frame: tables, queues with their room, credits, rates. Called by the node as it is
// built, outside of any turn; memory that can't be had throws std::bad_alloc.
#pragma once

#include <memory>

#include "node/options.h"
#include "node/port.h"

namespace heddle {

// Ports are dealt to the workers in turn.
inline WorkerIndex worker_of(PortIndex port, const NodeOptions& options) {
  return WorkerIndex::of(port % options.workers);
}

// `options` and what they point to outlive it.
std::unique_ptr<Port> make_port(const NodeOptions& options, PortIndex index);

// What stands under it from now on; outlives it, or until another one does.
void plug(Port& port, Device& device);

// What traffic classes have of the port from now on (X4), which has a rate if the policy is configured: who goes first,
// how much the device gets ahead, and whose congestion is judged together.
void shape(Port& port, const ShaperPolicy& policy);

}  // namespace heddle
