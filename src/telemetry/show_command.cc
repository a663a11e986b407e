// SPDX-License-Identifier: Apache-2.0
#include "telemetry/show_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <thread>

#include "cli/command_line.h"
#include "telemetry/fleet_options.h"
#include "telemetry/show.h"
#include "telemetry/show_merge.h"
#include "telemetry/show_text.h"

namespace heddle {

namespace {

const std::vector<std::string> kTables{"nodes",  "ports",   "links",    "flows",   "applications", "hosts",
                                       "pauses", "shapers", "stations", "routes",  "load",         "congestion",
                                       "tables", "queues",  "drops",    "workers", "events"};

struct ShowOptions {
  std::string what, node, port;
  uint32_t offset = 0, limit = 20;
  FleetOptions heddleds;
  bool all = false, json = false, watch = false, follow = false;
};

Json request_of(const ShowOptions& options) {
  Json request{{"command", "show"}, {"what", options.what}};
  if (!options.node.empty()) request["node"] = options.node;
  if (!options.port.empty()) request["port"] = options.port;
  if (options.what == "flows")
    request.update({{"offset", options.offset}, {"limit", options.limit}, {"all", options.all}});
  return request;
}

void print(const ShowOptions& options, const std::string& text) {
  if (options.watch && !options.json && isatty(STDOUT_FILENO)) std::fputs("\033[H\033[2J", stdout);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

bool show_once(const ShowOptions& options, OperatorFleet& fleet) {
  Json request = request_of(options);
  const bool cut_here = options.what == "flows" && fleet.size() > 1;  // any of them may have the busiest
  if (cut_here) {
    if (uint64_t{options.offset} + options.limit > kFlowsAtOnce)
      throw std::runtime_error("more than the first " + std::to_string(kFlowsAtOnce) +
                               " flows are shown of one heddled only; name its --socket");
    request.update({{"offset", 0}, {"limit", options.offset + options.limit}});
  }
  bool failed = false;
  const std::vector<Json> replies = replies_of(fleet.ask(request), failed);
  if (replies.empty()) return false;
  Json merged = merge_replies(replies);
  add_paths(merged);
  if (cut_here) cut_flows(merged, options.offset, options.limit);
  print(options,
        options.json ? merged.dump(options.watch ? -1 : 2) + "\n" : show_text(options.what, with_fabric_names(merged)));
  return !failed;
}

// Of all processes in the order of time. Each has numbers of its own.
bool show_events(const ShowOptions& options, OperatorFleet& fleet) {
  constexpr auto kPause = std::chrono::milliseconds(250);
  std::vector<Json> requests(fleet.size(), {{"command", "events"}, {"after", 0}, {"limit", options.limit}});
  bool failed = false;
  do {
    std::vector<Json> rows;
    std::vector<FleetAnswer> answers = fleet.ask_each(requests);
    for (size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i].error.empty()) continue;
      requests[i]["after"] = answers[i].result["last"];
      requests[i]["limit"] = 1024;
      for (const Json& event : answers[i].result["events"]) rows.push_back(event);
    }
    replies_of(std::move(answers), failed);
    std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) { return a["at_ns"] < b["at_ns"]; });
    for (const Json& row : rows) {
      const std::string place = row["place"].get<std::string>();
      const bool wanted = options.node.empty() || place == options.node || place.starts_with(options.node + ":");
      if (wanted) print(options, options.json ? row.dump() + "\n" : event_text(row));
    }
    if (options.follow) std::this_thread::sleep_for(kPause);
  } while (options.follow && !failed);
  return !failed;
}

void show(const ShowOptions& options) {
  OperatorFleet fleet = options.heddleds.fleet();
  bool good;
  if (options.what == "events") {
    good = show_events(options, fleet);
  } else {
    good = show_once(options, fleet);
    while (options.watch) {
      std::this_thread::sleep_for(std::chrono::seconds(1));
      if (!options.json && !isatty(STDOUT_FILENO)) std::fputs("\n", stdout);
      show_once(options, fleet);
    }
  }
  if (!good) throw CLI::RuntimeError(EXIT_FAILURE);
}

}  // namespace

void add_show_command(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "Show what running heddleds know");
  command->add_option("what", options->what, joined_text(kTables))->required()->check(one_of(kTables));
  command->add_option("--node", options->node, "only this node");
  command->add_option("--port", options->port, "only this port of the node")->needs("--node");
  command->add_option("--limit", options->limit, "flows: at most so many, the busiest first; events: the last ones")
      ->check(CLI::Range(1, 1024));
  command->add_option("--offset", options->offset, "flows: leave out so many");
  command->add_flag("--all", options->all, "flows: those that rest, too");
  command->add_flag("--json", options->json, "as JSON");
  command->add_flag("--watch", options->watch, "again every second, until interrupted");
  command->add_flag("--follow", options->follow, "events: and those to come, until interrupted");
  options->heddleds.add_to(*command);
  command->callback([options] { show(*options); });
}

}  // namespace heddle
