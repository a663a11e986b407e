// SPDX-License-Identifier: Apache-2.0
#include "telemetry/clear_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "cli/command_line.h"
#include "telemetry/fleet_options.h"

namespace heddle {

namespace {

const std::vector<std::string> kClearable{"queues"};

struct ClearOptions {
  std::string what, node, port;
  FleetOptions heddleds;
};

void clear(const ClearOptions& options) {
  OperatorFleet fleet = options.heddleds.fleet();
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
  options->heddleds.add_to(*command);
  command->callback([options] { clear(*options); });
}

}  // namespace heddle
