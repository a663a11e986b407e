// SPDX-License-Identifier: Apache-2.0
#include "machine/machine_facts.h"

#include <sys/utsname.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace heddle {

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& file) {
  std::string line;
  std::ifstream stream(file);
  std::getline(stream, line);
  return line;
}

// The words behind "Name:" in files such as /proc/meminfo.
std::string field(const fs::path& file, const std::string& name, const std::string& mark = ":") {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);)
    if (line.starts_with(name + mark))
      return line.substr(std::min(line.size(), line.find_first_not_of(" \t", name.size() + mark.size())));
  return {};
}

uint64_t number(const std::string& text, int base = 10) { return std::strtoull(text.c_str(), nullptr, base); }

// Folders called `prefix` and a number, in the order of the numbers.
std::vector<int> numbered(const fs::path& folder, const std::string& prefix) {
  std::vector<int> numbers;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        name.find_first_not_of("0123456789", prefix.size()) == std::string::npos)
      numbers.push_back(std::stoi(name.substr(prefix.size())));
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void add_pages(const fs::path& folder, int numa_node, std::vector<HugePages>& pages) {
  constexpr std::string_view kPrefix = "hugepages-";
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none)) {
    const std::string name = entry.path().filename();  // hugepages-2048kB
    if (!name.starts_with(kPrefix)) continue;
    pages.push_back({.page_bytes = number(name.substr(kPrefix.size())) * 1024,
                     .numa_node = numa_node,
                     .total = number(first_line(entry.path() / "nr_hugepages")),
                     .free = number(first_line(entry.path() / "free_hugepages"))});
  }
}

// Of the first of these files that names it.
bool kernel_has_module(const fs::path& root, const std::string& name) {
  utsname kernel{};
  uname(&kernel);
  const fs::path folder = root / "lib/modules" / kernel.release;
  for (const char* list : {"modules.builtin", "modules.dep"}) {
    std::ifstream stream(folder / list);
    for (std::string line; std::getline(stream, line);)
      if (line.find("/" + name + ".ko") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

std::vector<unsigned> parse_cpu_list(const std::string& text) {
  std::vector<unsigned> cpus;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    unsigned first = 0, last = 0;
    const int found = std::sscanf(part.c_str(), "%u-%u", &first, &last);
    if (found < 1) continue;
    for (unsigned cpu = first; cpu <= (found == 2 ? last : first); ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

MachineFacts machine_facts(const fs::path& root) {
  MachineFacts facts;
  const fs::path status = root / "proc/self/status", system = root / "sys/devices/system";
  facts.available_bytes = number(field(root / "proc/meminfo", "MemAvailable")) * 1024;
  facts.capabilities = number(field(status, "CapEff"), 16);
  facts.locks_all_memory = field(root / "proc/self/limits", "Max locked memory", "").starts_with("unlimited");
  facts.allowed_cpus = parse_cpu_list(field(status, "Cpus_allowed_list"));
  facts.isolated_cpus = parse_cpu_list(first_line(system / "cpu/isolated"));
  const std::vector<int> nodes = numbered(system / "node", "node");
  for (const int node : nodes) {
    const fs::path folder = system / "node" / ("node" + std::to_string(node));
    add_pages(folder / "hugepages", node, facts.huge_pages);
    const std::vector<unsigned> cpus = parse_cpu_list(first_line(folder / "cpulist"));
    const bool allowed = std::any_of(cpus.begin(), cpus.end(), [&](unsigned cpu) {
      return std::find(facts.allowed_cpus.begin(), facts.allowed_cpus.end(), cpu) != facts.allowed_cpus.end();
    });
    if (allowed) facts.allowed_nodes.push_back(node);
  }
  if (nodes.empty()) add_pages(root / "sys/kernel/mm/hugepages", 0, facts.huge_pages);
  const fs::path modules = root / "sys/module";
  facts.vfio_pci = fs::exists(modules / "vfio_pci") || kernel_has_module(root, "vfio-pci");
  facts.vfio_without_iommu = first_line(modules / "vfio/parameters/enable_unsafe_noiommu_mode") == "Y";
  facts.vlan_interfaces = fs::exists(root / "proc/net/vlan") || kernel_has_module(root, "8021q");
  return facts;
}

}  // namespace heddle
