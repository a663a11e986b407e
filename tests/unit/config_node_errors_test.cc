// SPDX-License-Identifier: Apache-2.0
// Each way in which a node file can be wrong, with the message it gets.
#include <gtest/gtest.h>

#include "config/node_file.h"
#include "config/topology_file.h"
#include "tests/unit/config_support.h"

namespace heddle::config_node_errors_test {
namespace {

using test::WrongFile;

//   h - leaf1 - spine1 - leaf2 - h      p1 of the leaves are fabric ports, p2 edge ports
const char kTopology[] = R"(
name: x
nodes:
  spine1: { address: 1, ports: { p1: , p2: } }
  leaf1: { address: 11, ports: { p1: , p2: } }
  leaf2: { address: 12, ports: { p1: , p2: } }
links:
  - ends: ["leaf1:p1", "spine1:p1"]
  - ends: ["leaf2:p1", "spine1:p2"]
)";

std::optional<ProcessConfig> parse(const std::string& text, ConfigErrors& errors, const std::string& fabric = "") {
  const auto load = [&](const std::string& path, ConfigErrors& topology_errors) {
    return parse_topology(kTopology + fabric, path, topology_errors);
  };
  return parse_node_file(test::without_first_newline(text), "etc/node.yaml", load, errors);
}

class NodeFileErrors : public testing::TestWithParam<WrongFile> {};

TEST_P(NodeFileErrors, SayWhereWhatAndWhatInstead) {
  ConfigErrors errors;
  EXPECT_FALSE(parse(GetParam().text, errors).has_value());
  EXPECT_EQ(errors.text(), test::without_first_newline(GetParam().messages));
}

// leaf1 on devices, as it should be, with more keys behind.
std::string leaf1(const std::string& rest) {
  return "topology: t.yaml\nnode: leaf1\ndevices: { p1: \"net_tap0\", p2: \"net_tap1\" }\n" + rest;
}

std::string leaf1_with(const std::string& p1, const std::string& p2) {
  return "topology: t.yaml\nnode: leaf1\ndevices:\n  p1: " + p1 + "\n  p2: " + p2 + "\n";
}

const WrongFile kProcess[] = {
    {"no_topology", "node: leaf1\n",
     "etc/node.yaml:1:1: topology: found nothing, allowed the path of a topology file\n"},
    {"no_node", "topology: t.yaml\n",
     "etc/node.yaml:1:1: node: found nothing, allowed a node of the topology, or nodes\n"},
    {"node_and_nodes", "topology: t.yaml\nnode: leaf1\nnodes: { leaf1: }\n",
     "etc/node.yaml:2:1: node: found both node and nodes, allowed one of them\n"},
    {"devices_beside_nodes",
     "topology: t.yaml\ndevices: {}\nnodes: { spine1: { devices: { p1: net_tap0, p2: net_tap1 } } }\n",
     "etc/node.yaml:2:1: devices: found the key beside nodes, allowed the key in each of nodes\n"},
    {"no_such_node", "topology: t.yaml\nnode: leaf7\n",
     "etc/node.yaml:2:1: node: found no node leaf7, allowed leaf1\n"},
    {"unknown_key", leaf1("sokcet: /run/x\n"), "etc/node.yaml:4:1: sokcet: found an unknown key, allowed socket\n"},
    {"idle", leaf1("idle: spin\n"), "etc/node.yaml:4:7: idle: found spin, allowed sleep or poll\n"},
    {"log_level", leaf1("log_level: loud\n"),
     "etc/node.yaml:4:12: log_level: found loud, allowed trace, debug, info, warning or error\n"},
    {"memory", leaf1("memory: 512\n"), "etc/node.yaml:4:9: memory: found 512, allowed 32M to 1024G bytes\n"},
    {"huge_pages", leaf1("huge_pages: 1\n"), "etc/node.yaml:4:13: huge_pages: found 1, allowed true or false\n"},
    {"socket", leaf1("socket: heddle.sock\n"),
     "etc/node.yaml:4:9: socket: found heddle.sock, allowed an absolute path, at most 107 bytes\n"},
    {"workers_above_ports", leaf1("workers: 3\n"), "etc/node.yaml:4:10: workers: found 3, allowed 1 to 2\n"},
    {"threads", leaf1("threads: 128\n"), "etc/node.yaml:4:10: threads: found 128, allowed 1 to 127\n"},
    {"threads_above_workers", leaf1("workers: 2\nthreads: 3\n"),
     "etc/node.yaml:5:10: threads: found 3, allowed up to 2, the number of workers\n"},
};

const WrongFile kDevices[] = {
    {"edge_port_without_device", "topology: t.yaml\nnode: leaf1\ndevices: { p1: net_tap0 }\n",
     "etc/node.yaml:3:1: devices.p2: found nothing, allowed a device for each edge port\n"},
    {"no_devices", "topology: t.yaml\nnode: leaf1\n", R"(
etc/node.yaml:2:1: node: found no device for p1, allowed a device, since spine1:p1 is in another process
etc/node.yaml:2:1: node: found no device for p2, allowed a device for each edge port
)"},
    {"peer_in_another_process", "topology: t.yaml\nnode: leaf1\ndevices: { p2: net_tap0 }\n",
     "etc/node.yaml:3:1: devices.p1: found nothing, allowed a device, since spine1:p1 is in another process\n"},
    {"peer_has_device", R"(
topology: t.yaml
nodes:
  leaf1: { devices: { p2: net_tap0 } }
  spine1: { devices: { p1: net_tap1, p2: net_tap2 } }
)",
     "etc/node.yaml:3:12: nodes.leaf1.devices.p1: found nothing, allowed a device, since spine1:p1 has one\n"},
    {"no_such_port", leaf1("").insert(sizeof("topology: t.yaml\nnode: leaf1\ndevices: {"), "p9: net_tap9, "),
     "etc/node.yaml:3:12: devices.p9: found no port p9 on leaf1, allowed p1 or p2\n"},
    {"device_twice", leaf1_with("\"net_tap0,iface=a\"", "\"net_tap0,iface=b\""),
     "etc/node.yaml:5:7: devices.p2: found net_tap0, which is at devices.p1, allowed another device\n"},
    {"interface_twice", leaf1_with("\"net_af_packet0,iface=eth1\"", "\"net_af_packet1,iface=eth1\""),
     "etc/node.yaml:5:7: devices.p2: found interface eth1, which is at devices.p1, allowed another interface\n"},
    {"device_with_space", leaf1_with("net_tap0", "\"net_tap1, iface=a\""),
     "etc/node.yaml:5:7: devices.p2: found \"net_tap1, iface=a\", allowed a device string without spaces\n"},
    {"device_of_no_kind", leaf1_with("eth0", "\"foo0,iface=eth0\""), R"(
etc/node.yaml:4:7: devices.p1: found eth0, allowed packet_socket0,iface=eth0 for the kernel interface of that name
etc/node.yaml:5:7: devices.p2: found "foo0,iface=eth0", allowed packet_socket0,iface=..., a PCI address or a virtual device of DPDK
)"},
    {"device_of_a_wrong_address", leaf1_with("\"0000:03:00.z\"", "packet_socket0"), R"(
etc/node.yaml:4:7: devices.p1: found "0000:03:00.z", allowed a PCI address, as in 0000:03:00.0
etc/node.yaml:5:7: devices.p2: found packet_socket0, allowed packet_socket0,iface=... (interface)
)"},
    {"unknown_group", leaf1("socket_group: nobodys-group\n"),
     "etc/node.yaml:4:15: socket_group: found nobodys-group, allowed a group of this machine, made by: groupadd "
     "--system "
     "nobodys-group\n"},
    {"device_list", leaf1_with("net_tap0", "[net_tap1]"),
     "etc/node.yaml:5:7: devices.p2: found a list, allowed a device string or a map\n"},
    {"device_key", leaf1_with("net_tap0", "{ device: net_tap1, dealy: 1ms }"),
     "etc/node.yaml:5:27: devices.p2.dealy: found an unknown key, allowed delay\n"},
    {"delay_on_device", leaf1_with("{ device: net_tap0, delay: 1ms }", "net_tap1"),
     "etc/node.yaml:4:27: devices.p1.delay: found the key on a device, allowed the key on in-process links\n"},
    {"loss", leaf1_with("{ device: net_tap0 }", "{ device: net_tap1, loss: 101% }"), R"(
etc/node.yaml:5:27: devices.p2.loss: found the key on a device, allowed the key on in-process links
etc/node.yaml:5:33: devices.p2.loss: found 101%, allowed 0% to 100%, in steps of 1ppm
)"},
};

