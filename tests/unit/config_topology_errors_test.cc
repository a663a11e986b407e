// SPDX-License-Identifier: Apache-2.0
// Each way in which a topology file can be wrong, with the message it gets.
#include <gtest/gtest.h>

#include "config/topology_file.h"
#include "tests/unit/config_support.h"

namespace heddle::config_topology_errors_test {
namespace {

using test::WrongFile;

class TopologyErrors : public testing::TestWithParam<WrongFile> {};

TEST_P(TopologyErrors, SayWhereWhatAndWhatInstead) {
  ConfigErrors errors;
  const auto topology = parse_topology(test::without_first_newline(GetParam().text), "topology.yaml", errors);
  EXPECT_FALSE(topology.has_value());
  EXPECT_EQ(errors.text(), test::without_first_newline(GetParam().messages));
}

const WrongFile kFabrics[] = {
    {"size_missing", "name: x\nfabric: { leaves: 3 }\nnodes: { leaf1: {} }\n",
     "topology.yaml:2:1: fabric.spines: found nothing, allowed how many\n"},
    {"of_another_kind", "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1, radix: 4 }\n",
     "topology.yaml:2:43: fabric.radix: found the key in a leaf-spine, allowed leaves, spines or hosts\n"},
    {"no_map", "name: x\nfabric: []\n", "topology.yaml:2:9: fabric: found a list, allowed a map\n"},
    {"of_a_lab", "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1, delay: 1ms }\n",
     "topology.yaml:2:43: fabric.delay: found an unknown key, allowed kind, leaves, spines, hosts, radix, groups, "
     "routers, globals, dimensions, rate, mtu or host_rate\n"},
    {"wrong_for_many_links", "name: x\nfabric: { leaves: 3, spines: 2, hosts: 2, rate: abc }\n",
     "topology.yaml:2:49: fabric.rate: found abc, allowed 1k to 1T bits per second\n"},
    {"key_of_a_host_on_a_link",
     "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1 }\nnodes: { leaf1: { ports: { u1: { vlan: 3 } } } }\n",
     "topology.yaml:3:34: nodes.leaf1.ports.u1.vlan: found the key on a port of a link, allowed the key on edge "
     "ports\n"},
    {"key_of_a_link_on_its_port",
     "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1 }\nnodes: { leaf1: { ports: { u1: { overhead: 3 } } } }\n",
     "topology.yaml:3:34: nodes.leaf1.ports.u1.overhead: found the key on a port of a link, allowed the key on the "
     "link itself\n"},
    {"two_addresses",
     "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1 }\nnodes: { leaf1: { address: 5 }, leaf2: { address: 5 } }\n",
     "topology.yaml:3:51: nodes.leaf2.address: found 5, the address of leaf1, allowed one that no other node has\n"},
    {"rate_of_no_host", "name: x\nfabric: { leaves: 2, spines: 1, hosts: 0, host_rate: abc }\nnodes: {}\n",
     "topology.yaml:2:54: fabric.host_rate: found abc, allowed 1k to 1T bits per second\n"},
    {"link_that_differs_twice",
     "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1 }\nlinks:\n  - ends: [\"leaf1:u1\", \"spine1:p1\"]\n  - ends: "
     "[\"spine1:p1\", \"leaf1:u1\"]\n",
     "topology.yaml:5:12: links[1].ends[0]: found spine1:p1, which is in links[0].ends[1], allowed one link for each "
     "port\n"
     "topology.yaml:5:25: links[1].ends[1]: found leaf1:u1, which is in links[0].ends[0], allowed one link for each "
     "port\n"},
    {"link_between_ports_of_others",
     "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1 }\nlinks: [{ ends: [\"leaf1:u1\", \"spine1:p2\"], rate: 1G "
     "}]\n",
     "topology.yaml:3:18: links[0].ends[0]: found leaf1:u1, which is in fabric, allowed one link for each port\n"
     "topology.yaml:3:30: links[0].ends[1]: found spine1:p2, which is in fabric, allowed one link for each port\n"},
    {"address_of_a_node_beside",
     "name: x\nfabric: { leaves: 2, spines: 1, hosts: 1 }\nnodes: { new: { ports: { p1: , u1: } } }\nlinks: [ { ends: "
     "[\"new:u1\", \"leaf1:p1\"] } ]\n",
     "topology.yaml:3:10: nodes.new.address: found nothing, allowed 1 to 65534\n"},
};
INSTANTIATE_TEST_SUITE_P(Fabrics, TopologyErrors, testing::ValuesIn(kFabrics), test::case_name);

const WrongFile kSyntax[] = {
    {"tab", "name: x\nnodes:\n\ta: { address: 1 }\n",
     "topology.yaml:3:1: found a tab, allowed spaces: YAML is not indented with tabs\n"},
    {"tab_elsewhere", "name: x\nnote: |\n  text\n  \tmore\nnodes: {}\nlinks: {}\nclasses: [a, b\n",
     "topology.yaml:8:1: found bad YAML (end of sequence flow not found), allowed YAML 1.2\n"},
    {"empty", "", "topology.yaml:1:1: found nothing, allowed a map with name, nodes and links\n"},
    {"not_yaml", R"(
name: x
nodes: [a, b
)",
     "topology.yaml:3:1: found bad YAML (end of sequence flow not found), allowed YAML 1.2\n"},
    {"not_a_map", "- a\n", "topology.yaml:1:1: found a list, allowed a map with name, nodes and links\n"},
    {"duplicate_key", R"(
name: x
nodes:
  a: { address: 1, ports: { p1: } }
  a: { address: 2, ports: { p1: } }
)",
     "topology.yaml:4:3: nodes.a: found the key a second time, allowed one, as on line 3\n"},
    {"list_as_key", R"(
? [a, b]
: 1
)",
     "topology.yaml:1:3: found a list or map as key, allowed a name\n"},
    {"tag", "name: !secret x\n", "topology.yaml:1:7: name: found tag !secret, allowed no tags\n"},
    {"several_documents", "name: x\n---\nname: y\n", "topology.yaml:1:1: found several documents, allowed one\n"},
    {"alias_of_itself", "nodes: &all { a: *all }\n",
     "topology.yaml:1:18: nodes.a: found an alias of what it stands in, allowed an alias of a finished "
     "value\n"},
    {"unknown_alias", "nodes: *nobody\n",
     "topology.yaml:1:8: found bad YAML (the referenced anchor is not defined), allowed YAML 1.2\n"},
    {"deep", "nodes: [[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]\n",
     "topology.yaml:1:23: nodes[0][0][0][0][0][0][0][0][0][0][0][0][0][0][0]: found deeper nesting, allowed "
     "16 levels\n"},
};

