// SPDX-License-Identifier: Apache-2.0
// What a lab has outside its own process, written down before it is made: so that `down` takes all of it away, whatever
// happened in between.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct LabState {
  std::string lab;
  std::vector<std::string> namespaces;
  pid_t heddled_pid = 0;  // 0 = not started yet
  unsigned long long heddled_start_time = 0;
  bool complete = false;  // `up` came to its end
};

// nullopt if the lab isn't there or what is written about it can't be read.
std::optional<LabState> read_lab_state(const std::string& lab);
// Throws std::runtime_error.
void write_lab_state(const LabState& state);
// Names of the labs that have a folder, in order.
std::vector<std::string> labs_present();
// Is its heddled still the one that was started?
bool heddled_alive(const LabState& state);

// One `up` or `down` of a lab at a time. Throws std::runtime_error if another one is at work.
class LabLock {
 public:
  explicit LabLock(const std::string& lab);
  ~LabLock();  // takes the lock's file away if the lab is not there
  LabLock(const LabLock&) = delete;
  LabLock& operator=(const LabLock&) = delete;

 private:
  std::string lab_;
  int fd_;
};

// What lab_down() does, for who has the lock already.
bool take_lab_down(const std::string& lab, const LabLock& lock);

}  // namespace heddle
