// SPDX-License-Identifier: Apache-2.0
// What is said of what was found: each thing that can be wrong, alone.
#include <gtest/gtest.h>
#include <linux/capability.h>
#include <unistd.h>

#include <functional>

#include "machine/examine_machine.h"
#include "machine/examine_port.h"

namespace heddle::machine_examine_test {
namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;

std::string text_of(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    const char* severity = finding.severity == Severity::bad    ? "bad"
                           : finding.severity == Severity::good ? "good"
                                                                : "advice";
    text += std::string(severity) + " " + finding.place + ": " + finding.text +
            (finding.mend.empty() ? "" : " -> " + finding.mend) + "\n";
  }
  return text;
}

InterfaceFacts sound_interface() {
  InterfaceFacts facts;
  facts.name = "ens1";
  facts.present = facts.up = facts.carrier = facts.has_hardware = true;
  facts.mtu_bytes = 1600;
  facts.numa_node = 0;
  return facts;
}

MachineFacts sound_machine() {
  MachineFacts machine;
  machine.available_bytes = 1024 * kMegabyte;
  machine.allowed_cpus = {0, 1};
  machine.allowed_nodes = {0};
  machine.capabilities = ~uint64_t{0};
  machine.vfio_pci = true;
  return machine;
}

std::string of_interface(const std::function<void(InterfaceFacts&)>& change, PortNeeds needs = {.mtu_bytes = 1500}) {
  InterfaceFacts facts = sound_interface();
  change(facts);
  return text_of(examine_interface(facts, needs, sound_machine()));
}

TEST(ExamineInterface, ASoundOne) {
  EXPECT_EQ(of_interface([](InterfaceFacts&) {}), "good ens1: up, with carrier, nobody else's\n");
}

TEST(ExamineInterface, EachThingThatCanBeWrong) {
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.present = false; }),
            "bad ens1: there is no such interface; heddled waits for it -> ip -brief link\n");
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.up = facts.carrier = false; }),
            "bad ens1: is down -> ip link set ens1 up\n");
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.carrier = false; }),
            "bad ens1: has no carrier: no cable, or the other end is down\n");
  EXPECT_EQ(
      of_interface([](InterfaceFacts& facts) { facts.addresses = {"10.0.0.1"}; }),
      "bad ens1: has the address 10.0.0.1: this machine answers on it beside the switch -> ip address flush dev ens1 "
      "scope global\n");
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.master = "br0"; }),
            "bad ens1: is a member of br0, which takes its frames, too -> ip link set ens1 nomaster\n");
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.heddled = 1; }),
            "bad ens1: is used by another heddled (process 1) -> kill 1\n");
  EXPECT_EQ(
      of_interface([](InterfaceFacts& facts) { facts.merges_frames = true; }),
      "bad ens1: puts received frames together (GRO or LRO), to lengths that no port passes -> ethtool -K ens1 gro off "
      "lro off\n");
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.mtu_bytes = 1400; }),
            "advice ens1: has an MTU of 1400, the port needs 1500; heddled raises it -> ip link set ens1 mtu 1500\n");
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.numa_node = 1; }),
            "advice ens1: is at NUMA node 1, and heddled's CPUs are not -> systemctl edit heddled    # [Service] "
            "CPUAffinity=<CPUs of 1: /sys/devices/system/node/node1/cpulist>\n");
}

TEST(ExamineInterface, OfALinkOfTheFabric) {
  const PortNeeds link{.mtu_bytes = 1554, .fabric = true};
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.merges_frames = true; }, link),
            "good ens1: up, with carrier, nobody else's\n")
      << "no card puts frames of the fabric together";
  EXPECT_EQ(
      of_interface([](InterfaceFacts& facts) { facts.mtu_bytes = 1500; }, link),
      "advice ens1: has an MTU of 1500, the port needs 1554; heddled raises it, and the other end and every switch "
      "between have to pass as much -> ip link set ens1 mtu 1554\n");
}

TEST(ExamineInterface, TheHeddledThatItIsForHasItRightly) {
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.heddled = getpid(); }),
            "good ens1: up, with carrier, nobody else's\n");
  EXPECT_EQ(of_interface([](InterfaceFacts& facts) { facts.heddled = 1; }, {.mtu_bytes = 1500, .running = 1}),
            "good ens1: up, with carrier, nobody else's\n");
}

TEST(ExamineInterface, WarningsForWhoeverOpensIt) {
  InterfaceFacts facts = sound_interface();
  EXPECT_TRUE(interface_warnings(facts).empty());
  facts.up = facts.carrier = false;
  facts.master = "br0";
  EXPECT_EQ(
      interface_warnings(facts),
      (std::vector<std::string>{"ens1 is a member of br0, which takes its frames, too; mend: ip link set ens1 nomaster",
                                "ens1 is down; mend: ip link set ens1 up"}));
}

PciFacts given_card() {
  PciFacts facts;
  facts.address = "0000:3b:00.0";
  facts.present = facts.is_network = facts.may_open = true;
  facts.driver = "vfio-pci";
  facts.iommu_group = 7;
  return facts;
}

std::string of_card(
    const std::function<void(PciFacts&)>& change,
    const std::function<void(MachineFacts&)>& change_machine = [](MachineFacts&) {}) {
  PciFacts facts = given_card();
  MachineFacts machine = sound_machine();
  change(facts);
  change_machine(machine);
  return text_of(examine_pci(facts, machine));
}

