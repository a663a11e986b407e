// SPDX-License-Identifier: Apache-2.0
// SIGTERM, SIGINT and SIGHUP as file descriptors. While DPDK starts, which can take a minute and can't be broken off, a
// thread of its own waits for the first two and ends the process.
#pragma once

#include <string>
#include <thread>

namespace heddle {

// Blocks the signals for the calling thread and all that it starts, so that they are only seen here. SIGPIPE is
// ignored: DPDK's drivers write into sockets whose other end may have been killed.
class Signals {
 public:
  Signals();  // throws std::system_error
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  int stop_fd() const { return stop_; }  // can be read once SIGTERM or SIGINT has come
  bool take_hangup();                    // has SIGHUP come since the last call?

 private:
  int stop_, hangup_;
};

// As long as it lives, SIGTERM and SIGINT end the process at once, with status 0; `socket` is removed first.
class StartupWatch {
 public:
  StartupWatch(const Signals& signals, std::string socket);
  ~StartupWatch();
  StartupWatch(const StartupWatch&) = delete;
  StartupWatch& operator=(const StartupWatch&) = delete;

 private:
  int over_;
  std::thread thread_;
};

}  // namespace heddle
