// SPDX-License-Identifier: Apache-2.0
// What traffic classes have of ports with a shaper (X4): how much of each was sent in the interval, in which pass, and
// what waits.
#include <memory>

#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

using PassBytes = std::array<uint64_t, Shaper::kPasses>;
struct ShapedPort {
  const ProcessNode* node;
  PortIndex port;
  std::array<PassBytes, kClassesMax> sent;
  std::array<uint32_t, kClassesMax> queued_bytes;
};

// Of ports that have one.
std::vector<ShapedPort> sample(const SwitchProcess& process, const ShowRequest& request) {
  std::vector<ShapedPort> ports;
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr || node.settings.shapers.empty()) return;
    for_each_port(node, request, [&](PortIndex index) {
      if (!node.settings.shapers[index].configured) return;
      ShapedPort one{.node = &node, .port = index, .sent = {}, .queued_bytes = {}};
      look_at_port(process, node, index, [&one](const Port& port) {
        for (uint8_t position = 0; position < kClassesMax; ++position) {
          one.queued_bytes[position] = port.output.scheduler.bytes_of(position);
          for (uint32_t pass = 0; pass < Shaper::kPasses; ++pass)
            one.sent[position][pass] =
                port.output.scheduler.shaper().sent_bytes(position, static_cast<Shaper::Pass>(pass));
        }
      });
      ports.push_back(one);
    });
  });
  return ports;
}

// What was sent in the interval; a shaper that is a new one has begun at 0.
PassBytes since(const PassBytes& earlier, const PassBytes& now) {
  PassBytes sent{};
  for (uint32_t pass = 0; pass < Shaper::kPasses; ++pass)
    sent[pass] = now[pass] - (earlier[pass] <= now[pass] ? earlier[pass] : 0);
  return sent;
}

Json row_of(const SwitchProcess& process, const ShapedPort& place, const ShaperPolicy::Bandwidth& bandwidth,
            const PassBytes& sent, uint64_t queued_bytes, double seconds) {
  const TopologyNode& about = description(process, *place.node);
  const auto bps = [seconds](uint64_t bytes) {
    return static_cast<uint64_t>(static_cast<double>(bytes) * 8 / seconds);
  };
  Json row{{"node", about.name},
           {"port", about.ports[place.port].name},
           {"sent_bps", bps(sent[Shaper::kLeaf] + sent[Shaper::kBranch] + sent[Shaper::kRest])},
           {"by_class_minimum_bps", bps(sent[Shaper::kLeaf])},
           {"by_branch_minimum_bps", bps(sent[Shaper::kBranch])},
           {"queue_bytes", queued_bytes}};
  if (bandwidth.minimum_bps != 0) row["minimum_bps"] = bandwidth.minimum_bps, row["priority"] = bandwidth.priority;
  if (bandwidth.maximum_bps != 0) row["maximum_bps"] = bandwidth.maximum_bps;
  return row;
}

void add(PassBytes& sum, const PassBytes& part) {
  for (uint32_t pass = 0; pass < Shaper::kPasses; ++pass) sum[pass] += part[pass];
}

// Its classes, each behind those of its branch; branches; and the port.
void add_rows(const SwitchProcess& process, const ShapedPort& before, const ShapedPort& now, double seconds,
              Json& rows) {
  const ShaperPolicy& policy = now.node->settings.shapers[now.port];
  const std::vector<TrafficClass>& classes = process.topology().classes;
  PassBytes of_port{};
  std::vector<PassBytes> of_branch(policy.branches.size());
  std::vector<uint64_t> queued(policy.branches.size());
  uint64_t all_queued = 0;
  for (size_t position = 0; position < classes.size(); ++position) {
    const ShaperPolicy::Leaf& leaf = policy.leaves[position];
    const PassBytes sent = since(before.sent[position], now.sent[position]);
    Json row = row_of(process, now, leaf.bandwidth, sent, now.queued_bytes[position], seconds);
    row["class"] = classes[position].name;
    row["weight"] = leaf.weight;
    add(of_port, sent);
    all_queued += now.queued_bytes[position];
    if (leaf.branch != kNoBranch) {
      row["branch"] = policy.branches[leaf.branch].name;
      add(of_branch[leaf.branch], sent);
      queued[leaf.branch] += now.queued_bytes[position];
    }
    rows.push_back(std::move(row));
  }
  for (size_t branch = 0; branch < policy.branches.size(); ++branch) {
    rows.push_back(row_of(process, now, policy.branches[branch].bandwidth, of_branch[branch], queued[branch], seconds));
    rows.back()["branch"] = policy.branches[branch].name;
  }
  const uint64_t rate_bps = description(process, *now.node).ports[now.port].rate_bps;
  const ShaperPolicy::Bandwidth port{.maximum_bps = policy.maximum_bps != 0 ? policy.maximum_bps : rate_bps};
  rows.push_back(row_of(process, now, port, of_port, all_queued, seconds));
}

}  // namespace

std::function<Json()> show_shapers(const SwitchProcess& process, const ShowRequest& request) {
  auto earlier = std::make_shared<std::vector<ShapedPort>>(sample(process, request));
  return [&process, request, earlier, began_ns = monotonic_now()] {
    const std::vector<ShapedPort> ports = sample(process, request);
    const double seconds = std::max(1e-3, static_cast<double>(monotonic_now() - began_ns) / 1e9);
    Json rows = Json::array();
    for (const ShapedPort& port : ports) {
      const auto same = [&port](const ShapedPort& one) { return one.node == port.node && one.port == port.port; };
      const auto before = std::find_if(earlier->begin(), earlier->end(), same);
      if (before != earlier->end()) add_rows(process, *before, port, seconds, rows);
    }
    return Json{{"interval_ms", static_cast<uint64_t>(seconds * 1000)}, {"shapers", std::move(rows)}};
  };
}

}  // namespace heddle
