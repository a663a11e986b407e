// SPDX-License-Identifier: Apache-2.0
// The operator socket: a Unix stream socket on which each request is a line and each reply is a line. What the lines
// say is the handler's business. Runs in the thread that calls serve(), never in one that moves packets.
//
// Input is not trusted: a request over kRequestBytesMax, or a client that does not read its replies, costs that client
// its connection and nobody else anything.
#pragma once

#include <functional>
#include <list>
#include <string>
#include <string_view>

namespace heddle {

class OperatorServer {
 public:
  static constexpr size_t kRequestBytesMax = 64 * 1024;
  static constexpr size_t kClientsMax = 32;

  // Gets a request without its newline, gives a reply without one.
  using Handler = std::function<std::string(std::string_view request)>;

  // Makes the socket, 0660 and of `group` (empty = the process's own), and the folder it lies in. One left behind by a
  // process that died is replaced. Throws std::runtime_error, also if another process listens there.
  OperatorServer(const std::string& path, const std::string& group, Handler handler);
  ~OperatorServer();  // takes the socket away
  OperatorServer(const OperatorServer&) = delete;
  OperatorServer& operator=(const OperatorServer&) = delete;

  // Serves until `stop_fd` can be read; one request of each client in its turn, with a look at `stop_fd` in between.
  void serve(int stop_fd);

 private:
  struct Client {
    int fd;
    std::string input;
    std::string output;
  };
  void listen_at(const std::string& group);
  void accept_clients();
  static short awaited(const Client& client);
  // Each false = the connection is over.
  bool read_from(Client& client);
  bool answer(Client& client);
  bool write_to(Client& client);

  std::string path_;
  Handler handler_;
  int listener_ = -1;
  bool bound_ = false;
  std::list<Client> clients_;  // oldest first
};

}  // namespace heddle