TEST(ExaminePci, EachThingThatCanBeWrong) {
  EXPECT_EQ(of_card([](PciFacts&) {}), "good 0000:3b:00.0: given to DPDK by vfio-pci\n");
  EXPECT_EQ(of_card([](PciFacts& facts) { facts.present = false; }),
            "bad 0000:3b:00.0: there is no such device -> dpdk-devbind.py --status-dev net\n");
  EXPECT_EQ(of_card([](PciFacts& facts) { facts.is_network = false; }),
            "bad 0000:3b:00.0: is no network device -> dpdk-devbind.py --status-dev net\n");
  EXPECT_EQ(of_card([](PciFacts& facts) { facts.driver = "ixgbe", facts.interface = "ens1"; }),
            "bad 0000:3b:00.0: belongs to the kernel's driver ixgbe, as interface ens1 -> ip link set ens1 down && "
            "dpdk-devbind.py --bind=vfio-pci 0000:3b:00.0\n");
  EXPECT_EQ(
      of_card([](PciFacts& facts) { facts.driver = ""; }, [](MachineFacts& machine) { machine.vfio_pci = false; }),
      "bad 0000:3b:00.0: has no driver -> modprobe vfio-pci && dpdk-devbind.py --bind=vfio-pci 0000:3b:00.0\n");
  EXPECT_EQ(of_card([](PciFacts& facts) { facts.may_open = false; }),
            "bad 0000:3b:00.0: is not this user's to open -> chgrp heddle /dev/vfio/7 && chmod g+rw /dev/vfio/7\n");
  EXPECT_NE(of_card([](PciFacts& facts) { facts.iommu_group = -1; }).find("has no IOMMU"), std::string::npos);
  EXPECT_EQ(of_card([](PciFacts& facts) { facts.iommu_group = -1; },
                    [](MachineFacts& machine) { machine.vfio_without_iommu = true; }),
            "good 0000:3b:00.0: given to DPDK by vfio-pci\n");
  EXPECT_EQ(
      of_card([](PciFacts& facts) { facts.driver = "mlx5_core", facts.iommu_group = -1, facts.may_open = false; }),
      "good 0000:3b:00.0: given to DPDK by mlx5_core\n")
      << "it works beside the kernel's driver";
}

ProcessConfig process_with(const std::string& device) {
  ProcessConfig process;
  process.memory_mb = 512;
  process.nodes.emplace_back().ports.emplace_back().device = device;
  return process;
}

TEST(ExamineMemory, OfBothKinds) {
  ProcessConfig process = process_with("packet_socket0,iface=ens1");
  MachineFacts machine = sound_machine();
  EXPECT_EQ(text_of(examine_memory(process, machine)), "good memory: 1024M are available\n");
  machine.available_bytes = 100 * kMegabyte;
  EXPECT_EQ(text_of(examine_memory(process, machine)), "bad memory: 100M are available, `memory` asks for 512M\n");
  process.huge_pages = true;
  machine.huge_pages = {{.page_bytes = 2 * kMegabyte, .numa_node = 0, .total = 150, .free = 100}};
  EXPECT_EQ(text_of(examine_memory(process, machine)),
            "bad memory: 200M of huge pages are free, `memory` asks for 512M -> sysctl -w vm.nr_hugepages=306\n");
  machine.huge_pages[0].free = 300;
  EXPECT_EQ(text_of(examine_memory(process, machine)), "good memory: 600M of huge pages are free\n");
  machine = sound_machine();
  EXPECT_EQ(
      text_of(examine_memory(process_with("0000:3b:00.0"), machine)),
      "advice memory: network cards work better with huge pages: huge_pages: true -> sysctl -w vm.nr_hugepages=256\n");
}

TEST(ExamineCpus, TooFewAndShared) {
  ProcessConfig process = process_with("packet_socket0,iface=ens1");
  MachineFacts machine = sound_machine();
  EXPECT_EQ(text_of(examine_cpus(process, machine)), "good CPUs: 2 allowed, 1 thread(s)\n");
  process.threads = 3;
  EXPECT_EQ(text_of(examine_cpus(process, machine)), "advice CPUs: 3 threads share 2 CPU(s)\n");
  process.threads = 1;
  process.poll = true;
  EXPECT_EQ(examine_cpus(process, machine)[0].severity, Severity::advice);
  machine.isolated_cpus = {1};
  EXPECT_EQ(examine_cpus(process, machine)[0].severity, Severity::good);
}

TEST(ExamineRights, WhatTheDevicesAskFor) {
  MachineFacts machine = sound_machine();
  EXPECT_EQ(text_of(examine_rights(process_with("net_af_xdp0,iface=ens1"), machine)),
            "good rights: all that the devices ask for\n");
  machine.capabilities = 0;
  EXPECT_EQ(text_of(examine_rights(process_with("net_af_xdp0,iface=ens1"), machine)),
            "bad rights: this user lacks CAP_NET_RAW, CAP_NET_ADMIN, CAP_SYS_ADMIN, CAP_IPC_LOCK (or ulimit -l "
            "unlimited) -> sudo, "
            "or systemctl start heddled\n");
  machine.locks_all_memory = true;
  EXPECT_EQ(
      text_of(examine_rights(process_with("net_af_xdp0,iface=ens1"), machine)),
      "bad rights: this user lacks CAP_NET_RAW, CAP_NET_ADMIN, CAP_SYS_ADMIN -> sudo, or systemctl start heddled\n");
  EXPECT_EQ(text_of(examine_rights(process_with("packet_socket0,iface=ens1"), machine)),
            "bad rights: this user lacks CAP_NET_RAW, CAP_NET_ADMIN -> sudo, or systemctl start heddled\n");
  EXPECT_EQ(text_of(examine_rights(process_with("net_vhost0,iface=/run/vhost"), machine)),
            "good rights: all that the devices ask for\n");
}

}  // namespace
}  // namespace heddle::machine_examine_test
