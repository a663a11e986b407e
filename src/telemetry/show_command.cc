// SPDX-License-Identifier: Apache-2.0
#include "telemetry/show_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <thread>

#include "telemetry/operator_client.h"
#include "telemetry/show_text.h"

namespace heddle {

namespace {

constexpr const char* kRunFolder = "/run/heddle";
const std::vector<std::string> kTables{"nodes", "ports", "links", "flows", "congestion", "tables", "drops", "workers"};

struct ShowOptions {
  std::string what, node, port, lab, socket;
  uint32_t offset = 0, limit = 20;
  bool all = false, json = false, watch = false;
};

struct SocketsPresent {
  std::vector<std::string> open;
  std::vector<std::string> denied;  // somebody may listen, but not to this user
};

SocketsPresent sockets_present() {
  namespace fs = std::filesystem;
  SocketsPresent sockets;
  std::error_code ignored;
  const fs::recursive_directory_iterator entries(kRunFolder, fs::directory_options::skip_permission_denied, ignored);
  for (const auto& entry : entries) {
    if (entry.path().extension() != ".sock") continue;
    const int error = operator_socket_error(entry.path());
    if (error == 0) sockets.open.push_back(entry.path());
    if (error == EACCES) sockets.denied.push_back(entry.path());
  }
  std::sort(sockets.open.begin(), sockets.open.end());
  return sockets;
}

Json request_of(const ShowOptions& options) {
  Json request{{"command", "show"}, {"what", options.what}};
  if (!options.node.empty()) request["node"] = options.node;
  if (!options.port.empty()) request["port"] = options.port;
  if (options.what == "flows")
    request.update({{"offset", options.offset}, {"limit", options.limit}, {"all", options.all}});
  return request;
}

void print(const ShowOptions& options, const Json& reply) {
  const std::string text = options.json ? reply.dump(options.watch ? -1 : 2) + "\n" : show_text(options.what, reply);
  if (options.watch && !options.json && isatty(STDOUT_FILENO)) std::fputs("\033[H\033[2J", stdout);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void show(const ShowOptions& options) {
  OperatorClient client(choose_operator_socket(options.socket, options.lab));
  const Json request = request_of(options);
  print(options, client.ask(request));
  while (options.watch) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    if (!options.json && !isatty(STDOUT_FILENO)) std::fputs("\n", stdout);
    print(options, client.ask(request));
  }
}

}  // namespace

std::string choose_operator_socket(const std::string& given, const std::string& lab) {
  if (!given.empty()) return given;
  if (!lab.empty()) return std::string(kRunFolder) + "/" + lab + "/heddled.sock";
  if (const char* from_environment = std::getenv("HEDDLE_SOCKET")) return from_environment;
  const auto [paths, denied] = sockets_present();
  if (paths.size() == 1) return paths[0];
  if (paths.empty() && !denied.empty())
    throw std::runtime_error(denied[0] + " is not for this user; " + kWhoMayUseTheSocket);
  if (paths.empty())
    throw std::runtime_error(std::string("no heddled listens under ") + kRunFolder + "; name its --socket");
  std::string all;
  for (const std::string& path : paths) all += "\n  " + path;
  throw std::runtime_error("several heddled run; choose one by --lab or --socket:" + all);
}

void add_show_command(CLI::App& app) {
  auto options = std::make_shared<ShowOptions>();
  CLI::App* command = app.add_subcommand("show", "Show what a running heddled knows");
  command->add_option("what", options->what, "nodes, ports, links, flows, congestion, tables, drops or workers")
      ->required()
      ->check(CLI::IsMember(kTables));
  command->add_option("--node", options->node, "only this node");
  command->add_option("--port", options->port, "only this port of the node")->needs("--node");
  command->add_option("--limit", options->limit, "flows: at most so many, the busiest first")
      ->check(CLI::Range(1, 1024));
  command->add_option("--offset", options->offset, "flows: leave out so many");
  command->add_flag("--all", options->all, "flows: those that rest, too");
  command->add_flag("--json", options->json, "as JSON");
  command->add_flag("--watch", options->watch, "again every second, until interrupted");
  command->add_option("--lab", options->lab, "of this lab");
  command->add_option("--socket", options->socket, "path of the operator socket");
  command->callback([options] { show(*options); });
}

}  // namespace heddle