const WrongFile kBudgets[] = {
    {"credits_above_receive_ring", leaf1("receive_descriptors: 1024\n"),
     "etc/node.yaml:4:22: receive_descriptors: found 1024, allowed 1088 or more (credits of the link 1024 and a "
     "reserve "
     "of 64)\n"},
    {"pool", leaf1("buffers: 6000\n"),
     "etc/node.yaml:4:10: buffers: found 6000, allowed 7680 or more (credits, rings and caches of all ports)\n"},
    {"memory_below_pool", leaf1("memory: 64M\n"),
     "etc/node.yaml:4:9: memory: found 64M, allowed 170M or more (32768 buffers of 2048 bytes, 262144 matches of each "
     "worker)\n"},
    {"memory_by_default", leaf1("buffers: 200000\n"),
     "etc/node.yaml:1:1: memory: found 512M, allowed 825M or more (200000 buffers of 2048 bytes, 262144 matches of "
     "each worker)\n"},
    {"memory_in_huge_pages", leaf1("memory: 64M\nhuge_pages: true\n"),
     "etc/node.yaml:4:9: memory: found 64M, allowed 123M or more (32768 buffers of 2048 bytes, 262144 matches of each "
     "worker)\n"},
    {"framecnt", leaf1_with("\"net_af_packet0,iface=a,framecnt=512\"", "\"net_af_packet1,iface=b,framecnt=512\""),
     "etc/node.yaml:4:7: devices.p1: found framecnt 512, allowed 1088 or more (credits of the link 1024 and a reserve "
     "of "
     "64)\n"},
};

