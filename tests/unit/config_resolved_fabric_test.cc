// SPDX-License-Identifier: Apache-2.0
// What `heddle check --dump` prints means the same as the file that it is of.
#include <gtest/gtest.h>

#include "config/resolved_fabric.h"
#include "config/topology_file.h"
#include "topology/fields.h"
#include "topology/topology_hash.h"

namespace heddle::config_resolved_fabric_test {
namespace {

Topology read(const std::string& text) {
  ConfigErrors errors;
  const auto topology = parse_topology(text, "t.yaml", errors);
  EXPECT_EQ(errors.text(), "") << text;
  return topology.value_or(Topology());
}

const std::string kRest =
    "name: x\nnodes:\n  a: { address: 1, ports: { p1: { rate: 10M }, p2: } }\n  b: { address: 2, ports: { p1: , p2: } "
    "}\n"
    "links: [{ ends: [\"a:p2\", \"b:p2\"] }]\n";

TEST(ResolvedFabric, MeansTheSame) {
  for (const char* given :
       {"", "settings: { life: 10ms, ack_idle: 11us, flow_ids: 5 }\n",
        "classes: [{ name: \"null\", match: [mac], pcp: [0, 1, 2, 3, 4, 5, 6, 7], flow_queue: 20k }, { name: \"7\", "
        "ftag: 9 }]\n",
        // Lives, credits and priorities that come from other keys.
        "settings: { life: 64us }\nclasses:\n  - { name: a, ecn: true, congestion_control: false }\n"
        "  - { name: b, lossless: true, link_retry: false, flow_credits: false, dscp: [0, 63], pcp: [3] }\n"
        "  - { name: c, flow_channels: false, life: 1500us, match: [flow_label] }\n"}) {
    const Topology topology = read(kRest + given);
    const std::string resolved = resolved_fabric(topology);
    const Topology again = read(kRest + resolved);
    EXPECT_EQ(topology_hash(again), topology_hash(topology)) << given << "became\n" << resolved;
    EXPECT_EQ(resolved_fabric(again), resolved);
  }
}

TEST(ResolvedFabric, HasEveryFieldThatIsMeant) {
  Topology topology;
  topology.classes.resize(2);
  topology.classes[1].lossless = true;
  topology.classes[1].rewrite_dscp = topology.classes[1].rewrite_pcp = 0;
  const std::string text = resolved_fabric(topology);
  const auto count = [&](const std::string& part) {
    size_t found = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  for (std::string_view key : keys_of<FabricSettings>()) EXPECT_EQ(count("\n  " + std::string(key) + ": "), 1u) << key;
  for (std::string_view key : keys_of<TrafficClass>()) {
    if (key == "name") continue;
    const bool once = key == "link_retry" || key.starts_with("rewrite_");
    EXPECT_EQ(count("\n    " + std::string(key) + ": "), once ? 1u : 2u) << key;
  }
  EXPECT_EQ(count("\n  - name: \"default\"\n"), 2u);
}

}  // namespace
}  // namespace heddle::config_resolved_fabric_test
