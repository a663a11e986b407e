// SPDX-License-Identifier: Apache-2.0
// The other end of the operator socket: asks heddled one thing after the other. One thread.
#pragma once

#include <chrono>
#include <stdexcept>
#include <string>

#include "telemetry/json.h"

namespace heddle {

// heddled has understood the request and says no.
struct OperatorRefusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Somebody listened there and ended the connection instead of answering.
struct OperatorHungUp : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::chrono::seconds kOperatorPatience(5);

class OperatorClient {
 public:
  // `patience`: how long heddled has for each thing. Throws std::runtime_error if nobody listens there.
  explicit OperatorClient(const std::string& path, std::chrono::milliseconds patience = kOperatorPatience);
  ~OperatorClient();
  OperatorClient(const OperatorClient&) = delete;
  OperatorClient& operator=(const OperatorClient&) = delete;

  // The result. Throws OperatorRefusal, OperatorHungUp, or std::runtime_error if heddled doesn't answer in time.
  Json ask(const Json& request);

 private:
  void send_line(std::string line);
  std::string receive_line();
  [[noreturn]] void fail(int error) const;
  [[noreturn]] void hung_up() const;

  std::string path_;
  std::chrono::milliseconds patience_;
  std::string received_;
  int fd_;
};

// Why nobody answers there, as an errno; 0 = somebody listens.
int operator_socket_error(const std::string& path, std::chrono::milliseconds patience = kOperatorPatience);
inline bool operator_socket_answers(const std::string& path) { return operator_socket_error(path) == 0; }

// Behind a message about EACCES: who may.
inline constexpr const char* kWhoMayUseTheSocket = "use sudo, or be in the group socket_group";

}  // namespace heddle
