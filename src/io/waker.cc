// SPDX-License-Identifier: Apache-2.0
#include "io/waker.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace heddle {

Waker::Waker() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Waker::~Waker() { close(fd_); }

void Waker::signal() {
  const uint64_t one = 1;
  // It fails only where 2^64 - 2 signals wait already.
  [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
}

void Waker::end_sleep() {
  asleep_.store(false, std::memory_order_relaxed);
  uint64_t signals;
  [[maybe_unused]] const ssize_t got = read(fd_, &signals, sizeof signals);  // none, if something else woke it
}

}  // namespace heddle
