// SPDX-License-Identifier: Apache-2.0
#include "telemetry/inspect.h"

namespace heddle {

namespace {

// All counters of the ports of a node, and the sum over them: both from one moment per worker.
struct PortDrops {
  std::array<uint64_t, kDropReasons> by_reason{};
  uint64_t wire_frames = 0, wire_bytes = 0;  // lost on the way here
};

struct NodeDrops {
  std::vector<PortDrops> by_port;
  FrameBalance balance;
};

NodeDrops drops_of(const SwitchProcess& process, const ProcessNode& node) {
  NodeDrops drops;
  drops.by_port.resize(node.ports.size());
  for (WorkerIndex index = 0; index < node.node->workers(); ++index) {
    process.run_on(node, index, [&] {
      for (const Port* port : node.node->worker(index).ports()) {
        drops.by_port[port->index] = {.by_reason = port->counters.drops,
                                      .wire_frames = port->counters.lost_on_wire_frames,
                                      .wire_bytes = port->counters.lost_on_wire_bytes};
        drops.balance.add(*port);
      }
    });
  }
  return drops;
}

Json drop_row(const TopologyNode& node, PortIndex port, std::string_view reason, uint64_t frames,
              std::string_view text) {
  return {{"node", node.name}, {"port", node.ports[port].name}, {"reason", reason}, {"frames", frames}, {"text", text}};
}

}  // namespace

// What is lost below the ports is no part of the sums: those are of frames that the switch has seen.
Json show_drops(const SwitchProcess& process, const ShowRequest& request) {
  Json rows = Json::array();
  Json sums = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    const TopologyNode& about = description(process, node);
    NodeDrops drops;
    drops.by_port.resize(node.ports.size());
    if (node.node != nullptr) drops = drops_of(process, node);
    for_each_port(node, request, [&](PortIndex port) {
      const PortDrops& dropped = drops.by_port[port];
      for (unsigned reason = 0; reason < kDropReasons; ++reason)
        if (const uint64_t frames = dropped.by_reason[reason]; frames != 0)
          rows.push_back(drop_row(about, port, kDropReasonNames[reason], frames, kDropReasonTexts[reason]));
      if (dropped.wire_frames + dropped.wire_bytes != 0) {
        rows.push_back(drop_row(about, port, "lost_on_wire", dropped.wire_frames,
                                "lost on the link on the way here, or overtaken there; bytes are of flows' data"));
        rows.back()["bytes"] = dropped.wire_bytes;
      }
      for (const LossBelow& loss : losses_below(node, port))
        if (loss.frames != 0) rows.push_back(drop_row(about, port, loss.reason, loss.frames, loss.text));
    });
    if (node.node == nullptr) return;
    Json sum{{"node", about.name}};
    sum.update(drops.balance.json());
    sums.push_back(std::move(sum));
  });
  return {{"drops", std::move(rows)}, {"sums", std::move(sums)}};
}

}  // namespace heddle
