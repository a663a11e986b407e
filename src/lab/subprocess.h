// SPDX-License-Identifier: Apache-2.0
// Other programs, run without a shell.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace heddle {

struct RunResult {
  int status = -1;     // exit status; 128 + n = killed by signal n; 127 = not found
  std::string output;  // both streams, at most 64 KiB of them
  bool ok() const { return status == 0; }
};

// Waits until it has ended; it is killed after `patience`. `input` is what it reads.
RunResult run_program(const std::vector<std::string>& arguments, const std::string& input = {},
                      std::chrono::seconds patience = std::chrono::seconds(60));

// Throws std::runtime_error with the program's output if it fails.
void run_or_throw(const std::vector<std::string>& arguments, const std::string& input = {});

// In a session of its own, with output to the end of `log`. Throws std::runtime_error.
pid_t start_daemon(const std::vector<std::string>& arguments, const std::string& log);

// The last lines of what a daemon has said.
std::string file_tail(const std::string& path);

// A process is told from a later one of the same number by when it began; 0 if there is none, or only its remains.
unsigned long long process_start_time(pid_t pid);

}  // namespace heddle
