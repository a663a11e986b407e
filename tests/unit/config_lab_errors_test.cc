// SPDX-License-Identifier: Apache-2.0
// Each way in which a lab file can be wrong, with the message it gets. What it has in common with the topology file is
// tested there.
#include <gtest/gtest.h>

#include "config/lab_file.h"
#include "tests/unit/config_support.h"

namespace heddle::config_lab_errors_test {
namespace {

using test::WrongFile;

class LabErrors : public testing::TestWithParam<WrongFile> {};

TEST_P(LabErrors, SayWhereWhatAndWhatInstead) {
  ConfigErrors errors;
  EXPECT_FALSE(parse_lab(test::without_first_newline(GetParam().text), "lab.yaml", errors).has_value());
  EXPECT_EQ(errors.text(), test::without_first_newline(GetParam().messages));
}

// Two switches and two hosts, each linked; `rest` begins in the list of links.
std::string lab(const std::string& rest, const std::string& h2 = "{ kind: host }") {
  return "name: x\ntopology:\n  nodes:\n    s1: { kind: switch, ports: { p2: { trunk: [10] } } }\n    s2: { kind: "
         "switch }\n"
         "    h1: { kind: host }\n    h2: " +
         h2 +
         "\n  links:\n    - endpoints: [\"s1:p1\", \"s2:p1\"]\n    - endpoints: [\"h1:eth1\", \"s1:p2\"]\n"
         "    - endpoints: [\"h2:eth1\", \"s1:p3\"]\n" +
         rest;
}

const WrongFile kLabLinks[] = {
    {"no_topology", "name: x\n",
     R"(
lab.yaml:1:1: topology: found nothing, allowed a map of kinds, nodes and links
)"},
    {"no_switch", "name: x\ntopology: { nodes: { h1: { kind: host } } }\n", R"(
lab.yaml:2:20: topology.nodes: found no switch, allowed 1 or more
lab.yaml:2:22: topology.nodes.h1: found a host without link, allowed 1 or more links
)"},
    {"kind", lab("", "{ kind: router }"), R"(
lab.yaml:7:17: topology.nodes.h2.kind: found router, allowed switch or host
)"},
    {"no_kind", lab("", "{}"), R"(
lab.yaml:7:5: topology.nodes.h2.kind: found nothing, allowed switch or host
)"},
    {"two_hosts", lab("    - endpoints: [\"h1:eth2\", \"h2:eth2\"]\n"),
     "lab.yaml:12:30: topology.links[3].endpoints[1]: found two hosts, allowed a switch at one end\n"},
    {"one_endpoint", lab("    - endpoints: [\"s1:p4\"]\n"),
     "lab.yaml:12:18: topology.links[3].endpoints: found 1 endpoint, allowed 2, as in [leaf1:p1, spine1:p1]\n"},
    {"no_such_node", lab("    - endpoints: [\"s1:p4\", \"h7:eth1\"]\n"),
     "lab.yaml:12:28: topology.links[3].endpoints[1]: found no node h7, allowed h1\n"},
    {"interface_twice", lab("    - endpoints: [\"h1:eth1\", \"s2:p2\"]\n"),
     "lab.yaml:12:19: topology.links[3].endpoints[0]: found h1:eth1, which is in topology.links[1].endpoints[0], "
     "allowed one link for each interface\n"},
    {"port_twice", lab("    - endpoints: [\"s1:p2\", \"s2:p2\"]\n"),
     "lab.yaml:12:19: topology.links[3].endpoints[0]: found s1:p2, which is in topology.links[1].endpoints[1], "
     "allowed one link for each port\n"},
    {"loss_at_host", lab("    - { endpoints: [\"h2:eth2\", \"s1:p4\"], loss: 1% }\n"),
     "lab.yaml:12:42: topology.links[3].loss: found the key on a host's link, allowed the key between "
     "switches\n"},
    {"delay", lab("    - { endpoints: [\"s1:p4\", \"s2:p4\"], delay: 20s }\n"),
     "lab.yaml:12:47: topology.links[3].delay: found 20s, allowed 0ns to 10s\n"},
    {"mtu_at_host", lab("    - { endpoints: [\"h2:eth2\", \"s1:p4\"], mtu: 9000 }\n"),
     "lab.yaml:12:47: topology.links[3].mtu: found 9000, allowed 576 to 1500\n"},
    {"port_without_link",
     "name: x\ntopology:\n  nodes:\n    s1: { kind: switch, ports: { p9: { vlan: 3 } } }\n"
     "    h1: { kind: host }\n  links:\n    - endpoints: [\"h1:eth1\", \"s1:p1\"]\n",
     "lab.yaml:4:34: topology.nodes.s1.ports.p9: found a port without link, allowed ports that links name\n"},
};

const WrongFile kHosts[] = {
    {"ipv4", lab("", "{ kind: host, ipv4: 10.0.0.300/24 }"),
     "lab.yaml:7:29: topology.nodes.h2.ipv4: found 10.0.0.300/24, allowed an IPv4 address with prefix length, as in "
     "10.0.0.1/24\n"},
    {"ipv6", lab("", "{ kind: host, ipv6: \"fd00::1\" }"),
     "lab.yaml:7:29: topology.nodes.h2.ipv6: found \"fd00::1\", allowed an IPv6 address with prefix length, as in "
     "fd00::1/64\n"},
    {"ipv6_mtu", lab("edge_mtu: 1000\n", "{ kind: host, ipv6: \"fd00::1/64\" }"),
     "lab.yaml:7:29: topology.nodes.h2.ipv6: found \"fd00::1/64\", allowed IPv6 with an MTU of 1280 or more\n"},
    {"host_switch",
     "name: x\ntopology:\n  nodes:\n    s1: { kind: switch }\n    switch: { kind: host }\n"
     "  links:\n    - endpoints: [\"switch:eth1\", \"s1:p1\"]\n",
     "lab.yaml:5:5: topology.nodes.switch: found this name, allowed other names: the namespace of the switches has "
     "it\n"},
    {"loopback", lab("    - endpoints: [\"h2:lo\", \"s1:p4\"]\n"),
     "lab.yaml:12:19: topology.links[3].endpoints[0]: found h2:lo, allowed other names of interfaces: the kernel "
     "has lo, all or default\n"},
    {"long_vlan_interface",
     "name: x\ntopology:\n  nodes:\n    s1: { kind: switch, ports: { p1: { trunk: [10] }, p2: { trunk: [10] } } }\n"
     "    h1: { kind: host, vlan: 10 }\n    h2: { kind: host, vlan: 10 }\n"
     "  links:\n    - endpoints: [\"h1:twelve_bytes\", \"s1:p1\"]\n    - endpoints: [\"h2:thirteenbytes\", "
     "\"s1:p2\"]\n",
     "lab.yaml:6:29: topology.nodes.h2.vlan: found thirteenbytes.10 for its interface, allowed names of at most 15 "
     "bytes\n"},
    {"ipv4_twice", lab("", "{ kind: host, ipv4: 10.0.0.1/16 }"),
     "lab.yaml:7:29: topology.nodes.h2.ipv4: found 10.0.0.1, which is at topology.links[1].endpoints[0], allowed "
     "each address once\n"},
    {"vlan_not_carried", lab("", "{ kind: host, vlan: 10 }"),
     "lab.yaml:7:29: topology.nodes.h2.vlan: found 10, allowed a VLAN in the trunk of s1:p3\n"},
    {"interface_without_link", lab("", "{ kind: host, interfaces: { eth0: } }"),
     "lab.yaml:7:37: topology.nodes.h2.interfaces.eth0: found an interface without link, allowed eth1\n"},
    {"address_beside_interfaces", lab("", "{ kind: host, vlan: 3, interfaces: { eth1: } }"),
     "lab.yaml:7:23: topology.nodes.h2.vlan: found the key beside several interfaces, allowed the key in each of "
     "interfaces\n"},
    {"host_key", lab("", "{ kind: host, workers: 3 }"),
     "lab.yaml:7:23: topology.nodes.h2.workers: found an unknown key, allowed kind, ipv4, ipv6, mac, vlan, "
     "interfaces, exec or hostd\n"},
    {"hostd", lab("", "{ kind: host, hostd: eth1 }"),
     "lab.yaml:7:30: topology.nodes.h2.hostd: found eth1, allowed true or false\n"},
    {"exec", lab("", "{ kind: host, exec: ip link }"),
     "lab.yaml:7:29: topology.nodes.h2.exec: found ip link, allowed a list of commands\n"},
    {"driver", lab("driver: veth\n"), "lab.yaml:12:9: driver: found veth, allowed af_packet or af_xdp\n"},
    {"af_xdp_page", lab("driver: af_xdp\nedge_mtu: 4000\n"),
     "lab.yaml:13:11: edge_mtu: found 4000, allowed up to 3478 (a frame of AF_XDP lies in one page)\n"},
    {"threads", lab("threads: 3\n"), "lab.yaml:12:10: threads: found 3, allowed up to 2, the number of workers\n"},
    {"threads_of_dpdk", lab("threads: 128\n"), "lab.yaml:12:10: threads: found 128, allowed 1 to 127\n"},
    {"top_level_nodes", lab("nodes: {}\n"),
     "lab.yaml:12:1: nodes: found an unknown key, allowed name, edge_mtu, settings, classes, stations, addresses, "
     "driver, threads or topology\n"},
};

const WrongFile kFabrics[] = {
    {"kind_of_a_planned_node",
     "name: x\ntopology:\n  fabric: { leaves: 2, spines: 1, hosts: 1 }\n  nodes: { leaf1: { kind: host }, h1-1: { "
     "kind: "
     "switch } }\n",
     "lab.yaml:4:27: topology.nodes.leaf1.kind: found host, allowed switch, as in the fabric\n"
     "lab.yaml:4:49: topology.nodes.h1-1.kind: found switch, allowed host, as in the fabric\n"},
    {"key_of_a_scenario", "name: x\ntopology:\n  fabric: { leaves: 2, spines: 1, hosts: 1, workers: 2 }\n",
     "lab.yaml:3:45: topology.fabric.workers: found an unknown key, allowed routers\n"},
    {"more_hosts_than_addresses", "name: x\ntopology: { fabric: { leaves: 10, spines: 1, hosts: 30 } }\n",
     "lab.yaml:2:21: topology.fabric: found an interface too many, allowed 254 with automatic addresses\n"},
};
INSTANTIATE_TEST_SUITE_P(Fabrics, LabErrors, testing::ValuesIn(kFabrics), test::case_name);

INSTANTIATE_TEST_SUITE_P(Links, LabErrors, testing::ValuesIn(kLabLinks), test::case_name);
INSTANTIATE_TEST_SUITE_P(Hosts, LabErrors, testing::ValuesIn(kHosts), test::case_name);

}  // namespace
}  // namespace heddle::config_lab_errors_test
