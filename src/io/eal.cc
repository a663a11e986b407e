// SPDX-License-Identifier: Apache-2.0
#include "io/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <sched.h>
#include <unistd.h>

#include <stdexcept>

namespace heddle {

namespace {

// "0-3,6": the CPUs this process may use.
std::string allowed_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return "0";
  std::string list;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    int last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set)) ++last;
    if (!list.empty()) list += ',';
    list += std::to_string(cpu);
    if (last > cpu) list += "-" + std::to_string(last);
    cpu = last;
  }
  return list;
}

}  // namespace

std::vector<std::string> eal_arguments(const EalOptions& options, const std::string& file_prefix) {
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
  const std::string cpus = allowed_cpus();
  std::string lcores;
  for (uint32_t lcore = 0; lcore <= options.threads; ++lcore)
    lcores += (lcore == 0 ? "" : ",") + std::to_string(lcore) + "@(" + cpus + ")";
  arguments.insert(arguments.end(), {"--lcores", lcores});
  return arguments;
}

void remove_eal_folder() { rmdir(rte_eal_get_runtime_dir()); }

Eal::Eal(const EalOptions& options) {
  std::vector<std::string> arguments = eal_arguments(options, "heddled-" + std::to_string(getpid()));
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
