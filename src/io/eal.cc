// SPDX-License-Identifier: Apache-2.0
#include "io/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

namespace heddle {

namespace {

std::string joined(const std::vector<unsigned>& cpus) {
  std::string list;
  for (const unsigned cpu : cpus) list += (list.empty() ? "" : ",") + std::to_string(cpu);
  return list;
}

// Where each lcore may run. The kernel moves no thread between CPUs that it isolates, so there each has one of its own.
std::string lcore_map(uint32_t threads, const MachineFacts& machine) {
  std::vector<unsigned> isolated;
  for (const unsigned cpu : machine.allowed_cpus)
    if (std::count(machine.isolated_cpus.begin(), machine.isolated_cpus.end(), cpu) != 0) isolated.push_back(cpu);
  const std::string anywhere = "@(" + joined(machine.allowed_cpus) + ")";
  std::string map = "0" + anywhere;
  for (uint32_t lcore = 1; lcore <= threads; ++lcore)
    map += "," + std::to_string(lcore) +
           (isolated.size() >= threads ? "@" + std::to_string(isolated[lcore - 1]) : anywhere);
  return map;
}

}  // namespace

std::vector<std::string> eal_arguments(const EalOptions& options, const std::string& file_prefix,
                                       const MachineFacts& machine) {
  std::vector<std::string> arguments{"heddled"};
  // Without huge pages there is nothing to share; with them --in-memory needs no mounted hugetlbfs and leaves no files.
  if (options.huge_pages)
    arguments.push_back("--in-memory");
  else
    arguments.insert(arguments.end(), {"--no-huge", "--no-shconf"});
  if (options.huge_pages && options.few_memory_files) arguments.push_back("--single-file-segments");
  arguments.insert(arguments.end(), {"-m", std::to_string(options.memory_mb)});
  arguments.insert(arguments.end(), {"--no-telemetry", "--log-level", "warning", "--file-prefix", file_prefix});
  if (options.pci_devices.empty()) arguments.insert(arguments.end(), {"--no-pci", "--iova-mode", "va"});
  for (const std::string& device : options.pci_devices) arguments.insert(arguments.end(), {"-a", device});
  arguments.insert(arguments.end(), {"--lcores", lcore_map(options.threads, machine)});
  return arguments;
}

void remove_eal_folder() { rmdir(rte_eal_get_runtime_dir()); }

Eal::Eal(const EalOptions& options) {
  std::vector<std::string> arguments = eal_arguments(options, "heddled-" + std::to_string(getpid()), machine_facts());
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  const bool started = rte_eal_init(static_cast<int>(pointers.size()), pointers.data()) >= 0;
  remove_eal_folder();
  if (!started) {
    throw std::runtime_error(std::string("DPDK doesn't start: ") + rte_strerror(rte_errno) +
                             (options.huge_pages ? "; are enough huge pages free (/proc/sys/vm/nr_hugepages)?" : ""));
  }
}

}  // namespace heddle
