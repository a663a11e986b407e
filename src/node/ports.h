// SPDX-License-Identifier: Apache-2.0
// A worker's ports: its own in full, of the others only that they are none. Written once; who asks for a port by an
// index from a frame or a message looks with find() first.
#pragma once

#include <array>
#include <vector>

#include "node/port.h"

namespace heddle {

class Ports {
 public:
  // By port index; nullptr for other workers' ports. They outlive it.
  explicit Ports(const std::vector<Port*>& ports) {
    for (PortIndex index = 0; index < ports.size(); ++index) {
      by_index_[index] = ports[index];
      if (ports[index] != nullptr) own_.push_back(ports[index]);
    }
  }
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  Port& own(PortIndex port) const { return *by_index_[port]; }
  Port* find(PortIndex port) const { return by_index_[port]; }  // nullptr: another worker's
  bool is_own(PortIndex port) const { return by_index_[port] != nullptr; }

  // Its own, in their order.
  const std::vector<Port*>& all() const { return own_; }
  auto begin() const { return own_.begin(); }
  auto end() const { return own_.end(); }
  size_t size() const { return own_.size(); }
  Port& front() const { return *own_.front(); }

 private:
  std::array<Port*, kPortsMax> by_index_{};
  std::vector<Port*> own_;
};

}  // namespace heddle
