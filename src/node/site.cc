// SPDX-License-Identifier: Apache-2.0
#include "node/site.h"

#include <algorithm>

#include "heddle/frames.h"

namespace heddle {

namespace {
PortSet ports_of_kind(const NodeOptions& options, bool fabric) {
  const auto& ports = options.topology->nodes[options.node_index].ports;
  PortSet found = 0;
  for (PortIndex port = 0; port < ports.size(); ++port)
    if (ports[port].fabric == fabric) found |= PortSet{1} << port;
  return found;
}

bool several_lossy(const std::vector<TrafficClass>& classes) {
  return std::ranges::count_if(classes, [](const TrafficClass& one) { return !one.lossless && one.flow_channels; }) > 1;
}
}  // namespace

Site::Site(const NodeOptions& options, WorkerIndex worker_index)
    : topology(*options.topology),
      settings(options.topology->settings),
      lanes(*options.topology),
      classes(*options.topology),
      node(options.node_index),
      address(topology.nodes[options.node_index].address),
      worker(worker_index),
      workers(options.workers),
      port_count(static_cast<uint32_t>(ports().size())),
      waiting_max(options.waiting_max),
      copies_max(options.copies_max),
      lent_max(settings.flow_ids / (4 * port_count)),
      frame_bytes(topology.edge_mtu_bytes + kEthernetHeaderBytes),
      frame_buffers(buffers_for(HEDDLE_DATA_OVERHEAD_BYTES + frame_bytes)),
      fabric_ports(ports_of_kind(options, true)),
      edge_ports(ports_of_kind(options, false)),
      several_lossy_classes(several_lossy(topology.classes)) {
  for (uint8_t ftag = 0; ftag < kClassesMax; ++ftag)
    lossy_voqs_[ftag] = lanes.lossless(ftag) ? kNoVoq : voq_index(0, lanes.of(classes.of(ftag).ftag, kLossyChannel));
}

}  // namespace heddle