const WrongFile kNodes[] = {
    {"unknown_key_near", R"(
name: x
nodez: {}
nodes:
  a: { address: 1, ports: { p1: } }
)",
     "topology.yaml:2:1: nodez: found an unknown key, allowed nodes\n"},
    {"unknown_key_far", R"(
name: x
nodes:
  a: { address: 1, ports: { p1: }, weather: fine }
)",
     "topology.yaml:3:36: nodes.a.weather: found an unknown key, allowed address or ports\n"},
    {"link_retry_of_a_lossy_class", R"(
name: x
classes: [{ name: default, link_retry: true }]
nodes:
  a: { address: 1, ports: { p1: } }
)",
     "topology.yaml:2:40: classes[0].link_retry: found a class that is not lossless, allowed lossless: true beside "
     "it\n"},
    {"lossless_credits_that_do_not_drain", R"(
name: x
settings: { lossless_credits: 41 }
classes: [{ name: default, lossless: true }]
nodes:
  a: { address: 1, ports: { p1: { rate: 1M }, p2: } }
  b: { address: 2, ports: { p1: , p2: } }
links: [{ ends: ["a:p2", "b:p2"] }]
)",
     "topology.yaml:2:31: settings.lossless_credits: found 41, allowed at most 40, so that the slowest edge port "
     "(a:p1) drains all in a quarter of the longest life\n"},
    {"lossless_class_that_does_not_drain", R"(
name: x
classes: [{ name: default, lossless: true }]
nodes:
  a: { address: 1, ports: { p1: { rate: 300k }, p2: } }
  b: { address: 2, ports: { p1: , p2: } }
links: [{ ends: ["a:p2", "b:p2"] }]
)",
     "topology.yaml:2:1: classes: found a lossless class in a fabric whose slowest edge port (a:p1) drains no more "
     "than "
     "12 lossless_credits of each link in a quarter of the longest life, allowed one that drains 16\n"},
    {"no_name_no_nodes", "links: []\n", R"(
topology.yaml:1:1: name: found nothing, allowed a name of letters, digits, - and _, at most 31
topology.yaml:1:1: nodes: found nothing, allowed a map of nodes
)"},
    {"bad_name", R"(
name: "a fabric"
nodes:
  a:b: { address: 1, ports: { "p.1": } }
)",
     R"(
