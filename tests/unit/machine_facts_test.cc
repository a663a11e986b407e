// SPDX-License-Identifier: Apache-2.0
// What is read of a machine, from trees of files as /sys and /proc are.
#include "machine/machine_facts.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "machine/pci_facts.h"

namespace heddle::machine_facts_test {
namespace {

namespace fs = std::filesystem;

class MachineFactsTest : public testing::Test {
 protected:
  MachineFactsTest() {
    char pattern[] = "/tmp/heddle-test-XXXXXX";
    root_ = mkdtemp(pattern);
  }
  ~MachineFactsTest() override { fs::remove_all(root_); }

  void file(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void link(const std::string& name, const std::string& target) const {
    fs::create_directories((root_ / name).parent_path());
    fs::create_symlink(target, root_ / name);
  }

  fs::path root_;
};

TEST_F(MachineFactsTest, MemoryCpusAndRights) {
  file("proc/meminfo", "MemTotal:  100 kB\nMemAvailable:     2048 kB\n");
  file("proc/self/status", "CapInh:\t0000000000000000\nCapEff:\t0000000000003000\nCpus_allowed_list:\t0-1,5\n");
  file("proc/self/limits", "Limit                     Soft Limit\nMax locked memory         unlimited            \n");
  file("sys/devices/system/cpu/isolated", "1,5-6\n");
  const MachineFacts facts = machine_facts(root_);
  EXPECT_EQ(facts.available_bytes, 2048u * 1024);
  EXPECT_TRUE(facts.may(12));
  EXPECT_TRUE(facts.locks_all_memory);
  EXPECT_TRUE(facts.may(13));
  EXPECT_FALSE(facts.may(14));
  EXPECT_EQ(facts.allowed_cpus, (std::vector<unsigned>{0, 1, 5}));
  EXPECT_EQ(facts.isolated_cpus, (std::vector<unsigned>{1, 5, 6}));
  EXPECT_FALSE(facts.vfio_pci);
  EXPECT_FALSE(facts.vlan_interfaces);
}

TEST_F(MachineFactsTest, HugePagesByNumaNode) {
  file("proc/self/status", "Cpus_allowed_list:\t4-5\n");
  file("proc/self/limits", "Max locked memory         8388608              8388608              bytes\n");
  for (const std::string node : {"node0", "node1"}) {
    file("sys/devices/system/node/" + node + "/cpulist", node == "node0" ? "0-3\n" : "4-7\n");
    const std::string folder = "sys/devices/system/node/" + node + "/hugepages/hugepages-2048kB/";
    file(folder + "nr_hugepages", "8\n");
    file(folder + "free_hugepages", node == "node0" ? "8\n" : "3\n");
  }
  const MachineFacts facts = machine_facts(root_);
  EXPECT_EQ(facts.allowed_nodes, std::vector<int>{1});
  EXPECT_FALSE(facts.locks_all_memory);
  ASSERT_EQ(facts.huge_pages.size(), 2u);
  EXPECT_EQ(facts.huge_pages[1].page_bytes, 2u << 20);
  EXPECT_EQ(facts.huge_pages[1].numa_node, 1);
  EXPECT_EQ(facts.huge_pages[1].total, 8u);
  EXPECT_EQ(facts.huge_pages[1].free, 3u);
}

TEST_F(MachineFactsTest, HugePagesWhereThereIsNoNuma) {
  file("sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages", "2\n");
  file("sys/kernel/mm/hugepages/hugepages-1048576kB/free_hugepages", "1\n");
  const MachineFacts facts = machine_facts(root_);
  ASSERT_EQ(facts.huge_pages.size(), 1u);
  EXPECT_EQ(facts.huge_pages[0].page_bytes, 1u << 30);
  EXPECT_EQ(facts.huge_pages[0].free, 1u);
}

TEST_F(MachineFactsTest, ACardOfTheKernels) {
  const std::string folder = "sys/bus/pci/devices/0000:3b:00.0/";
  file(folder + "class", "0x020000\n");
  file(folder + "numa_node", "1\n");
  link(folder + "driver", "../../../../bus/pci/drivers/ixgbe");
  link(folder + "iommu_group", "../../../kernel/iommu_groups/17");
  file(folder + "net/ens1f0/address", "\n");
  file("dev/vfio/17", "");
  const PciFacts facts = pci_facts("3b:00.0", root_ / "sys", root_ / "dev");
  EXPECT_EQ(facts.address, "0000:3b:00.0");
  EXPECT_TRUE(facts.present);
  EXPECT_TRUE(facts.is_network);
  EXPECT_EQ(facts.driver, "ixgbe");
  EXPECT_EQ(facts.interface, "ens1f0");
  EXPECT_EQ(facts.iommu_group, 17);
  EXPECT_EQ(facts.numa_node, 1);
  EXPECT_TRUE(facts.may_open);
  EXPECT_FALSE(pci_facts("3b:00.1", root_ / "sys", root_ / "dev").present);
}

TEST(CpuList, AsTheKernelWritesIt) {
  EXPECT_EQ(parse_cpu_list(""), std::vector<unsigned>{});
  EXPECT_EQ(parse_cpu_list("3"), std::vector<unsigned>{3});
  EXPECT_EQ(parse_cpu_list("0-2,8"), (std::vector<unsigned>{0, 1, 2, 8}));
}

}  // namespace
}  // namespace heddle::machine_facts_test
