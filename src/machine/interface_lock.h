// SPDX-License-Identifier: Apache-2.0
// One heddled at an interface: two would both take every frame and take each other's sessions down. Held as an abstract
// socket, so that it belongs to a network namespace and ends with the process, however that ends. Any user can take
// such a name: only a process of root, of a system account or of this process's user is believed to be a heddled.
#pragma once

#include <string>

namespace heddle {

class InterfaceLock {
 public:
  // Throws std::runtime_error that names the process that has it. Goes on without where somebody else took the name.
  explicit InterfaceLock(const std::string& interface);
  ~InterfaceLock();
  InterfaceLock(const InterfaceLock&) = delete;
  InterfaceLock& operator=(const InterfaceLock&) = delete;

 private:
  int fd_;
};

// The process that has that interface's lock; 0 = nobody to be believed, -1 = somebody that can't be told.
int interface_lock_owner(const std::string& interface);

}  // namespace heddle