topology.yaml:1:7: name: found "a fabric", allowed a name of letters, digits, - and _, at most 31
topology.yaml:3:3: nodes.a:b: found this name, allowed letters, digits, - and _, at most 31
topology.yaml:3:31: nodes.a:b.ports.p.1: found this name, allowed letters, digits, - and _, at most 15
)"},
    {"address_zero", R"(
name: x
nodes:
  a:
    address: 0
    ports: { p1: }
)",
     "topology.yaml:4:14: nodes.a.address: found 0, allowed 1 to 65534\n"},
    {"address_of_all", R"(
name: x
nodes:
  a: { address: 65535, ports: { p1: } }
)",
     "topology.yaml:3:17: nodes.a.address: found 65535, allowed 1 to 65534\n"},
    {"address_as_text", R"(
name: x
nodes:
  a: { address: "1", ports: { p1: } }
)",
     "topology.yaml:3:17: nodes.a.address: found \"1\", allowed 1 to 65534\n"},
    {"address_missing", R"(
name: x
nodes:
  a: { ports: { p1: } }
)",
     "topology.yaml:3:3: nodes.a.address: found nothing, allowed 1 to 65534\n"},
    {"address_twice", R"(
name: x
nodes:
  a: { address: 7, ports: { p1: } }
  b: { address: 7, ports: { p1: } }
links:
  - ends: ["a:p1", "b:p1"]
)",
     "topology.yaml:4:17: nodes.b.address: found 7, the address of a, allowed one that no other node has\n"},
    {"node_without_ports", R"(
name: x
nodes:
  a: { address: 1 }
)",
     "topology.yaml:3:3: nodes.a: found a node without ports, allowed 1 to 64 ports\n"},
    {"edge_mtu_range", R"(
name: x
edge_mtu: 100
nodes:
  a: { address: 1, ports: { p1: } }
)",
     "topology.yaml:2:11: edge_mtu: found 100, allowed 576 to 9600\n"},
    {"unreachable", R"(
name: x
nodes:
  a: { address: 1, ports: { p1: } }
  b: { address: 2, ports: { p1: } }
  c: { address: 3, ports: { p1: } }
links:
  - ends: ["a:p1", "b:p1"]
)",
     "topology.yaml:5:3: nodes.c: found no path to a, allowed nodes that links connect\n"},
};

// Two nodes, with room for one link between them.
std::string two_nodes(const std::string& rest) {
  return "name: x\nnodes:\n  leaf1: { address: 1, ports: { p1: , p2: , p3: { vlan: 10 } } }\n"
         "  leaf2: { address: 2, ports: { p1: , p2: } }\n" +
         rest;
}

