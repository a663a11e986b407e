// SPDX-License-Identifier: Apache-2.0
#include "machine/interface_lock.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <stdexcept>

namespace heddle {

namespace {

constexpr uid_t kSystemUserMax = 999;  // root's and those of services; people's are above

struct LockAddress {
  explicit LockAddress(const std::string& interface) {
    const std::string name = "heddle/interface/" + interface;
    address.sun_family = AF_UNIX;
    name.copy(address.sun_path + 1, sizeof(address.sun_path) - 1);  // a zero in front: abstract
    bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
  sockaddr_un address{};
  socklen_t bytes;
};

}  // namespace

// Nobody takes the calls of those that ask who it is, so that there has to be room for all that ever ask.
InterfaceLock::InterfaceLock(const std::string& interface) : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  const LockAddress address(interface);
  if (fd_ >= 0 && bind(fd_, address.get(), address.bytes) == 0 && listen(fd_, SOMAXCONN) == 0) return;
  const int error = errno;
  if (fd_ >= 0) close(fd_);
  if (error != EADDRINUSE) throw std::runtime_error("the lock of " + interface + ": " + std::strerror(error));
  fd_ = -1;
  const int owner = interface_lock_owner(interface);
  if (owner == 0) return;
  throw std::runtime_error("interface " + interface + " is used by another heddled" +
                           (owner > 0 ? " (process " + std::to_string(owner) + ")" : ""));
}

InterfaceLock::~InterfaceLock() {
  if (fd_ >= 0) close(fd_);
}

int interface_lock_owner(const std::string& interface) {
  const LockAddress address(interface);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  int owner = 0;
  if (connect(fd, address.get(), address.bytes) == 0) {
    ucred peer{};
    socklen_t bytes = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
      owner = -1;
    else if (peer.uid <= kSystemUserMax || peer.uid == geteuid())
      owner = peer.pid;
  } else if (errno != ECONNREFUSED) {
    owner = -1;  // it has too many callers at once, say
  }
  close(fd);
  return owner;
}

}  // namespace heddle
