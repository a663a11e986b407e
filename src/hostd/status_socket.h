// SPDX-License-Identifier: Apache-2.0
// Where heddle-hostd says what it does: a socket for each network namespace, to which it answers with one JSON
// document. It is the lock of that namespace as well. Errors are std::runtime_error.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heddle::hostd {

class StatusSocket {
 public:
  // Throws if there is another one.
  StatusSocket();
  ~StatusSocket();
  StatusSocket(const StatusSocket&) = delete;

  int file() const { return socket_; }  // readable when somebody asks
  void answer(const nlohmann::json& status) const;

 private:
  void listen_here();

  std::string path_;
  int lock_;  // of a file beside it, as long as it lives
  int socket_;
};

// What the one of this network namespace answers.
nlohmann::json ask_status();

}  // namespace heddle::hostd