const WrongFile kLinks[] = {
    {"one_end", two_nodes("links:\n  - ends: [\"leaf1:p1\"]\n"),
     "topology.yaml:6:11: links[0].ends: found 1 end, allowed 2, as in [leaf1:p1, spine1:p1]\n"},
    {"no_ends", two_nodes("links:\n  - rate: 10G\n"),
     "topology.yaml:6:5: links[0].ends: found nothing, allowed 2, as in [leaf1:p1, spine1:p1]\n"},
    {"end_form", two_nodes("links:\n  - ends: [leaf1, \"leaf2:p1\"]\n"),
     "topology.yaml:6:12: links[0].ends[0]: found leaf1, allowed a node and a port, as in leaf1:p1\n"},
    {"end_node", two_nodes("links:\n  - ends: [\"leaf3:p1\", \"leaf2:p1\"]\n"),
     "topology.yaml:6:12: links[0].ends[0]: found no node leaf3, allowed leaf1\n"},
    {"end_port", two_nodes("links:\n  - ends: [\"leaf1:p9\", \"leaf2:p1\"]\n"),
     "topology.yaml:6:12: links[0].ends[0]: found no port p9 on leaf1, allowed p1, p2 or p3\n"},
    {"both_ends_on_one", two_nodes("links:\n  - ends: [\"leaf1:p1\", \"leaf1:p2\"]\n"),
     "topology.yaml:6:24: links[0].ends[1]: found both ends on leaf1, allowed two different nodes\n"},
    {"port_twice",
     two_nodes("links:\n  - ends: [\"leaf1:p1\", \"leaf2:p1\"]\n  - ends: [\"leaf1:p1\", \"leaf2:p2\"]\n"),
     "topology.yaml:7:12: links[1].ends[0]: found leaf1:p1, which is in links[0].ends[0], allowed one link "
     "for each port\n"},
    {"mtu_without_room", two_nodes("links:\n  - { ends: [\"leaf1:p1\", \"leaf2:p1\"], mtu: 1553 }\n"),
     "topology.yaml:6:44: links[0].mtu: found 1553, allowed 1554 to 16000 (edge MTU 1500 and the fabric "
     "header)\n"},
    {"rate_without_unit", two_nodes("links:\n  - { ends: [\"leaf1:p1\", \"leaf2:p1\"], rate: 1000 }\n"),
     "topology.yaml:6:45: links[0].rate: found 1000, allowed 1k to 1T bits per second\n"},
    {"vlan_on_fabric_port", two_nodes("links:\n  - ends: [\"leaf1:p3\", \"leaf2:p1\"]\n"),
     "topology.yaml:3:51: nodes.leaf1.ports.p3.vlan: found the key on a port of a link, allowed the key on "
     "edge ports\n"},
};

// One node whose port p1 has these settings.
std::string one_port(const std::string& settings) {
  return "name: x\nnodes:\n  a:\n    address: 1\n    ports:\n      p1: { " + settings + " }\n";
}

const WrongFile kPorts[] = {
    {"a_default_that_pfc_does_not_stop", R"(
name: x
classes: [{ name: bulk }, { name: storage, pcp: [3], lossless: true }]
nodes:
  a:
    address: 1
    ports:
      p1: { class: storage }
      p2: { class: storage, flow_control: pause }
      p3: { class: storage, classes: [storage], flow_control: pause }
      p4: { class: bulk, classes: [bulk, bulk] }
)",
     R"(
topology.yaml:7:13: nodes.a.ports.p1.class: found storage, which is lossless, for frames of other priorities, whom PFC does not stop, allowed `flow_control: pause` beside it, or a default class that is not lossless
topology.yaml:10:42: nodes.a.ports.p4.classes[1]: found the class a second time, allowed each once
)"},
    {"classes_and_policer", R"(
name: x
classes: [{ name: bulk }, { name: storage, pcp: [3] }]
nodes:
  a:
    address: 1
    ports:
      p1: { class: stroage }
      p2: { classes: [] }
      p3: { classes: [storage, bluk] }
      p4: { class: bulk, classes: [storage] }
      p5: { police_burst: 64k }
      p6: { police: 100k }
      p7: { police: 1G, police_burst: 1k }
)",
     R"(
