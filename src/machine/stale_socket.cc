// SPDX-License-Identifier: Apache-2.0
#include "machine/stale_socket.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>

namespace heddle {

namespace {

// A caller at a socket file; gone with it.
class Caller {
 public:
  Caller(const std::string& path, bool is_stream)
      : fd_(socket(AF_UNIX, (is_stream ? SOCK_STREAM : SOCK_SEQPACKET) | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{};
    if (fd_ < 0 || path.size() >= sizeof(address.sun_path)) return;
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    error_ = connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 ? 0 : errno;
  }
  ~Caller() { close(fd_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  int error() const { return error_; }
  pid_t peer() const {
    ucred peer{};
    socklen_t bytes = sizeof(peer);
    return error_ == 0 && getsockopt(fd_, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.pid : 0;
  }

 private:
  int fd_;
  int error_ = EINVAL;
};

}  // namespace

SocketState socket_state(const std::string& path, bool is_stream) {
  struct stat status;
  if (lstat(path.c_str(), &status) != 0) return errno == ENOENT ? SocketState::absent : SocketState::other;
  if (!S_ISSOCK(status.st_mode)) return SocketState::other;
  const int error = Caller(path, is_stream).error();
  if (error == ECONNREFUSED) return SocketState::stale;
  return error == 0 || error == EAGAIN ? SocketState::answers : SocketState::other;
}

pid_t socket_owner(const std::string& path) { return Caller(path, true).peer(); }

SocketState remove_stale_socket(const std::string& path, bool is_stream) {
  const SocketState state = socket_state(path, is_stream);
  return state == SocketState::stale && unlink(path.c_str()) == 0 ? SocketState::absent : state;
}

}  // namespace heddle
