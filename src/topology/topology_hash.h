// SPDX-License-Identifier: Apache-2.0
// Of everything that both ends of a link must agree on (K1); the same for the same text on any machine.
#pragma once

#include "topology/topology.h"

namespace heddle {

uint64_t topology_hash(const Topology& topology);

}  // namespace heddle
