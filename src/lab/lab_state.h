// SPDX-License-Identifier: Apache-2.0
// What a lab has outside its own process, written down before it is made: so that `down` takes all of it away, whatever
// happened in between.
#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace heddle {

struct LabProcess {
  pid_t pid = 0;  // 0 = not started yet
  unsigned long long start_time = 0;
};

struct LabState {
  std::string lab;
  std::string file;  // it came up from; empty of labs of earlier versions
  std::vector<std::string> namespaces;
  LabProcess heddled = {};
  std::map<std::string, LabProcess> hostds = {};  // by host: those that run a heddle-hostd
  bool complete = false;                          // `up` came to its end
};

// nullopt if the lab isn't there or what is written about it can't be read.
std::optional<LabState> read_lab_state(const std::string& lab);
// Throws std::runtime_error.
void write_lab_state(const LabState& state);
// `name` may be any text. True if it is the name of a lab that something has been written about.
bool lab_present(const std::string& name);
// Their names, in order.
std::vector<std::string> labs_present();
// Is it still the one that was started?
bool process_alive(const LabProcess& process);

// One `up` or `down` of a lab at a time. Throws std::runtime_error if another one is at work.
// A text that is no name is refused, since names become paths.
class LabLock {
 public:
  explicit LabLock(const std::string& lab);
  ~LabLock();  // takes the lock's file away if the lab is not there
  LabLock(const LabLock&) = delete;
  LabLock& operator=(const LabLock&) = delete;
  const std::string& lab() const { return lab_; }

 private:
  std::string lab_;
  int fd_;
};

// What lab_down() does, for who has the lock already.
bool take_lab_down(const LabLock& lock);

}  // namespace heddle
