// SPDX-License-Identifier: Apache-2.0
// The other end of the operator socket: asks heddled one thing after the other. One thread.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heddle {

class OperatorClient {
 public:
  // Throws std::runtime_error if nobody listens there.
  explicit OperatorClient(const std::string& path);
  ~OperatorClient();
  OperatorClient(const OperatorClient&) = delete;
  OperatorClient& operator=(const OperatorClient&) = delete;

  // The result. Throws std::runtime_error with what heddled says is wrong, or if it doesn't answer within 30 seconds.
  nlohmann::json ask(const nlohmann::json& request);

 private:
  void send_line(std::string line);
  std::string receive_line();

  std::string path_;
  std::string received_;
  int fd_;
};

// Why nobody answers there, as an errno; 0 = somebody listens.
int operator_socket_error(const std::string& path);
inline bool operator_socket_answers(const std::string& path) { return operator_socket_error(path) == 0; }

// Behind a message about EACCES: who may.
inline constexpr const char* kWhoMayUseTheSocket = "use sudo, or be in the group socket_group";

}  // namespace heddle
