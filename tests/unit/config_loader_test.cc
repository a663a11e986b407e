// SPDX-License-Identifier: Apache-2.0
// What good files become.
#include <gtest/gtest.h>

#include "config/budget.h"
#include "config/lab_file.h"
#include "config/memory_budget.h"
#include "config/node_file.h"
#include "config/topology_file.h"
#include "tests/unit/config_support.h"
#include "topology/topology_hash.h"

namespace heddle::config_loader_test {
namespace {

Topology topology_of(const std::string& text) {
  ConfigErrors errors;
  const auto topology = parse_topology(text, "t.yaml", errors);
  EXPECT_EQ(errors.text(), "");
  return topology.value_or(Topology());
}

TEST(TopologyFile, DefaultsAreThoseOfTheTypes) {
  const Topology topology = topology_of("name: x\nnodes: { a: { address: 5, ports: { p1: , p2: {} } } }\n");
  ASSERT_EQ(topology.nodes.size(), 1u);
  EXPECT_EQ(topology.name, "x");
  EXPECT_EQ(topology.nodes[0].address, 5);
  ASSERT_EQ(topology.nodes[0].ports.size(), 2u);
  EXPECT_EQ(topology.nodes[0].ports[1].name, "p2");
  EXPECT_FALSE(topology.nodes[0].ports[0].fabric);
  EXPECT_EQ(topology.nodes[0].ports[0].mtu_bytes, 1500);
  EXPECT_EQ(topology.nodes[0].ports[0].rate_bps, 0u);
  EXPECT_EQ(topology.nodes[0].ports[0].vlans.native, 1);
  EXPECT_FALSE(topology.nodes[0].ports[0].vlans.trunk);
  ASSERT_EQ(topology.classes.size(), 1u);
  EXPECT_EQ(topology.classes[0].pcp_set, 0xff);
  EXPECT_EQ(topology.classes[0].life_ns, 50 * kMillisecond);
  EXPECT_EQ(topology.settings.link_credits, FabricSettings().link_credits);
}

TEST(TopologyFile, LinksJoinPorts) {
  const Topology topology = topology_of(R"(
name: x
edge_mtu: 9000
nodes:
  a: { address: 1, ports: { e: , f: } }
  b: { address: 2, ports: { f: } }
links: [{ ends: ["b:f", "a:f"], rate: 2.5G }]
)");
  ASSERT_EQ(topology.links.size(), 1u);
  EXPECT_EQ(topology.links[0].ends[0].node_index, 1);
  const TopologyPort& port = topology.nodes[0].ports[1];
  EXPECT_TRUE(port.fabric);
  EXPECT_EQ(port.peer.node_index, 1);
  EXPECT_EQ(port.peer.port, 0);
  EXPECT_EQ(port.rate_bps, 2'500'000'000u);
  EXPECT_EQ(port.mtu_bytes, 9054);
  EXPECT_EQ(topology.nodes[1].ports[0].peer.port, 1);
  EXPECT_EQ(topology.nodes[0].ports[0].mtu_bytes, 9000);
}

TEST(TopologyFile, AFewNumbersDescribeAFabric) {
  const Topology topology = topology_of(R"(name: x
fabric: { leaves: 2, spines: 1, hosts: 2, rate: 10G, mtu: 1600, host_rate: 1G }
)");
  ASSERT_EQ(topology.nodes.size(), 3u);
  EXPECT_EQ(topology.nodes[0].name, "spine1");
  EXPECT_EQ(topology.nodes[1].name, "leaf1");
  for (uint16_t i = 0; i < 3; ++i) EXPECT_EQ(topology.nodes[i].address, i + 1);
  ASSERT_EQ(topology.links.size(), 2u);
  const std::vector<TopologyPort>& ports = topology.nodes[1].ports;
  const TopologyPort& up = ports[0];
  EXPECT_EQ(up.name, "u1");
  EXPECT_TRUE(up.fabric);
  EXPECT_EQ(up.rate_bps, 10'000'000'000u);
  EXPECT_EQ(up.mtu_bytes, 1600);
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_EQ(ports[1].name, "p1");
  EXPECT_FALSE(ports[1].fabric);
  EXPECT_EQ(ports[1].rate_bps, 1'000'000'000u);
}

TEST(TopologyFile, NodesBesideAFabricAndWhatDiffersInIt) {
  const Topology topology = topology_of(R"(name: x
fabric: { leaves: 2, spines: 1, hosts: 1 }
nodes:
  leaf2: { address: 1, ports: { p1: { vlan: 20 }, x1: {} } }
  extra: { address: 9, ports: { u1: {}, p1: {} } }
links:
  - { ends: ["leaf2:x1", "extra:u1"] }
)");
  ASSERT_EQ(topology.nodes.size(), 4u);
  EXPECT_EQ(topology.nodes[0].address, 2) << "the lowest that is free";
  EXPECT_EQ(topology.nodes[2].address, 1);
  EXPECT_EQ(topology.nodes[3].name, "extra");
  EXPECT_EQ(topology.nodes[2].ports[1].vlans.native, 20);
  EXPECT_EQ(topology.nodes[1].ports[1].vlans.native, 1);
  EXPECT_EQ(topology.nodes[2].ports[2].peer.node_index, 3);
  EXPECT_EQ(topology.links.size(), 3u);
}

TEST(TopologyFile, ALinkOfAFabricMayDiffer) {
  const Topology topology = topology_of(R"(name: x
fabric: { leaves: 2, spines: 2, hosts: 1, rate: 10G, mtu: 1600 }
links:
  - { ends: ["spine2:p1", "leaf1:u2"], rate: 1G, cost: 3 }
  - { ends: ["leaf2:u1", "spine1:p2"], overhead: 40 }
)");
  ASSERT_EQ(topology.links.size(), 4u) << "no link more";
  const auto port = [&](const char* node, const char* name) {
    for (uint16_t index = 0; index < topology.nodes.size(); ++index)
      if (topology.nodes[index].name == node)
        return topology.nodes[index].ports[static_cast<size_t>(topology.find_port(index, name))];
    return TopologyPort{};
  };
  for (const TopologyPort& slow : {port("leaf1", "u2"), port("spine2", "p1")}) {
    EXPECT_EQ(slow.rate_bps, 1'000'000'000u);
    EXPECT_EQ(slow.cost, 3);
    EXPECT_EQ(slow.mtu_bytes, 1600) << "as the others";
    EXPECT_TRUE(slow.fabric);
  }
  EXPECT_EQ(port("leaf2", "u1").overhead_bytes, 40);
  EXPECT_EQ(port("spine1", "p2").overhead_bytes, 40);
  EXPECT_EQ(port("leaf2", "u1").rate_bps, 10'000'000'000u);
  EXPECT_EQ(port("leaf1", "u1").rate_bps, 10'000'000'000u);
  EXPECT_EQ(port("leaf1", "u1").cost, 1);
}

TEST(TopologyFile, VlansOfPorts) {
  const Topology topology = topology_of(R"(
name: x
nodes:
  a: { address: 1, ports: { access: { vlan: 10 }, trunk: { trunk: [10, 20] }, tagged: { trunk: [10], native: 0 } } }
)");
  const auto& ports = topology.nodes[0].ports;
  EXPECT_TRUE(ports[0].vlans.member(10));
  EXPECT_FALSE(ports[0].vlans.member(1));
  EXPECT_TRUE(ports[1].vlans.member(1));
  EXPECT_TRUE(ports[1].vlans.member(20));
  EXPECT_TRUE(ports[1].vlans.trunk);
  EXPECT_FALSE(ports[2].vlans.member(1));
  EXPECT_TRUE(ports[2].vlans.member(10));
}

TEST(TopologyFile, ClassesSharePriorities) {
  const Topology topology = topology_of(R"(
name: x
settings: { life: 10ms }
classes:
  - { name: rest }
  - { name: voice, ftag: 7, pcp: [5], dscp: [46, 0], match: [ip, flow_label], life: 64us, flow_queue: 16k }
  - { name: cheap, flow_channels: false }
nodes: { a: { address: 1, ports: { p1: } } }
)");
  ASSERT_EQ(topology.classes.size(), 3u);
  EXPECT_EQ(topology.classes[0].pcp_set, 0xff & ~0x20);
  EXPECT_EQ(topology.classes[0].life_ns, 10 * kMillisecond);
  EXPECT_EQ(topology.classes[1].ftag, 7);
  EXPECT_EQ(topology.classes[1].pcp_set, 0x20);
  EXPECT_EQ(topology.classes[1].dscp_set, uint64_t{1} << 46 | 1);
  EXPECT_EQ(topology.classes[1].match, kMatchIp | kMatchFlowLabel);
  EXPECT_EQ(topology.classes[1].life_ns, 64'000u);
  EXPECT_EQ(topology.classes[1].flow_queue_bytes, 16384u);
  EXPECT_EQ(topology.classes[2].ftag, 2);
  EXPECT_EQ(topology.classes[2].pcp_set, 0);
  EXPECT_FALSE(topology.classes[2].flow_channels);
}

TEST(TopologyFile, EverySettingArrives) {
  const FabricSettings settings = topology_of(R"(
name: x
settings:
  { hello_interval: 1ms, hellos_missed: 3, probe_base: 2ms, credit_interval: 3ms, station_age: 4s, flow_ids: 5,
    link_credits: 600, input_drop_mark: 500, output_room: 8, orphans_max: 9, ack_records: 10, ack_idle: 11us,
    ack_busy: 12us, ack_hard: 13us }
nodes: { a: { address: 1, ports: { p1: } } }
)")
                                      .settings;
  EXPECT_EQ(settings.hello_interval_ns, 1 * kMillisecond);
  EXPECT_EQ(settings.hellos_missed, 3u);
  EXPECT_EQ(settings.probe_base_ns, 2 * kMillisecond);
  EXPECT_EQ(settings.credit_interval_ns, 3 * kMillisecond);
  EXPECT_EQ(settings.station_age_ns, 4 * kSecond);
  EXPECT_EQ(settings.flow_ids, 5u);
  EXPECT_EQ(settings.link_credits, 600u);
  EXPECT_EQ(settings.input_drop_mark_packets, 500u);
  EXPECT_EQ(settings.output_room_buffers, 8u);
  EXPECT_EQ(settings.orphans_max, 9u);
  EXPECT_EQ(settings.ack_records_max, 10u);
  EXPECT_EQ(settings.ack_idle_ns, 11 * kMicrosecond);
  EXPECT_EQ(settings.ack_busy_ns, 12 * kMicrosecond);
  EXPECT_EQ(settings.ack_hard_ns, 13 * kMicrosecond);
}

TEST(TopologyFile, LosslessBuffersDrainThroughTheSlowestPortInALife) {
  const auto credits_with = [](const std::string& rate) {
    return topology_of(
               "name: x\nclasses: [{ name: default, lossless: true }]\nnodes:\n"
               "  a: { address: 1, ports: { p1: { rate: " +
               rate +
               " }, p2: } }\n"
               "  b: { address: 2, ports: { p1: { rate: 1G }, p2: } }\n"
               "links: [{ ends: [\"a:p2\", \"b:p2\"] }]\n")
        .settings.lossless_credits;
  };
  EXPECT_EQ(credits_with("1G"), FabricSettings().lossless_credits);
  EXPECT_EQ(credits_with("1M"), 40u);  // 2 ports of the link, 1,538 bytes for a frame: 1 s takes 40.6 of each
}

TEST(TopologyFile, AnAliasStandsForWhatItNames) {
  const Topology topology =
      topology_of("name: x\nnodes:\n  a: { address: 1, ports: { p1: &host { vlan: 7 }, p2: *host } }\n");
  EXPECT_EQ(topology.nodes[0].ports[1].vlans.native, 7);
}

TEST(NodeFile, SeveralNodesOverInProcessLinks) {
  ConfigErrors errors;
  const auto process = load_node_file((test::source_root() / "config/node/all-in-one.yaml").string(), errors);
  ASSERT_TRUE(process) << errors.text();
  ASSERT_EQ(process->nodes.size(), 3u);
  const NodeProcess& spine = process->nodes[0];
  ASSERT_EQ(spine.ports.size(), 2u);
  EXPECT_EQ(spine.ports[0].device, "");
  EXPECT_EQ(spine.ports[0].impairment.delay_ns, 5 * kMicrosecond);
  EXPECT_EQ(spine.ports[1].impairment.delay_ns, 0u);
  const NodeProcess& leaf1 = process->nodes[1];
  EXPECT_EQ(leaf1.workers, 2u);
  EXPECT_EQ(leaf1.ports[1].device, "packet_socket0,iface=eth0");
  EXPECT_FALSE(leaf1.ports[1].complete_checksums) << "the kernel tells of each frame";
  EXPECT_TRUE(process->nodes[2].ports[2].complete_checksums) << "switched on";
  EXPECT_EQ(process->socket, "/run/heddle/rack1.sock");
  EXPECT_GE(process->buffers, buffers_needed(*process));
}

TEST(NodeFile, ChecksumsAreLookedAtWhereTheKernelLeavesThemOut) {
  ConfigErrors errors;
  const auto load = [](const std::string&, ConfigErrors& topology_errors) {
    return parse_topology("name: x\nnodes: { a: { address: 1, ports: { p1: , p2: , p3: , p4: } } }\n", "t.yaml",
                          topology_errors);
  };
  const auto process = parse_node_file(
      "topology: t.yaml\nnode: a\ndevices:\n  p1: \"net_af_packet0,iface=a\"\n  p2: \"net_af_xdp0,iface=b\"\n"
      "  p3: net_tap0\n  p4: { device: \"net_af_packet1,iface=c\", complete_checksums: false }\n",
      "n.yaml", load, errors);
  ASSERT_TRUE(process) << errors.text();
  const std::vector<PortDevice>& ports = process->nodes[0].ports;
  EXPECT_TRUE(ports[0].complete_checksums);
  EXPECT_TRUE(ports[1].complete_checksums);
  EXPECT_FALSE(ports[2].complete_checksums);
  EXPECT_FALSE(ports[3].complete_checksums) << "switched off";
}

TEST(NodeFile, OneNodeOnDevices) {
  ConfigErrors errors;
  const auto process = load_node_file((test::source_root() / "config/node/spine1.yaml").string(), errors);
  ASSERT_TRUE(process) << errors.text();
  ASSERT_EQ(process->nodes.size(), 1u);
  EXPECT_EQ(process->topology.nodes[process->nodes[0].node_index].name, "spine1");
  EXPECT_EQ(process->nodes[0].workers, 2u);
  EXPECT_EQ(process->threads, 2u);
  EXPECT_TRUE(process->poll);
  EXPECT_TRUE(process->huge_pages);
  EXPECT_EQ(process->memory_mb, 1024u);
  EXPECT_EQ(process->log_level, "warning");
  EXPECT_EQ(process->socket, "/run/heddle/spine1.sock");
  EXPECT_EQ(process->nodes[0].ports[1].device, "0000:03:00.1");
}

TEST(NodeFile, BothReadTheSameFabric) {
  ConfigErrors errors;
  const auto leaf = load_node_file((test::source_root() / "config/node/leaf1.yaml").string(), errors);
  const auto spine = load_node_file((test::source_root() / "config/node/spine1.yaml").string(), errors);
  ASSERT_TRUE(leaf && spine) << errors.text();
  EXPECT_EQ(topology_hash(leaf->topology), topology_hash(spine->topology));
}

TEST(NodeFile, DefaultsAreThoseOfTheType) {
  ConfigErrors errors;
  const auto load = [](const std::string&, ConfigErrors& topology_errors) {
    return parse_topology("name: x\nnodes: { a: { address: 1, ports: { p1: } } }\n", "t.yaml", topology_errors);
  };
  const auto process =
      parse_node_file("topology: t.yaml\nnode: a\ndevices: { p1: net_tap0 }\n", "n.yaml", load, errors);
  ASSERT_TRUE(process) << errors.text();
  const ProcessConfig defaults;
  EXPECT_EQ(process->threads, defaults.threads);
  EXPECT_FALSE(process->poll);
  EXPECT_EQ(process->memory_mb, defaults.memory_mb);
  EXPECT_EQ(process->buffers, defaults.buffers);
  EXPECT_EQ(process->receive_descriptors, defaults.receive_descriptors);
  EXPECT_EQ(process->match_entries, defaults.match_entries);
  EXPECT_EQ(process->log_level, defaults.log_level);
  EXPECT_GE(defaults.receive_descriptors, FabricSettings().link_credits + kDescriptorReserve);
}

LabConfig lab_of(const std::string& name) {
  ConfigErrors errors;
  const auto lab = load_lab((test::source_root() / "config/lab" / name).string(), errors);
  EXPECT_TRUE(lab) << errors.text();
  return lab.value_or(LabConfig());
}

TEST(LabFile, Demo) {
  const LabConfig lab = lab_of("demo.yaml");
  ASSERT_EQ(lab.topology.nodes.size(), 5u);
  ASSERT_EQ(lab.nodes.size(), 5u);
  ASSERT_EQ(lab.hosts.size(), 6u);
  EXPECT_EQ(lab.topology.nodes[0].address, 1);
  EXPECT_EQ(lab.topology.nodes[4].address, 5);
  EXPECT_EQ(lab.topology.links.size(), 6u);
  EXPECT_EQ(lab.topology.nodes[0].ports.size(), 3u);
  const LabInterface& h3 = lab.hosts[2].interfaces[0];
  EXPECT_EQ(lab.hosts[2].name, "h3");
  EXPECT_EQ(h3.name, "eth1");
  EXPECT_EQ(lab.topology.nodes[h3.node_index].name, "leaf2");
  EXPECT_EQ(lab.topology.nodes[h3.node_index].ports[h3.port].name, "p3");
  EXPECT_FALSE(lab.topology.nodes[h3.node_index].ports[h3.port].fabric);
  EXPECT_EQ(h3.address_v4, "10.0.0.3/24");
  EXPECT_EQ(h3.address_v6, "fd00::3/64");
}

TEST(LabFile, ALinkOfAFabricMayDiffer) {
  ConfigErrors errors;
  const auto lab = parse_lab(R"(name: x
topology:
  fabric: { leaves: 2, spines: 1, hosts: 1, rate: 100M, delay: 3ms }
  links:
    - { endpoints: ["leaf1:u1", "spine1:p1"], rate: 20M, loss: 1% }
)",
                             "lab.yaml", errors);
  ASSERT_EQ(errors.text(), "");
  ASSERT_EQ(lab->topology.links.size(), 2u);
  EXPECT_EQ(lab->topology.nodes[1].ports[0].rate_bps, 20'000'000u);
  for (const auto& port : {lab->nodes[1].ports[0], lab->nodes[0].ports[0]}) {
    EXPECT_EQ(port.impairment.delay_ns, 3 * kMillisecond) << "as the others";
    EXPECT_EQ(port.impairment.loss_ppm, 10'000u);
  }
  EXPECT_EQ(lab->topology.nodes[2].ports[0].rate_bps, 100'000'000u);
  EXPECT_EQ(lab->nodes[2].ports[0].impairment.loss_ppm, 0u);
}

TEST(LabFile, AFewNumbersDescribeAFabricAndItsHosts) {
  ConfigErrors errors;
  const auto lab = parse_lab(R"(name: x
topology:
  kinds: { switch: { workers: 2 }, host: { hostd: true } }
  fabric: { leaves: 2, spines: 1, hosts: 1, rate: 100M, host_rate: 50M, delay: 3ms, loss: 1% }
  nodes:
    leaf1: { kind: switch, workers: 1, ports: { p1: { vlan: 20 } } }
    h2-1: { kind: host, ipv4: 10.1.0.1/16, exec: ["true"] }
    h9: { kind: host, hostd: false }
  links:
    - { endpoints: ["h9:eth1", "spine1:p9"] }
)",
                             "lab.yaml", errors);
  ASSERT_EQ(errors.text(), "");
  ASSERT_EQ(lab->nodes.size(), 3u);
  EXPECT_EQ(lab->nodes[1].workers, 1u);
  EXPECT_EQ(lab->nodes[2].workers, 2u);
  const TopologyNode& leaf = lab->topology.nodes[1];
  ASSERT_EQ(leaf.ports.size(), 2u);
  EXPECT_EQ(leaf.ports[0].rate_bps, 100'000'000u);
  EXPECT_EQ(leaf.ports[1].rate_bps, 50'000'000u);
  EXPECT_EQ(leaf.ports[1].vlans.native, 20);
  EXPECT_EQ(lab->nodes[1].ports[0].impairment.delay_ns, 3 * kMillisecond);
  EXPECT_EQ(lab->nodes[1].ports[0].impairment.loss_ppm, 10'000u);
  EXPECT_EQ(lab->nodes[1].ports[1].impairment.delay_ns, 0u);
  ASSERT_EQ(lab->hosts.size(), 3u);
  EXPECT_EQ(lab->hosts[0].name, "h1-1");
  ASSERT_EQ(lab->hosts[0].interfaces.size(), 1u);
  EXPECT_EQ(lab->hosts[0].interfaces[0].name, "eth1");
  EXPECT_EQ(lab->hosts[0].interfaces[0].address_v4, "10.0.0.1/24");
  EXPECT_EQ(lab->hosts[1].interfaces[0].address_v4, "10.1.0.1/16");
  EXPECT_EQ(lab->hosts[1].exec, std::vector<std::string>{"true"});
  EXPECT_EQ(lab->hosts[2].interfaces[0].node_index, 0);
  EXPECT_TRUE(lab->hosts[0].hostd) << "planned";
  EXPECT_TRUE(lab->hosts[1].hostd) << "planned, with keys of its own";
  EXPECT_FALSE(lab->hosts[2].hostd);
}

TEST(LabFile, RingAndSingle) {
  EXPECT_EQ(lab_of("ring4.yaml").topology.links.size(), 4u);
  EXPECT_EQ(lab_of("ring4.yaml").hosts.size(), 4u);
  EXPECT_EQ(lab_of("single.yaml").topology.nodes.size(), 1u);
  EXPECT_EQ(lab_of("single.yaml").hosts.size(), 3u);
}

TEST(LabFile, ImpairmentsVlansAndKinds) {
  const LabConfig lab = lab_of("wan.yaml");
  ASSERT_EQ(lab.nodes.size(), 2u);
  for (const NodeProcess& node : lab.nodes) {
    EXPECT_EQ(node.ports[0].impairment.delay_ns, 5 * kMillisecond);
    EXPECT_EQ(node.ports[0].impairment.loss_ppm, 1000u);
    EXPECT_EQ(node.ports[1].impairment.delay_ns, 0u);
    EXPECT_FALSE(node.ports[0].complete_checksums);
    EXPECT_TRUE(node.ports[1].complete_checksums);
  }
  EXPECT_EQ(lab.nodes[0].workers, 2u);
  EXPECT_EQ(lab.nodes[1].workers, 1u);
  EXPECT_EQ(lab.topology.nodes[0].address, 100);
  EXPECT_EQ(lab.topology.nodes[1].address, 1);
  EXPECT_EQ(lab.topology.nodes[0].ports[0].rate_bps, 1'000'000'000u);
  EXPECT_EQ(lab.topology.nodes[0].ports[1].rate_bps, 100'000'000u);
  EXPECT_EQ(lab.topology.nodes[0].ports[1].vlans.native, 10);
  EXPECT_EQ(lab.hosts[1].interfaces[0].mac, 0x020000000002u);
  EXPECT_EQ(lab.hosts[3].interfaces[0].vlan, 20);
  EXPECT_EQ(lab.hosts[0].exec, (std::vector<std::string>{"ip link show"}));
  EXPECT_FALSE(lab.hosts[0].hostd);
  EXPECT_EQ(lab.hosts[2].exec, (std::vector<std::string>{"ip -brief address"}));
  ASSERT_EQ(lab.topology.stations.size(), 1u);
  EXPECT_EQ(lab.topology.stations[0].address.node, 1);
  EXPECT_EQ(lab.topology.stations[0].address.port, 1);
}

TEST(LabFile, TheProcessHasRoomForItsPorts) {
  const ProcessConfig process = lab_of("demo.yaml").process();
  EXPECT_GE(process.buffers, buffers_needed(process));
  EXPECT_GE(process.memory_mb, memory_needed_megabytes(process));
  EXPECT_GE(process.receive_descriptors, process.topology.settings.link_credits + kDescriptorReserve);
}

TEST(LabFile, NoAutomaticIpv6WhereAnMtuHasNoRoomForIt) {
  ConfigErrors errors;
  const auto lab = parse_lab(
      "name: x\nedge_mtu: 1280\ntopology:\n  nodes: { s: { kind: switch, ports: { p2: { mtu: 1279 } } }, h: { kind: "
      "host } }\n"
      "  links: [{ endpoints: [\"s:p1\", \"h:eth1\"] }, { endpoints: [\"s:p2\", \"h:eth2\"] }]\n",
      "l.yaml", errors);
  ASSERT_TRUE(lab) << errors.text();
  EXPECT_EQ(lab->hosts[0].interfaces[0].address_v6, "fd00::1/64");
  EXPECT_EQ(lab->hosts[0].interfaces[1].address_v6, "");
  EXPECT_EQ(lab->hosts[0].interfaces[1].address_v4, "10.0.0.2/24");
}

TEST(LabFile, SaysWhatFramesTakeOfLinks) {
  ConfigErrors errors;
  const auto lab = parse_lab(
      "name: x\ntopology:\n  nodes: { s: { kind: switch }, t: { kind: switch }, h: { kind: host } }\n"
      "  links: [{ endpoints: [\"s:p1\", \"h:eth1\"], overhead: 0 }, { endpoints: [\"s:p2\", \"t:p1\"], overhead: 38 "
      "}]\n",
      "l.yaml", errors);
  ASSERT_TRUE(lab) << errors.text();
  EXPECT_EQ(lab->topology.nodes[0].ports[0].overhead_bytes, 0);
  EXPECT_EQ(lab->topology.nodes[0].ports[1].overhead_bytes, 38);
  EXPECT_EQ(lab->topology.nodes[1].ports[0].overhead_bytes, 38);
}

TEST(LabFile, AddressesNone) {
  ConfigErrors errors;
  const auto lab = parse_lab(
      "name: x\naddresses: none\ntopology:\n  nodes: { s: { kind: switch }, h: { kind: host } }\n"
      "  links: [{ endpoints: [\"s:p1\", \"h:eth1\"] }]\n",
      "l.yaml", errors);
  ASSERT_TRUE(lab) << errors.text();
  EXPECT_EQ(lab->hosts[0].interfaces[0].address_v4, "");
  EXPECT_EQ(lab->hosts[0].interfaces[0].address_v6, "");
}

}  // namespace
}  // namespace heddle::config_loader_test
