// SPDX-License-Identifier: Apache-2.0
// What the kernel knows about one of its network interfaces, in the network namespace of the caller.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

struct InterfaceFacts {
  std::string name;
  bool present = false;  // the rest says nothing without it
  bool up = false;       // as its operator wants it
  bool carrier = false;
  bool has_hardware = false;           // a card under it, so that its offloads matter
  bool merges_frames = false;          // GRO or LRO puts several received frames into one
  uint32_t mtu_bytes = 0;              // layer 3
  std::vector<std::string> addresses;  // as in 10.0.0.1, without those of links (fe80::)
  std::string master;                  // the bridge or bond it is a member of
  int numa_node = -1;                  // -1 = none, or not known
  pid_t heddled = 0;                   // that has it; 0 = none, -1 = one that can't be told
};

InterfaceFacts interface_facts(const std::string& name);

}  // namespace heddle
