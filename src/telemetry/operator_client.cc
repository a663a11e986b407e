// SPDX-License-Identifier: Apache-2.0
#include "telemetry/operator_client.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace heddle {

namespace {

timeval timeval_of(std::chrono::milliseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {.tv_sec = seconds.count(), .tv_usec = std::chrono::microseconds(time - seconds).count()};
}

// -1 and errno. A heddled that stands still has room for some callers, and then for none: that waits, too.
int connect_to(const std::string& path, std::chrono::milliseconds patience) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    errno = ENAMETOOLONG;
    return -1;
  }
  path.copy(address.sun_path, path.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  const timeval wait = timeval_of(patience);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

}  // namespace

int operator_socket_error(const std::string& path, std::chrono::milliseconds patience) {
  const int fd = connect_to(path, patience);
  if (fd < 0) return errno;
  close(fd);
  return 0;
}

OperatorClient::OperatorClient(const std::string& path, std::chrono::milliseconds patience)
    : path_(path), patience_(patience), fd_(connect_to(path, patience)) {
  if (fd_ < 0) fail(errno);
}

void OperatorClient::fail(int error) const {
  std::string text = "can't reach heddled at " + path_ + ": " + std::strerror(error);
  if (error == ENOENT || error == ECONNREFUSED) text += "; is it running?";
  if (error == EACCES) text += std::string("; ") + kWhoMayUseTheSocket;
  if (error == EAGAIN) {
    text = "heddled at " + path_ + " doesn't answer within " + std::to_string(patience_.count() / 1000.0).substr(0, 4) +
           " s; is it stopped, or very busy?";
  }
  throw std::runtime_error(text);
}

void OperatorClient::hung_up() const { throw OperatorHungUp("heddled at " + path_ + " hung up"); }

OperatorClient::~OperatorClient() { close(fd_); }

Json OperatorClient::ask(const Json& request) {
  send_line(request.dump() + "\n");
  Json reply = Json::parse(receive_line(), nullptr, false);
  if (!reply.is_object() || !reply.contains("ok") || !reply["ok"].is_boolean())
    throw std::runtime_error("heddled at " + path_ + " answered something that is no reply");
  if (!reply["ok"].get<bool>()) throw OperatorRefusal(reply.value("error", std::string("refused")));
  return std::move(reply["result"]);
}

void OperatorClient::send_line(std::string line) {
  while (!line.empty()) {
    const ssize_t sent = send(fd_, line.data(), line.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EPIPE) hung_up();
    if (sent < 0) fail(errno);
    line.erase(0, static_cast<size_t>(sent));
  }
}

std::string OperatorClient::receive_line() {
  size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    char bytes[64 * 1024];
    const ssize_t got = read(fd_, bytes, sizeof(bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got == 0 || (got < 0 && errno == ECONNRESET)) hung_up();
    if (got < 0) fail(errno);
    received_.append(bytes, static_cast<size_t>(got));
  }
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return line;
}

}  // namespace heddle