topology.yaml:7:20: nodes.a.ports.p1.class: found no class stroage, allowed storage
topology.yaml:8:22: nodes.a.ports.p2.classes: found an empty list, allowed 1 or more classes
topology.yaml:9:22: nodes.a.ports.p3.classes: found classes without bulk, which frames have that name none, allowed that class among them, or one of them as `class` of the port
topology.yaml:9:32: nodes.a.ports.p3.classes[1]: found no class bluk, allowed bulk
topology.yaml:10:20: nodes.a.ports.p4.class: found classes without bulk, which frames have that name none, allowed that class among them, or one of them as `class` of the port
topology.yaml:11:13: nodes.a.ports.p5.police_burst: found a burst without a rate, allowed `police` beside it
topology.yaml:12:21: nodes.a.ports.p6.police: found 100k, allowed 1M to 1T bits per second
topology.yaml:13:39: nodes.a.ports.p7.police_burst: found 1k, allowed 16k to 64M bytes
)"},
    {"overhead_range", one_port("overhead: 256"),
     "topology.yaml:6:23: nodes.a.ports.p1.overhead: found 256, allowed 0 to 255\n"},
    {"vlan_range", one_port("vlan: 4095"),
     "topology.yaml:6:19: nodes.a.ports.p1.vlan: found 4095, allowed 1 to 4094\n"},
    {"vlan_and_trunk", one_port("vlan: 1, trunk: [2]"),
     "topology.yaml:6:13: nodes.a.ports.p1.vlan: found both vlan and trunk, allowed one of them\n"},
    {"native_alone", one_port("native: 5"),
     "topology.yaml:6:13: nodes.a.ports.p1.native: found native without trunk, allowed native on trunk ports, "
     "vlan on others\n"},
    {"native_in_trunk", one_port("trunk: [5, 6], native: 5"),
     "topology.yaml:6:21: nodes.a.ports.p1.trunk[0]: found 5, the native VLAN, allowed other VLANs\n"},
    {"trunk_vlan_twice", one_port("trunk: [5, 5]"),
     "topology.yaml:6:24: nodes.a.ports.p1.trunk[1]: found 5 a second time, allowed each VLAN once\n"},
    {"trunk_of_nothing", one_port("trunk: []"),
     "topology.yaml:6:20: nodes.a.ports.p1.trunk: found an empty list, allowed 1 or more VLANs\n"},
    {"trunk_no_list", one_port("trunk: 5"),
     "topology.yaml:6:20: nodes.a.ports.p1.trunk: found 5, allowed a list of VLANs\n"},
    {"port_mtu_above_edge_mtu", one_port("mtu: 9000"),
     "topology.yaml:6:18: nodes.a.ports.p1.mtu: found 9000, allowed 576 to 1500\n"},
    {"not_a_bool", one_port("forward_reserved: yes"),
     "topology.yaml:6:31: nodes.a.ports.p1.forward_reserved: found yes, allowed true or false\n"},
    {"number_too_long", one_port("stations_max: 99999999999999999999"),
     "topology.yaml:6:27: nodes.a.ports.p1.stations_max: found 99999999999999999999, allowed 1 to 1000000\n"},
};

// A good node, and something else.
std::string with_node(const std::string& rest) {
  return "name: x\nnodes:\n  a: { address: 1, ports: { p1: { vlan: 10 } } }\n" + rest;
}

