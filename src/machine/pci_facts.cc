// SPDX-License-Identifier: Apache-2.0
#include "machine/pci_facts.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace heddle {

namespace {

std::string target_name(const std::filesystem::path& link) {
  std::error_code none;
  return std::filesystem::read_symlink(link, none).filename();
}

int number_in(const std::filesystem::path& file) {
  int number = -1;
  std::ifstream(file) >> number;
  return number;
}

bool is_network_class(const std::filesystem::path& file) {
  constexpr unsigned long kNetwork = 0x02;  // the base class, in the upper eight of 24 bits
  std::string text;
  std::ifstream(file) >> text;
  return !text.empty() && std::stoul(text, nullptr, 16) >> 16 == kNetwork;
}

}  // namespace

PciFacts pci_facts(const std::string& address, const std::filesystem::path& sys, const std::filesystem::path& dev) {
  PciFacts facts;
  facts.address = std::count(address.begin(), address.end(), ':') == 1 ? "0000:" + address : address;
  const std::filesystem::path folder = sys / "bus/pci/devices" / facts.address;
  std::error_code none;
  facts.present = std::filesystem::exists(folder, none);
  if (!facts.present) return facts;
  facts.is_network = is_network_class(folder / "class");
  facts.driver = target_name(folder / "driver");
  for (const auto& entry : std::filesystem::directory_iterator(folder / "net", none))
    facts.interface = entry.path().filename();
  facts.numa_node = number_in(folder / "numa_node");
  const std::string group = target_name(folder / "iommu_group");
  if (!group.empty()) facts.iommu_group = std::stoi(group);
  const std::filesystem::path file = dev / "vfio" / (group.empty() ? "vfio" : group);
  facts.may_open = access(file.c_str(), R_OK | W_OK) == 0;
  return facts;
}

}  // namespace heddle
