// SPDX-License-Identifier: Apache-2.0
// What a machine gives to a process: memory, huge pages, CPUs, rights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace heddle {

struct HugePages {
  uint64_t page_bytes = 0;
  int numa_node = 0;
  uint64_t total = 0, free = 0;  // pages
};

struct MachineFacts {
  uint64_t available_bytes = 0;  // of memory
  std::vector<HugePages> huge_pages;
  std::vector<unsigned> allowed_cpus;   // of this process
  std::vector<unsigned> isolated_cpus;  // kept free of other processes (isolcpus=)
  std::vector<int> allowed_nodes;       // NUMA nodes of allowed_cpus
  uint64_t capabilities = 0;            // effective ones of this process, a bit each
  bool locks_all_memory = false;        // as much as it likes stays in place, without CAP_IPC_LOCK
  bool vfio_pci = false;                // the driver is there
  bool vfio_without_iommu = false;      // it has been told to do without
  bool vlan_interfaces = false;         // the kernel can make them

  bool may(int capability) const { return (capabilities >> capability & 1) != 0; }
};

// `root`: where /sys, /proc and /lib are.
MachineFacts machine_facts(const std::filesystem::path& root = "/");

// "0-3,8" as the kernel writes it.
std::vector<unsigned> parse_cpu_list(const std::string& text);

}  // namespace heddle
