// SPDX-License-Identifier: Apache-2.0
#include "telemetry/clear_command.h"

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "cli/command_line.h"
#include "telemetry/operator_fleet.h"

namespace heddle {

namespace {

const std::vector<std::string> kClearable{"queues"};

struct ClearOptions {
  std::string what, node, port, lab;
  std::vector<std::string> sockets;
  double timeout_seconds = static_cast<double>(kOperatorPatience.count());
};

void clear(const ClearOptions& options) {
  const auto patience = std::chrono::milliseconds(static_cast<int64_t>(options.timeout_seconds * 1000));
  OperatorFleet fleet(choose_operator_sockets(options.sockets, options.lab, patience), patience);
  Json request{{"command", "clear"}, {"what", options.what}};
  if (!options.node.empty()) request["node"] = options.node;
  if (!options.port.empty()) request["port"] = options.port;
  bool failed = false;
  uint64_t ports = 0;
  const std::vector<Json> replies = replies_of(fleet.ask(request), failed);
  for (const Json& reply : replies) ports += reply.at("ports").get<uint64_t>();
  if (!replies.empty()) std::printf("queues of %llu ports cleared\n", static_cast<unsigned long long>(ports));
  if (failed || replies.empty()) throw CLI::RuntimeError(EXIT_FAILURE);
}

}  // namespace

void add_clear_command(CLI::App& app) {
  auto options = std::make_shared<ClearOptions>();
  CLI::App* command = app.add_subcommand("clear", "Count anew what `heddle show queues` tells");
  command->add_option("what", options->what, joined_text(kClearable))->required()->check(one_of(kClearable));
  command->add_option("--node", options->node, "only of this node");
  command->add_option("--port", options->port, "only of this port of the node")->needs("--node");
  command->add_option("--lab", options->lab, "of this lab");
  command->add_option("--socket", options->sockets, "path of an operator socket, or several; else all of this machine");
  command->add_option("--timeout", options->timeout_seconds, "seconds that each heddled has to answer")
      ->check(CLI::Range(0.1, 3600.0));
  command->callback([options] { clear(*options); });
}

}  // namespace heddle
