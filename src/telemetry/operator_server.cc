// SPDX-License-Identifier: Apache-2.0
#include "telemetry/operator_server.h"

#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <utility>
#include <vector>

#include "machine/stale_socket.h"

namespace heddle {

namespace {

constexpr size_t kReadBytes = 16 * 1024;

int milliseconds_until(std::chrono::steady_clock::time_point time) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(time - std::chrono::steady_clock::now());
  return static_cast<int>(std::max<int64_t>(0, left.count()));
}

bool can_be_read(int fd) {
  pollfd polled{fd, POLLIN, 0};
  return poll(&polled, 1, 0) > 0;
}

[[noreturn]] void fail(const std::string& path, const char* what) {
  throw std::runtime_error("operator socket " + path + ": " + what + ": " + std::strerror(errno));
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() >= sizeof(address.sun_path))
    throw std::runtime_error("operator socket " + path + ": path must have 1 to " +
                             std::to_string(sizeof(address.sun_path) - 1) + " bytes");
  path.copy(address.sun_path, path.size());
  return address;
}

// A socket file that nobody listens on any more is in the way; one that somebody listens on is not ours.
void make_way(const std::string& path) {
  const SocketState state = remove_stale_socket(path, true);
  if (state == SocketState::answers)
    throw std::runtime_error("operator socket " + path + ": another heddled listens there");
  if (state != SocketState::absent)
    throw std::runtime_error("operator socket " + path + ": something else has that name");
}

}  // namespace

OperatorServer::OperatorServer(const std::string& path, const std::string& group, Handler handler)
    : path_(path), handler_(std::move(handler)) {
  try {
    listen_at(group);
  } catch (...) {
    if (bound_) unlink(path_.c_str());
    if (listener_ >= 0) close(listener_);
    throw;
  }
}

void OperatorServer::listen_at(const std::string& group) {
  const sockaddr_un address = address_of(path_);
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  std::error_code ignored;  // bind tells
  if (!folder.empty()) std::filesystem::create_directories(folder, ignored);
  make_way(path_);
  listener_ = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (listener_ < 0) fail(path_, "can't be made");
  const mode_t before = umask(0117);  // 0660 from its first moment
  const int bound = bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  umask(before);
  if (bound != 0) fail(path_, "can't be bound");
  bound_ = true;
  if (!group.empty()) set_group(group);
  if (listen(listener_, SOMAXCONN) != 0) fail(path_, "can't listen");
}

void OperatorServer::set_group(const std::string& group) {
  const struct group* entry = group.empty() ? nullptr : getgrnam(group.c_str());
  if (!group.empty() && entry == nullptr) throw std::runtime_error("operator socket " + path_ + ": no group " + group);
  const gid_t id = entry != nullptr ? entry->gr_gid : getegid();
  if (chown(path_.c_str(), static_cast<uid_t>(-1), id) == 0) return;
  if (errno != EPERM) fail(path_, "group can't be set");
  throw std::runtime_error("operator socket " + path_ + ": can't be given to group " + group +
                           ", which heddled's user is not in; with systemd: SupplementaryGroups=" + group);
}

OperatorServer::~OperatorServer() {
  for (const Client& client : clients_) close(client.fd);
  close(listener_);
  unlink(path_.c_str());
}

void OperatorServer::serve(int stop_fd, Nanos interval, const std::function<void()>& tick) {
  using Clock = std::chrono::steady_clock;
  auto next = Clock::now();
  while (true) {
    auto now = Clock::now();
    if (now >= next) {
      tick();
      now = Clock::now();
      next = now + std::chrono::nanoseconds(interval);
    }
    if (!serve_once(stop_fd, milliseconds_until(next))) return;
  }
}

// What is due now, or comes within so long. False when it is told to stop.
bool OperatorServer::serve_once(int stop_fd, int patience_ms) {
  std::vector<pollfd> polled{{stop_fd, POLLIN, 0}, {listener_, POLLIN, 0}};
  for (const Client& client : clients_) {
    polled.push_back({client.fd, awaited(client), 0});
    if (client.later != nullptr)
      patience_ms = std::min(patience_ms, milliseconds_until(client.due));
    else if (awaited(client) == 0)
      patience_ms = 0;
  }
  if (poll(polled.data(), polled.size(), patience_ms) < 0) {
    if (errno == EINTR) return true;
    fail(path_, "poll");
  }
  if (polled[0].revents != 0) return false;
  size_t index = 2;
  for (auto client = clients_.begin(); client != clients_.end(); ++index) {
    const short events = polled[index].revents;
    bool alive = true;
    if ((events & POLLIN) != 0) alive = read_from(*client);
    if (alive && (events & POLLOUT) != 0) alive = write_to(*client);
    if (alive) alive = answer(*client);
    if (can_be_read(stop_fd)) return false;  // an answer may have taken a while
    if (alive && (events & (POLLERR | POLLNVAL)) != 0) alive = false;
    if (alive && (events & (POLLIN | POLLHUP)) == POLLHUP) alive = false;
    if (!alive) close(client->fd);
    client = alive ? std::next(client) : clients_.erase(client);
  }
  if (polled[1].revents != 0) accept_clients();
  return true;
}

void OperatorServer::accept_clients() {
  const int fd = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) return;
  if (clients_.size() == kClientsMax) {  // the one that has been here longest makes room
    close(clients_.front().fd);
    clients_.pop_front();
  }
  clients_.push_back({.fd = fd, .input = {}, .output = {}, .later = {}, .due = {}});
}

bool OperatorServer::read_from(Client& client) {
  char bytes[kReadBytes];
  const ssize_t got = read(client.fd, bytes, sizeof(bytes));
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  client.input.append(bytes, static_cast<size_t>(got));
  return got > 0;
}

// What has to happen at a client before it gets on; 0 = nothing, it has an answer coming. Its next request waits until
// it has read the reply to the one before.
short OperatorServer::awaited(const Client& client) {
  if (!client.output.empty()) return POLLOUT;
  if (client.later != nullptr) return 0;
  return client.input.find('\n') == std::string::npos ? POLLIN : 0;
}

// One request, so that who sends many at once waits for the others between them. The rest stays in its input.
bool OperatorServer::answer(Client& client) {
  if (client.later != nullptr) return answer_later(client);
  if (!client.output.empty()) return true;
  const size_t end = client.input.find('\n');
  if (end > kRequestBytesMax && client.input.size() > kRequestBytesMax) return false;
  if (end == std::string::npos) return true;
  Answer answer = handler_(std::string_view(client.input).substr(0, end));
  client.input.erase(0, end + 1);
  if (answer.later != nullptr) {
    client.later = std::move(answer.later);
    client.due = std::chrono::steady_clock::now() + std::chrono::nanoseconds(answer.after_ns);
    return true;
  }
  client.output = answer.reply + "\n";
  return write_to(client);
}

bool OperatorServer::answer_later(Client& client) {
  if (std::chrono::steady_clock::now() < client.due) return true;
  client.output = std::exchange(client.later, nullptr)() + "\n";
  return write_to(client);
}

bool OperatorServer::write_to(Client& client) {
  while (!client.output.empty()) {
    const ssize_t sent = send(client.fd, client.output.data(), client.output.size(), MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == EINTR;
    client.output.erase(0, static_cast<size_t>(sent));
  }
  return true;
}

}  // namespace heddle