const WrongFile kFabric[] = {
    {"duration_without_unit", with_node("settings: { hello_interval: 10 }\n"),
     "topology.yaml:4:29: settings.hello_interval: found 10, allowed 100us to 10s\n"},
    {"flow_ids_below_ports",
     "name: x\nsettings: { flow_ids: 1 }\nnodes: { a: { address: 1, ports: { p1: , p2: , p3: } } }\n",
     "topology.yaml:2:23: settings.flow_ids: found 1, allowed at least 2, so that at a each port can have one of each "
     "other port's\n"},
    {"flow_ids_below_channels",
     "name: x\nsettings: { flow_ids: 2 }\nclasses: [{ name: default, dscp: [0] }, { name: storage, dscp: [8], "
     "lossless: "
     "true }]\nnodes: { a: { address: 1, ports: { p1: , p2: , p3: } } }\n",
     "topology.yaml:2:23: settings.flow_ids: found 2, allowed at least 4, so that at a each port can have one of each "
     "other port's, in each virtual channel\n"},
    {"output_room_below_frame", with_node("edge_mtu: 9000\nsettings: { output_room: 4 }\n"),
     "topology.yaml:5:26: settings.output_room: found 4, allowed at least 5, the buffers of the largest frame of "
     "a:p1\n"},
    {"flow_ids_range", with_node("settings: { flow_ids: 65536 }\n"),
     "topology.yaml:4:23: settings.flow_ids: found 65536, allowed 1 to 65535\n"},
    {"drop_mark_above_credits", with_node("settings: { input_drop_mark: 1024 }\n"),
     "topology.yaml:4:30: settings.input_drop_mark: found 1024, allowed less than link_credits, 1024\n"},
    {"credits_below_drop_mark", with_node("settings: { link_credits: 500 }\n"),
     "topology.yaml:4:27: settings.link_credits: found 500, allowed more than input_drop_mark, 768\n"},
    {"ack_timers_order", with_node("settings: { ack_busy: 1ms }\n"),
     "topology.yaml:4:23: settings.ack_busy: found 1ms, allowed up to ack_hard, 100us\n"},
    {"settings_key", with_node("settings: { helo_interval: 10ms }\n"),
     "topology.yaml:4:13: settings.helo_interval: found an unknown key, allowed hello_interval\n"},
    {"class_name_missing", with_node("classes: [{ ftag: 1 }]\n"),
     "topology.yaml:4:11: classes[0].name: found nothing, allowed a name of letters, digits, - and _, at most "
     "31\n"},
    {"class_name_twice", with_node("classes: [{ name: a }, { name: a }]\n"),
     "topology.yaml:4:32: classes[1].name: found a a second time, allowed a name that no other class has\n"},
    {"class_ftag_twice", with_node("classes: [{ name: a, ftag: 2 }, { name: b, ftag: 2 }]\n"),
     "topology.yaml:4:50: classes[1].ftag: found 2, the ftag of class a, allowed one that no class has yet\n"},
    {"class_pcp_twice", with_node("classes: [{ name: a, pcp: [1, 2] }, { name: b, pcp: [2] }]\n"),
     "topology.yaml:4:54: classes[1].pcp[0]: found 2, allowed one that no class has yet (class a)\n"},
    {"class_match", with_node("classes: [{ name: a, match: [mac, colour] }]\n"),
     "topology.yaml:4:35: classes[0].match[1]: found colour, allowed mac, ip, ports, flow_label or dscp\n"},
    {"class_life", with_node("classes: [{ name: a, life: 10s }]\n"),
     "topology.yaml:4:28: classes[0].life: found 10s, allowed 64us to 4s\n"},
    {"class_queue", with_node("classes: [{ name: a, flow_queue: 1G }]\n"),
     "topology.yaml:4:34: classes[0].flow_queue: found 1G, allowed 16k to 64M bytes\n"},
    {"no_classes", with_node("classes: []\n"), "topology.yaml:4:10: classes: found 0 classes, allowed 1 to 16\n"},
    {"station_mac", with_node("stations: [{ mac: \"01:00:5e:00:00:01\", vlan: 10, port: \"a:p1\" }]\n"),
     "topology.yaml:4:19: stations[0].mac: found \"01:00:5e:00:00:01\", allowed the MAC address of one station, "
     "as in 02:00:00:00:00:0a\n"},
    {"station_vlan", with_node("stations: [{ mac: \"02:00:5e:00:00:01\", vlan: 11, port: \"a:p1\" }]\n"),
     "topology.yaml:4:46: stations[0].vlan: found 11, allowed a VLAN of a:p1\n"},
    {"station_twice",
     with_node("stations:\n  - &one { mac: \"02:00:5e:00:00:01\", vlan: 10, port: \"a:p1\" }\n  - *one\n"),
     "topology.yaml:5:17: stations[1].mac: found 02:00:5e:00:00:01 a second time, allowed each address once in "
     "a VLAN\n"},
};

INSTANTIATE_TEST_SUITE_P(Syntax, TopologyErrors, testing::ValuesIn(kSyntax), test::case_name);
INSTANTIATE_TEST_SUITE_P(Nodes, TopologyErrors, testing::ValuesIn(kNodes), test::case_name);
INSTANTIATE_TEST_SUITE_P(Links, TopologyErrors, testing::ValuesIn(kLinks), test::case_name);
INSTANTIATE_TEST_SUITE_P(Ports, TopologyErrors, testing::ValuesIn(kPorts), test::case_name);
INSTANTIATE_TEST_SUITE_P(Fabric, TopologyErrors, testing::ValuesIn(kFabric), test::case_name);

TEST(TopologyErrors, StationOnFabricPort) {
  ConfigErrors errors;
  const std::string text = two_nodes(
      "links:\n  - ends: [\"leaf1:p1\", \"leaf2:p1\"]\n"
      "stations:\n  - { mac: \"02:00:00:00:00:01\", port: \"leaf1:p1\" }\n");
  EXPECT_FALSE(parse_topology(text, "t.yaml", errors));
  EXPECT_EQ(errors.text(), "t.yaml:8:39: stations[0].port: found leaf1:p1, which is in a link, allowed an edge port\n");
}

