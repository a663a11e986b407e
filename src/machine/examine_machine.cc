// SPDX-License-Identifier: Apache-2.0
#include "machine/examine_machine.h"

#include <linux/capability.h>

#include <algorithm>
#include <array>

#include "config/device_string.h"

namespace heddle {

namespace {

constexpr uint64_t kMegabyte = 1024 * 1024;

struct Capability {
  int number;
  const char* name;
};

// By what asks for them.
constexpr auto kForInterfaces =
    std::to_array<Capability>({{CAP_NET_RAW, "CAP_NET_RAW"}, {CAP_NET_ADMIN, "CAP_NET_ADMIN"}});
// libxdp asks for programs by their numbers.
constexpr auto kForXdp = std::to_array<Capability>({{CAP_SYS_ADMIN, "CAP_SYS_ADMIN"}});
constexpr auto kForMemory = std::to_array<Capability>({{CAP_IPC_LOCK, "CAP_IPC_LOCK (or ulimit -l unlimited)"}});

template <typename Uses>
bool any_device(const ProcessConfig& process, Uses uses) {
  for (const NodeProcess& node : process.nodes)
    for (const PortDevice& port : node.ports)
      if (uses(port.device)) return true;
  return false;
}

bool has_pci(const ProcessConfig& process) {
  return any_device(process, [](const std::string& device) { return is_pci_device(device); });
}

uint64_t free_huge_bytes(const MachineFacts& machine) {
  uint64_t bytes = 0;
  for (const HugePages& pages : machine.huge_pages) bytes += pages.page_bytes * pages.free;
  return bytes;
}

std::string list_text(const std::vector<unsigned>& numbers) {
  std::string text;
  for (const unsigned number : numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

std::string megabytes_text(uint64_t bytes) { return std::to_string(bytes / kMegabyte) + "M"; }

// The kernel's interface to the default size, on all NUMA nodes together.
std::string reserve_pages(const MachineFacts& machine, uint64_t missing_bytes) {
  constexpr uint64_t kPageBytes = 2 * kMegabyte;
  uint64_t total = 0;
  for (const HugePages& pages : machine.huge_pages)
    if (pages.page_bytes == kPageBytes) total += pages.total;
  return "sysctl -w vm.nr_hugepages=" + std::to_string(total + (missing_bytes + kPageBytes - 1) / kPageBytes);
}

}  // namespace

Findings examine_memory(const ProcessConfig& process, const MachineFacts& machine) {
  const uint64_t needed = process.memory_mb * kMegabyte;
  if (process.huge_pages) {
    const uint64_t free = free_huge_bytes(machine);
    if (free < needed)
      return {{Severity::bad, "memory",
               megabytes_text(free) + " of huge pages are free, `memory` asks for " + megabytes_text(needed),
               reserve_pages(machine, needed - free)}};
    return {{Severity::good, "memory", megabytes_text(free) + " of huge pages are free", ""}};
  }
  Findings out;
  if (machine.available_bytes < needed)
    out.push_back(
        {Severity::bad, "memory",
         megabytes_text(machine.available_bytes) + " are available, `memory` asks for " + megabytes_text(needed), ""});
  if (has_pci(process))
    out.push_back({Severity::advice, "memory", "network cards work better with huge pages: huge_pages: true",
                   reserve_pages(machine, needed)});
  if (out.empty())
    out.push_back({Severity::good, "memory", megabytes_text(machine.available_bytes) + " are available", ""});
  return out;
}

Findings examine_cpus(const ProcessConfig& process, const MachineFacts& machine) {
  const size_t allowed = machine.allowed_cpus.size();
  if (process.threads > allowed)
    return {{Severity::advice, "CPUs",
             std::to_string(process.threads) + " threads share " + std::to_string(allowed) + " CPU(s)", ""}};
  const bool isolated = std::any_of(machine.allowed_cpus.begin(), machine.allowed_cpus.end(), [&](unsigned cpu) {
    return std::find(machine.isolated_cpus.begin(), machine.isolated_cpus.end(), cpu) != machine.isolated_cpus.end();
  });
  if (process.poll && !isolated)
    return {{Severity::advice, "CPUs",
             "`idle: poll` on CPUs that other processes run on, too: boot Linux with isolcpus=managed_irq,domain,<CPUs>"
             " nohz_full=<CPUs> and let heddled have those",
             "systemctl edit heddled    # [Service] CPUAffinity=<CPUs>"}};
  return {{Severity::good, "CPUs",
           std::to_string(allowed) + " allowed, " + std::to_string(process.threads) + " thread(s)", ""}};
}

Findings examine_rights(const ProcessConfig& process, const MachineFacts& machine) {
  std::vector<std::string> missing;
  const auto need = [&](bool needed, const auto& capabilities) {
    for (const Capability& capability : capabilities)
      if (needed && !machine.may(capability.number) &&
          std::find(missing.begin(), missing.end(), capability.name) == missing.end())
        missing.emplace_back(capability.name);
  };
  need(any_device(process, [](const std::string& device) { return !kernel_interface(device).empty(); }),
       kForInterfaces);
  const bool xdp = any_device(process, [](const std::string& device) { return device_uses(device, "net_af_xdp"); });
  need(xdp, kForXdp);
  need((xdp || has_pci(process)) && !machine.locks_all_memory, kForMemory);
  if (missing.empty()) return {{Severity::good, "rights", "all that the devices ask for", ""}};
  std::string names;
  for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
  return {{Severity::bad, "rights", "this user lacks " + names, "sudo, or systemctl start heddled"}};
}

Findings examine_offers(const MachineFacts& machine) {
  Findings out;
  const uint64_t huge = free_huge_bytes(machine);
  out.push_back({huge == 0 ? Severity::advice : Severity::good, "huge pages",
                 huge == 0 ? "none are free; kernel interfaces do without, network cards should have them"
                           : megabytes_text(huge) + " are free",
                 huge == 0 ? reserve_pages(machine, 1024 * kMegabyte) : ""});
  out.push_back({Severity::good, "CPUs",
                 list_text(machine.allowed_cpus) + " allowed, " +
                     (machine.isolated_cpus.empty() ? "none" : list_text(machine.isolated_cpus)) + " isolated",
                 ""});
  const bool raw = machine.may(CAP_NET_RAW) && machine.may(CAP_NET_ADMIN);
  out.push_back({raw ? Severity::good : Severity::advice, "rights",
                 raw ? "enough for kernel interfaces" : "this user lacks CAP_NET_RAW or CAP_NET_ADMIN",
                 raw ? "" : "sudo, or systemctl start heddled"});
  out.push_back({Severity::good, "vfio-pci",
                 machine.vfio_pci ? "the driver that gives network cards to DPDK is there"
                                  : "this kernel has no vfio-pci: network cards can't be given to DPDK",
                 ""});
  return out;
}

}  // namespace heddle
