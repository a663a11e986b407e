// SPDX-License-Identifier: Apache-2.0
#include "service/signals.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

namespace heddle {

namespace {

int signal_fd(std::initializer_list<int> signals) {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : signals) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  const int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
  if (fd < 0) throw std::system_error(errno, std::generic_category(), "signalfd");
  return fd;
}

}  // namespace

Signals::Signals() : stop_(signal_fd({SIGTERM, SIGINT})), hangup_(signal_fd({SIGHUP})) { signal(SIGPIPE, SIG_IGN); }

Signals::~Signals() {
  close(stop_);
  close(hangup_);
}

bool Signals::take_hangup() {
  signalfd_siginfo info;
  bool any = false;
  while (read(hangup_, &info, sizeof info) == sizeof info) any = true;
  return any;
}

StartupWatch::StartupWatch(const Signals& signals, std::string socket)
    : over_(eventfd(0, EFD_CLOEXEC)), thread_([this, stop = signals.stop_fd(), path = std::move(socket)] {
        pollfd waited[] = {{stop, POLLIN, 0}, {over_, POLLIN, 0}};
        while (poll(waited, 2, -1) < 0) continue;
        if (waited[1].revents != 0) return;
        unlink(path.c_str());
        _exit(EXIT_SUCCESS);
      }) {}

StartupWatch::~StartupWatch() {
  eventfd_write(over_, 1);
  thread_.join();
  close(over_);
}

}  // namespace heddle