TEST(Topology, SaysWhatAPortLetsItsHostsSend) {
  ConfigErrors errors;
  const auto topology = parse_topology(R"(
name: x
classes: [{ name: bulk }, { name: storage, pcp: [3] }]
nodes: { a: { address: 1, ports: { p1: { class: storage, classes: [storage], police: 1G }, p2: , p3: { police: 1M, police_burst: 20k } } } }
)",
                                       "t.yaml", errors);
  ASSERT_EQ(errors.text(), "");
  const std::vector<TopologyPort>& ports = topology->nodes[0].ports;
  EXPECT_EQ(ports[0].default_class, 1);
  EXPECT_EQ(ports[0].allowed_classes, 0b10);
  EXPECT_EQ(ports[0].police_bps, 1'000'000'000u);
  EXPECT_EQ(ports[0].police_burst_bytes, 125'000u) << "a millisecond";
  EXPECT_EQ(ports[1].default_class, TopologyPort::kNoClass);
  EXPECT_EQ(ports[1].allowed_classes, 0xffff);
  EXPECT_EQ(ports[1].police_bps, 0u);
  EXPECT_EQ(ports[2].police_burst_bytes, 20u * 1024);
}

TEST(Topology, SaysWhatFramesTakeOfPortsAndLinks) {
  ConfigErrors errors;
  const auto topology = parse_topology(R"(
name: x
nodes:
  a: { address: 1, ports: { p1: { overhead: 0 }, p2: , p3: } }
  b: { address: 2, ports: { p1: , p2: } }
links:
  - { ends: ["a:p2", "b:p1"], overhead: 60 }
  - { ends: ["a:p3", "b:p2"] }
)",
                                       "t.yaml", errors);
  ASSERT_EQ(errors.text(), "");
  const std::vector<TopologyPort>& ports = topology->nodes[0].ports;
  EXPECT_EQ(ports[0].overhead_bytes, 0);
  EXPECT_EQ(ports[1].overhead_bytes, 60);
  EXPECT_EQ(topology->nodes[1].ports[0].overhead_bytes, 60);
  EXPECT_EQ(ports[2].overhead_bytes, kWireExtraBytes);
}

TEST(TopologyErrors, TooManyPorts) {
  std::string text = "name: x\nnodes:\n  a:\n    address: 1\n    ports:\n";
  for (int i = 1; i <= 70; ++i) text += "      p" + std::to_string(i) + ":\n";
  ConfigErrors errors;
  EXPECT_FALSE(parse_topology(text, "t.yaml", errors));
  EXPECT_EQ(errors.text(), "t.yaml:70:7: nodes.a.ports.p65: found one port more, allowed 64 on a node\n");
}

TEST(TopologyErrors, TooLarge) {
  ConfigErrors errors;
  EXPECT_FALSE(parse_topology(std::string(1024 * 1024 + 1, '#'), "t.yaml", errors));
  EXPECT_EQ(errors.text(), "t.yaml:1:1: found a larger file, allowed 1 MiB\n");
}

// Each line stands for ten of the line before.
TEST(TopologyErrors, AliasesThatBlowUp) {
  std::string text = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string above = std::to_string(i - 1);
    const std::string name = std::to_string(i);
    text.append("a").append(name).append(": &a").append(name).append(" [*a").append(above);
    for (int j = 1; j < 10; ++j) text.append(", *a").append(above);
    text += "]\n";
  }
  ConfigErrors errors;
  EXPECT_FALSE(parse_topology(text, "t.yaml", errors));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors.items()[0].allowed, "400000");
}

TEST(TopologyErrors, NoFile) {
  ConfigErrors errors;
  EXPECT_FALSE(load_topology("/nonexistent/t.yaml", errors));
  EXPECT_EQ(errors.text(),
            "/nonexistent/t.yaml:1:1: found no file (No such file or directory), allowed a readable YAML file\n");
}

TEST(TopologyErrors, AFolderIsNoFile) {
  ConfigErrors errors;
  EXPECT_FALSE(load_topology("/", errors));
  EXPECT_EQ(errors.size(), 1u);
}

TEST(TopologyErrors, ToldInOrderAndNotWithoutEnd) {
  std::string text = "name: x\nnodes:\n";
  for (int i = 0; i < 300; ++i) text += "  n" + std::to_string(i) + ": { address: 0, ports: { p1: } }\n";
  ConfigErrors errors;
  EXPECT_FALSE(parse_topology(text, "t.yaml", errors));
  EXPECT_EQ(errors.items().size(), ConfigErrors::kMax);
  EXPECT_GT(errors.size(), ConfigErrors::kMax);
  for (size_t i = 1; i < errors.items().size(); ++i) {
    EXPECT_LE(errors.items()[i - 1].line, errors.items()[i].line);
  }
  EXPECT_NE(errors.text().find(" more\n"), std::string::npos);
}

}  // namespace
}  // namespace heddle::config_topology_errors_test