INSTANTIATE_TEST_SUITE_P(Process, NodeFileErrors, testing::ValuesIn(kProcess), test::case_name);
INSTANTIATE_TEST_SUITE_P(Devices, NodeFileErrors, testing::ValuesIn(kDevices), test::case_name);
INSTANTIATE_TEST_SUITE_P(Budgets, NodeFileErrors, testing::ValuesIn(kBudgets), test::case_name);

TEST(NodeFileErrors, AfXdpFrameInOnePage) {
  ConfigErrors errors;
  const std::string text = leaf1_with("\"net_af_xdp0,iface=a\"", "\"net_af_xdp1,iface=b\"") + "memory: 1G\n";
  EXPECT_FALSE(parse(text, errors, "edge_mtu: 9000\n"));
  EXPECT_EQ(errors.text(), test::without_first_newline(R"(
etc/node.yaml:4:7: devices.p1: found MTU 9054, allowed up to 3482 (a frame of AF_XDP lies in one page)
etc/node.yaml:5:7: devices.p2: found MTU 9000, allowed up to 3478 (a frame of AF_XDP lies in one page)
)"));
}

TEST(NodeFileErrors, AfPacketFrameInItsSlot) {
  ConfigErrors errors;
  const std::string text =
      leaf1_with("\"net_af_packet0,iface=a,framesz=4096,blocksz=4096\"", "\"net_af_packet1,iface=b\"");
  EXPECT_FALSE(parse(text, errors, "edge_mtu: 3000\n"));
  EXPECT_EQ(errors.text(),
            "etc/node.yaml:5:7: devices.p2: found MTU 3000, allowed up to 1950 (framesz of the device)\n");
}

TEST(NodeFileErrors, DevicesOfDpdkHaveABound) {
  std::string topology = "name: x\nnodes:\n  s: { address: 1, ports: {", devices;
  for (int port = 1; port <= 34; ++port) {
    topology += " p" + std::to_string(port) + ": ,";
    const std::string device = port == 1 ? "packet_socket0,iface=a" : "net_tap" + std::to_string(port);
    devices += "  p" + std::to_string(port) + ": \"" + device + "\"\n";
  }
  topology.back() = '}';
  const auto load = [&](const std::string& path, ConfigErrors& errors) {
    return parse_topology(topology + " }\n", path, errors);
  };
  ConfigErrors errors;
  const std::string text = "topology: t.yaml\nnode: s\nbuffers: 400000\nmemory: 2G\ndevices:\n";
  EXPECT_FALSE(parse_node_file(text + devices, "etc/node.yaml", load, errors));
  EXPECT_EQ(errors.text(),
            "etc/node.yaml:39:8: devices.p34: found DPDK device number 33, allowed 32 of them in a process, and packet "
            "sockets\n");
}

TEST(NodeFileErrors, StationsOfTheTopologyFitTheTable) {
  std::string stations = "stations:\n";
  for (int i = 0; i < 600; ++i) {
    const std::string low = std::to_string(100 + i);
    stations += "  - { mac: \"02:00:00:00:0" + low.substr(0, 1) + ":" + low.substr(1) + "\", port: \"leaf1:p2\" }\n";
  }
  ConfigErrors errors;
  EXPECT_TRUE(parse(leaf1("station_entries: 1200\n"), errors, stations).has_value()) << errors.text();
  EXPECT_FALSE(parse(leaf1("station_entries: 1024\n"), errors, stations).has_value());
  EXPECT_EQ(errors.text(),
            "etc/node.yaml:4:18: station_entries: found 1024, allowed 1200 or more, twice the 600 stations of the "
            "topology file\n");
}

TEST(NodeFileErrors, OfTheTopologyStandUnderItsName) {
  ConfigErrors errors;
  EXPECT_FALSE(parse(leaf1("idle: spin\n"), errors, "edge_mtu: 5\n"));
  EXPECT_EQ(errors.text(), test::without_first_newline(R"(
etc/node.yaml:4:7: idle: found spin, allowed sleep or poll
etc/t.yaml:10:11: edge_mtu: found 5, allowed 576 to 9600
)"));
}

// 34 switches in a row, 32 links between each two of them, and a worker for each port.
TEST(NodeFileWorkers, AreSoManyInAProcessAtMost) {
  constexpr int kSwitches = 34, kLinks = 32;
  std::string topology = "name: x\nnodes:\n", links, node = "topology: t.yaml\nnodes:\n";
  for (int at = 0; at < kSwitches; ++at) {
    const std::string name = "s" + std::to_string(at);
    const int ports = at == 0 || at + 1 == kSwitches ? kLinks : 2 * kLinks;
    std::string names;
    for (int link = 0; link < kLinks; ++link) {
      if (at != 0) names += "l" + std::to_string(link) + ": , ";
      if (at + 1 != kSwitches) names += "r" + std::to_string(link) + ": , ";
    }
    topology += "  " + name + ": { address: " + std::to_string(at + 1) + ", ports: { " + names + "} }\n";
    node += "  " + name + ": { workers: " + std::to_string(ports) + " }\n";
    for (int link = 0; at + 1 < kSwitches && link < kLinks; ++link)
      links += "  - ends: [\"" + name + ":r" + std::to_string(link) + "\", \"s" + std::to_string(at + 1) + ":l" +
               std::to_string(link) + "\"]\n";
  }
  ConfigErrors errors;
  const auto load = [&](const std::string& path, ConfigErrors& topology_errors) {
    return parse_topology(topology + "links:\n" + links, path, topology_errors);
  };
  EXPECT_FALSE(parse_node_file(node, "etc/node.yaml", load, errors));
  EXPECT_NE(errors.text().find("found 2112 workers of all its nodes, allowed up to 2048 in a process"),
            std::string::npos)
      << errors.text();
}

}  // namespace
}  // namespace heddle::config_node_errors_test
