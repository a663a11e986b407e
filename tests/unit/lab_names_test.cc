// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_names.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "lab/lab.h"
#include "lab/lab_command.h"
#include "lab/lab_remains.h"
#include "lab/lab_state.h"

namespace heddle::lab_names_test {
namespace {

LabConfig lab_of(const std::string& text) {
  ConfigErrors errors;
  std::optional<LabConfig> lab = parse_lab(text, "lab.yaml", errors);
  EXPECT_TRUE(lab.has_value()) << errors.text();
  return *lab;
}

const char* const kText =
    "name: demo\n"
    "topology:\n"
    "  nodes:\n"
    "    a-switch-with-a-long-name: { kind: switch }\n"
    "    s2: { kind: switch }\n"
    "    h1: { kind: host }\n"
    "    h2: { kind: host }\n"
    "  links:\n"
    "    - endpoints: [\"a-switch-with-a-long-name:p1\", \"s2:p1\"]\n"
    "    - endpoints: [\"h1:eth1\", \"a-switch-with-a-long-name:p2\"]\n"
    "    - endpoints: [\"h2:eth1\", \"s2:p2\"]\n";

TEST(LabNames, CarryTheLabsName) {
  EXPECT_EQ(lab_socket("demo"), "/run/heddle-labs/demo/heddled.sock");
  EXPECT_EQ(switch_namespace("demo"), "heddle-demo-switch");
  EXPECT_EQ(host_namespace("demo", "h1"), "heddle-demo-h1");
}

TEST(LabNames, InterfacesAreUniqueAndShortEnoughForTheKernel) {
  std::set<std::string> names;
  const LabConfig lab = lab_of(kText);
  for (const LabHost& host : lab.hosts)
    for (const LabInterface& interface : host.interfaces) names.insert(switch_interface(interface));
  EXPECT_EQ(names.size(), 2u);
  LabInterface widest;
  widest.node_index = 65535;
  widest.port = 63;
  EXPECT_LE(switch_interface(widest).size(), 15u);
}

TEST(LabNames, WhatIsNoNameIsNoLab) {
  for (const char* text : {"", ".", "..", "../x", "leaf1.sock", "a/b", "-x", "/run", "not-there"})
    EXPECT_FALSE(lab_present(text)) << text;
  EXPECT_FALSE(lab_present(std::string(300, 'x')));
}

// A name becomes a path that is removed with all below it.
TEST(LabNames, WhatIsNoNameIsNotTakenDown) {
  char pattern[] = "/tmp/heddle-test-XXXXXX";
  const std::string folder = mkdtemp(pattern);
  std::ofstream(folder + "/state.json") << "{}";
  for (const std::string& text : {"../.." + folder, "x/../../.." + folder, folder})
    EXPECT_THROW(lab_down(text, true), std::runtime_error) << text;
  EXPECT_TRUE(std::filesystem::exists(folder + "/state.json"));
  std::filesystem::remove_all(folder);
}

// What is left for the parser and what is the command's, each in one text.
std::pair<std::string, std::string> split(std::vector<std::string> words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  int count = static_cast<int>(pointers.size());
  std::pair<std::string, std::string> texts;
  for (const std::string& word : take_exec_command(count, pointers.data())) texts.second += word + " ";
  for (int i = 0; i < count; ++i) texts.first += pointers[static_cast<size_t>(i)] + std::string(" ");
  return texts;
}

TEST(LabExec, TheCommandAndItsOptionsAreNotParsed) {
  using Texts = std::pair<std::string, std::string>;
  EXPECT_EQ(split({"heddle", "lab", "exec", "x", "h1", "ls", "--help", "--", "up"}),
            Texts("heddle lab exec x h1 ", "ls --help -- up "));
  EXPECT_EQ(split({"heddle", "lab", "exec", "x", "h1", "--", "ls", "-l"}), Texts("heddle lab exec x h1 ", "ls -l "));
  EXPECT_EQ(split({"heddle", "lab", "exec", "x", "h1", "--"}), Texts("heddle lab exec x h1 ", ""));
  EXPECT_EQ(split({"heddle", "lab", "exec", "x", "h1", "--help"}), Texts("heddle lab exec x h1 --help ", ""));
  EXPECT_EQ(split({"heddle", "lab", "link", "x", "a:p1", "--loss", "1%"}),
            Texts("heddle lab link x a:p1 --loss 1% ", ""));
}

TEST(LabProcess, PortsToHostsGetTheirCablesAndLinksStayInTheProcess) {
  for (const char* driver : {"", "driver: af_xdp\n"}) {
    const LabConfig lab = lab_of(std::string(driver) + kText);
    const ProcessConfig process = lab_process(lab);
    EXPECT_EQ(process.socket, "/run/heddle-labs/demo/heddled.sock");
    std::set<std::string> devices;
    for (const NodeProcess& node : process.nodes) {
      for (const PortDevice& port : node.ports) {
        const bool fabric = process.topology.nodes[node.node_index].ports[port.port].fabric;
        EXPECT_EQ(port.device.empty(), fabric) << port.device;
        if (!fabric) devices.insert(port.device.substr(0, port.device.find(',')));
      }
    }
    EXPECT_EQ(devices.size(), 2u) << "every device has a name of its own";
  }
}

TEST(LabRemains, NamespacesOfOneLabAreToldFromThoseOfAnotherWhoseNameBeginsAlike) {
  const std::vector<std::string> all{"heddle-a-b-h1",   "heddle-a-b-switch", "heddle-a-h1",
                                     "heddle-a-switch", "heddle-ab-h1",      "other"};
  EXPECT_EQ(namespaces_of_lab("a", all), (std::vector<std::string>{"heddle-a-h1", "heddle-a-switch"}));
  EXPECT_EQ(namespaces_of_lab("a-b", all), (std::vector<std::string>{"heddle-a-b-h1", "heddle-a-b-switch"}));
  EXPECT_EQ(namespaces_of_lab("a", {"heddle-a-b-h1"}), std::vector<std::string>{"heddle-a-b-h1"}) << "host b-h1";
  EXPECT_TRUE(namespaces_of_lab("c", all).empty());
}

}  // namespace
}  // namespace heddle::lab_names_test
