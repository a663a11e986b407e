// SPDX-License-Identifier: Apache-2.0
#include "hostd/status_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "hostd/shared_maps.h"

namespace heddle::hostd {

namespace {

constexpr char kFolder[] = "/run/heddle-hostd";

[[noreturn]] void fail(const std::string& what, int error) {
  throw std::runtime_error(what + ": " + std::strerror(error));
}

std::string path_here() {
  struct stat facts {};
  if (stat("/proc/self/ns/net", &facts) != 0) fail("/proc/self/ns/net", errno);
  return std::string(kFolder) + "/net-" + std::to_string(facts.st_ino) + ".sock";
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

int open_socket() {
  const int opened = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (opened < 0) fail("socket", errno);
  constexpr timeval kPatience{.tv_sec = 1, .tv_usec = 0};  // for connecting, asking, and being answered
  setsockopt(opened, SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  setsockopt(opened, SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  return opened;
}

// Not if who had it before has removed it since it was opened.
bool is_at(int opened, const std::string& path) {
  struct stat ours {
  }, there{};
  return fstat(opened, &ours) == 0 && stat(path.c_str(), &there) == 0 && ours.st_ino == there.st_ino;
}

bool connects(int opened, const std::string& path) {
  const sockaddr_un address = address_of(path);
  return connect(opened, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

// An answer about as many flows as there can be, a kilobyte for each: the socket takes it at once,
// whenever it is read.
constexpr int kAnswerBytes = HOSTD_PAUSES * 1024;

}  // namespace

StatusSocket::StatusSocket() : path_(path_here()), lock_(-1), socket_(-1) {
  std::error_code error;
  std::filesystem::create_directories(kFolder, error);
  const std::string lock_path = path_ + ".lock";
  lock_ = open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) fail(lock_path, errno);
  try {
    if (flock(lock_, LOCK_EX | LOCK_NB) != 0 || !is_at(lock_, lock_path))
      throw std::runtime_error("another heddle-hostd runs in this network namespace");
    listen_here();
  } catch (...) {
    if (socket_ >= 0) close(socket_);
    close(lock_);
    throw;
  }
}

// What is there is of an earlier life: the lock is ours.
void StatusSocket::listen_here() {
  socket_ = open_socket();
  unlink(path_.c_str());
  const sockaddr_un address = address_of(path_);
  if (bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(socket_, 8) != 0)
    fail(path_, errno);
  fcntl(socket_, F_SETFL, O_NONBLOCK);
}

StatusSocket::~StatusSocket() {
  unlink(path_.c_str());
  unlink((path_ + ".lock").c_str());
  close(socket_);
  close(lock_);
}

void StatusSocket::answer(const nlohmann::json& status) const {
  const int asking = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (asking < 0) return;
  setsockopt(asking, SOL_SOCKET, SO_SNDBUFFORCE, &kAnswerBytes, sizeof kAnswerBytes);
  // Names of control groups are any bytes.
  const std::string text = status.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  for (size_t sent = 0; sent < text.size();) {
    const ssize_t more = send(asking, text.data() + sent, text.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (more <= 0) break;
    sent += static_cast<size_t>(more);
  }
  close(asking);
}

nlohmann::json ask_status() {
  const std::string path = path_here();
  const int asking = open_socket();
  if (!connects(asking, path)) {
    const int error = errno;
    close(asking);
    if (error == ENOENT || error == ECONNREFUSED)
      throw std::runtime_error("no heddle-hostd runs in this network namespace");
    fail(path, error);
  }
  std::string text;
  char part[4096];
  for (ssize_t got; (got = recv(asking, part, sizeof part, 0)) > 0;) text.append(part, static_cast<size_t>(got));
  close(asking);
  nlohmann::json status = nlohmann::json::parse(text, nullptr, false);
  if (status.is_discarded()) throw std::runtime_error(path + ": the answer is cut off");
  return status;
}

}  // namespace heddle::hostd
