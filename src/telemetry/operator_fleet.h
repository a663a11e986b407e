// SPDX-License-Identifier: Apache-2.0
// All heddleds that an operator asks at once: those of a machine, or those that were named. Each has the same time to
// answer; one that does not keeps nobody else from answering.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "telemetry/json.h"
#include "telemetry/operator_client.h"

namespace heddle {

struct OperatorSockets {
  std::vector<std::string> paths;
  bool found = false;  // by looking: there may be sockets of other programs among them
};

// Operator sockets to ask: those `given`, else that of lab `lab`, else those in HEDDLE_SOCKET, with commas, else all
// that there are in the run folders, where each has `patience` to take a call. Throws std::runtime_error if there is
// none.
OperatorSockets choose_operator_sockets(const std::vector<std::string>& given, const std::string& lab,
                                        std::chrono::milliseconds patience);

struct FleetAnswer {
  Json result;            // null if it has refused, or has not answered
  std::string error;      // then why
  bool stranger = false;  // was found and hangs up instead of answering: no heddled, or one that ends
};

// Results of those that have answered. A process without the node that was asked for is none of them, and no failure as
// long as another one has it. `failed`: somebody that should have answered did not, which stderr was told. Throws
// std::runtime_error if no process has the node.
std::vector<Json> replies_of(std::vector<FleetAnswer> answers, bool& failed);

class OperatorFleet {
 public:
  OperatorFleet(OperatorSockets sockets, std::chrono::milliseconds patience)
      : sockets_(std::move(sockets)), clients_(sockets_.paths.size()), patience_(patience) {}

  size_t size() const { return sockets_.paths.size(); }
  // One answer for each socket, in their order.
  std::vector<FleetAnswer> ask(const Json& request);
  // A request of its own for each.
  std::vector<FleetAnswer> ask_each(const std::vector<Json>& requests);

 private:
  OperatorSockets sockets_;
  std::vector<std::unique_ptr<OperatorClient>> clients_;  // by socket; empty while there is no connection
  std::chrono::milliseconds patience_;
};

}  // namespace heddle
