// SPDX-License-Identifier: Apache-2.0
// The DPDK environment of one process: memory, lcores and PCI devices. One per process; made before anything of DPDK is
// used and destroyed after it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/machine_facts.h"

namespace heddle {

struct EalOptions {
  uint32_t threads = 1;  // lcores besides the calling thread, numbered from 1
  uint32_t memory_mb = 512;
  bool huge_pages = false;
  bool few_memory_files = false;         // virtio-user can hand only 8 of them to its peer
  std::vector<std::string> pci_devices;  // PCI addresses, with arguments or without; none = the PCI bus is left alone
};

// As given to rte_eal_init. Threads float over the CPUs allowed; each has one of its own where enough are isolated.
std::vector<std::string> eal_arguments(const EalOptions& options, const std::string& file_prefix,
                                       const MachineFacts& machine);

// Removes the folder for what processes share, /run/dpdk/<prefix>, which rte_eal_init makes whether or not they share
// anything. With --in-memory or --no-shconf it is empty and of no use from the start; gone at once, it is not left
// behind by a process that is killed either.
void remove_eal_folder();

// DPDK, started once and for as long as the process lives. It is not cleaned up: rte_eal_cleanup() of 22.11 unmaps
// memory that its interrupt thread may still read (memif), and the memory is private to the process anyway.
class Eal {
 public:
  // Throws std::runtime_error.
  explicit Eal(const EalOptions& options);
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;
};

}  // namespace heddle
