// SPDX-License-Identifier: Apache-2.0
// The operator socket: a Unix stream socket on which each request is a line and each reply is a line. What the lines
// say is the handler's business. Runs in the thread that calls serve(), never in one that moves packets.
//
// Input is not trusted: a request over kRequestBytesMax, or a client that does not read its replies, costs that client
// its connection and nobody else anything.
#pragma once

#include <chrono>
#include <functional>
#include <list>
#include <string>
#include <string_view>

#include "wire/types.h"

namespace heddle {

class OperatorServer {
 public:
  static constexpr size_t kRequestBytesMax = 64 * 1024;
  static constexpr size_t kClientsMax = 32;

  // A reply without its newline; or, where something is measured over a time, what gives it when that is over. Nobody
  // else waits for it.
  struct Answer {
    std::string reply;
    Nanos after_ns = 0;
    std::function<std::string()> later;  // empty: the reply is there
  };
  // Gets a request without its newline.
  using Handler = std::function<Answer(std::string_view request)>;

  // Makes the socket, 0660 and of `group` (empty = the process's own), and the folder it lies in. One left behind by a
  // process that died is replaced. Throws std::runtime_error, also if another process listens there.
  OperatorServer(const std::string& path, const std::string& group, Handler handler);
  ~OperatorServer();  // takes the socket away
  OperatorServer(const OperatorServer&) = delete;
  OperatorServer& operator=(const OperatorServer&) = delete;

  // Serves until `stop_fd` can be read; one request of each client in its turn, with a look at `stop_fd` in between.
  // `tick` is called about each `interval`, between requests.
  void serve(int stop_fd, Nanos interval, const std::function<void()>& tick);

  // Whom the socket is for from now on; empty = root alone. Throws std::runtime_error, and nothing is changed.
  void set_group(const std::string& group);

 private:
  struct Client {
    int fd;
    std::string input;
    std::string output;
    std::function<std::string()> later;  // gives the answer that is due then
    std::chrono::steady_clock::time_point due;
  };
  void listen_at(const std::string& group);
  bool serve_once(int stop_fd, int patience_ms);
  void accept_clients();
  static short awaited(const Client& client);
  // Each false = the connection is over.
  bool read_from(Client& client);
  bool answer(Client& client);
  bool answer_later(Client& client);
  bool write_to(Client& client);

  std::string path_;
  Handler handler_;
  int listener_ = -1;
  bool bound_ = false;
  std::list<Client> clients_;  // oldest first
};

}  // namespace heddle
