// SPDX-License-Identifier: Apache-2.0
// The hash that both ends of a link compare (K1) is of everything that a file says.
#include "topology/topology_hash.h"

#include <gtest/gtest.h>

#include <concepts>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "topology/fields.h"

namespace heddle::topology_hash_test {
namespace {

// Two leaves with a host each, and a link between them. Whatever can be there is.
Topology pair() {
  Topology topology;
  topology.name = "pair";
  for (uint16_t i = 0; i < 2; ++i) {
    TopologyNode node{std::string("leaf").append(std::to_string(i)), static_cast<uint16_t>(i + 1), {}};
    node.ports.resize(2);
    node.ports[0].name = "host";
    node.ports[1].name = "peer";
    node.ports[1].fabric = true;
    node.ports[1].peer = {static_cast<uint16_t>(1 - i), 1};
    topology.nodes.push_back(node);
  }
  topology.links.push_back({{{0, 1}, {1, 1}}});
  topology.classes.resize(2);
  topology.classes[1] = {.name = "storage", .ftag = 1, .lossless = true, .pcp_set = 8};
  topology.stations.push_back({.mac = 0x020000000001, .vlan = 1, .address = {0, 0}});
  return topology;
}

void change(bool& value) { value = !value; }
void change(std::integral auto& value) { ++value; }
void change(PortIndex& value) { ++value; }
void change(std::string& value) { value += "x"; }
void change(PathPolicy& value) { value = PathPolicy::fixed; }

// Hashes of changed topologies, and which change each was: all differ from each other and from the first one.
class Hashes {
 public:
  explicit Hashes(const Topology& topology) { add("none", topology); }
  void add(const std::string& change_name, const Topology& topology) {
    const auto [other, is_new] = names_.emplace(topology_hash(topology), change_name);
    EXPECT_TRUE(is_new) << "change " << change_name << " has the hash of change " << other->second;
  }

 private:
  std::map<uint64_t, std::string> names_;
};

// Each field of what `part` gives of a topology, changed alone.
template <typename Owner>
void change_each_field(Hashes& hashes, const std::string& name, const std::function<Owner&(Topology&)>& part) {
  for_each_field<Owner>([&](const auto& field) {
    Topology topology = pair();
    change(part(topology).*field.member);
    hashes.add(name + std::string(field.key), topology);
  });
}

TEST(TopologyHash, IsTheSameForTheSameAndOnEveryMachine) {
  EXPECT_EQ(topology_hash(pair()), topology_hash(pair()));
  EXPECT_EQ(topology_hash(Topology()), 0xc59b6de782204070ull);  // changes only with the fields that it is of
}

TEST(TopologyHash, TellsEveryFieldApart) {
  Hashes hashes(pair());
  change_each_field<FabricSettings>(hashes, "settings.",
                                    [](Topology& topology) -> FabricSettings& { return topology.settings; });
  for (size_t i = 0; i < pair().classes.size(); ++i) {
    change_each_field<TrafficClass>(hashes, std::string("class").append(std::to_string(i)).append("."),
                                    [i](Topology& topology) -> TrafficClass& { return topology.classes[i]; });
  }
}

// Does not compile with another field: it wants its line below.
[[maybe_unused]] void all_fields(const TopologyPort& port) {
  [[maybe_unused]] const auto& [name, fabric, rate, overhead, mtu, peer, cost, vlans, reserved, flood, stations,
                                control, default_class, classes, police, burst] = port;
}

TEST(TopologyHash, TellsPortsApart) {
  const std::vector<void (*)(TopologyPort&)> changes = {
      [](TopologyPort& port) { change(port.name); },
      [](TopologyPort& port) { change(port.fabric); },
      [](TopologyPort& port) { change(port.rate_bps); },
      [](TopologyPort& port) { change(port.overhead_bytes); },
      [](TopologyPort& port) { change(port.mtu_bytes); },
      [](TopologyPort& port) { change(port.peer.node_index); },
      [](TopologyPort& port) { change(port.peer.port); },
      [](TopologyPort& port) { change(port.cost); },
      [](TopologyPort& port) { change(port.vlans.native); },
      [](TopologyPort& port) { change(port.vlans.trunk); },
      [](TopologyPort& port) { port.vlans.tagged.set(2); },
      [](TopologyPort& port) { port.vlans.tagged.set(3); },
      [](TopologyPort& port) { change(port.forward_reserved); },
      [](TopologyPort& port) { change(port.flood_frames_per_second); },
      [](TopologyPort& port) { change(port.stations_max); },
      [](TopologyPort& port) { port.flow_control = HostFlowControl::off; },
      [](TopologyPort& port) { port.flow_control = HostFlowControl::pause; },
      [](TopologyPort& port) { port.default_class = 0; },
      [](TopologyPort& port) { port.allowed_classes = 1; },
      [](TopologyPort& port) { port.police_bps = 1'000'000; },
      [](TopologyPort& port) { port.police_burst_bytes = 16'384; },
  };
  Hashes hashes(pair());
  for (size_t i = 0; i < changes.size(); ++i) {
    for (size_t node = 0; node < 2; ++node) {
      Topology topology = pair();
      changes[i](topology.nodes[node].ports[1]);
      hashes.add(std::to_string(i) + " at node " + std::to_string(node), topology);
    }
  }
}

TEST(TopologyHash, TellsTheRestApart) {
  const std::vector<void (*)(Topology&)> changes = {
      [](Topology& t) { change(t.name); },
      [](Topology& t) { change(t.edge_mtu_bytes); },
      [](Topology& t) { change(t.nodes[1].name); },
      [](Topology& t) { change(t.nodes[1].address); },
      [](Topology& t) { t.nodes.emplace_back(); },
      [](Topology& t) { t.nodes[1].ports.emplace_back(); },
      [](Topology& t) { change(t.links[0].ends[0].node_index); },
      [](Topology& t) { change(t.links[0].ends[0].port); },
      [](Topology& t) { change(t.links[0].ends[1].node_index); },
      [](Topology& t) { change(t.links[0].ends[1].port); },
      [](Topology& t) { t.links.pop_back(); },
      [](Topology& t) { t.links.emplace_back(); },
      [](Topology& t) { t.classes.emplace_back(); },
      [](Topology& t) { std::swap(t.classes[0], t.classes[1]); },
      [](Topology& t) { change(t.stations[0].mac); },
      [](Topology& t) { change(t.stations[0].vlan); },
      [](Topology& t) { change(t.stations[0].address.node); },
      [](Topology& t) { change(t.stations[0].address.port); },
      [](Topology& t) { t.stations.emplace_back(); },
  };
  Hashes hashes(pair());
  for (size_t i = 0; i < changes.size(); ++i) {
    Topology topology = pair();
    changes[i](topology);
    hashes.add(std::to_string(i), topology);
  }
}

}  // namespace
}  // namespace heddle::topology_hash_test
