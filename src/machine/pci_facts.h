// SPDX-License-Identifier: Apache-2.0
// What the kernel knows about a PCI device and about taking it from the kernel.
#pragma once

#include <filesystem>
#include <string>

namespace heddle {

struct PciFacts {
  std::string address;   // 0000:3b:00.0
  bool present = false;  // the rest says nothing without it
  bool is_network = false;
  std::string driver;     // that has it now; empty = none
  std::string interface;  // the kernel's, if its driver makes one
  int iommu_group = -1;   // -1 = the machine has no IOMMU, or it is off
  int numa_node = -1;     // -1 = none
  bool may_open = false;  // the file by which vfio-pci gives it out
};

// `sys` and `dev`: where /sys and /dev are. "3b:00.0" is taken as 0000:3b:00.0.
PciFacts pci_facts(const std::string& address, const std::filesystem::path& sys = "/sys",
                   const std::filesystem::path& dev = "/dev");

}  // namespace heddle
