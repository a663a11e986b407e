// SPDX-License-Identifier: Apache-2.0
// heddled: runs one node, or several, or all switches of a lab, until it is told to stop.
#include <signal.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "config/lab_file.h"
#include "config/node_file.h"
#include "io/eal.h"
#include "io/switch_process.h"
#include "lab/lab_names.h"
#include "telemetry/operator_commands.h"
#include "telemetry/operator_server.h"

namespace {

using namespace heddle;

struct Arguments {
  std::string file;
  bool is_lab = false;
  bool check = false;
};

std::optional<ProcessConfig> load(const Arguments& arguments) {
  ConfigErrors errors;
  std::optional<ProcessConfig> process;
  if (arguments.is_lab) {
    const std::optional<LabConfig> lab = load_lab(arguments.file, errors);
    if (lab) process = lab_process(*lab);
  } else {
    process = load_node_file(arguments.file, errors);
  }
  if (!errors.empty()) std::fputs(errors.text().c_str(), stderr);
  return process;
}

// Becomes readable on SIGTERM and SIGINT, which no thread started after this sees in another way.
int stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

// Tells systemd, if it is the one that waits (Type=notify).
void notify(const char* state) {
  const char* path = std::getenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  const std::string_view name = path == nullptr ? "" : path;
  if (name.empty() || name.size() >= sizeof(address.sun_path)) return;
  address.sun_family = AF_UNIX;
  name.copy(address.sun_path, name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';
  const int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  sendto(fd, state, std::strlen(state), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), bytes);
  close(fd);
}

void start_log(const std::string& level) {
  auto logger = spdlog::stderr_logger_mt("heddled");
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

EalOptions eal_options(const ProcessConfig& config) {
  EalOptions options{
      .threads = config.threads, .memory_mb = config.memory_mb, .huge_pages = config.huge_pages, .pci_devices = {}};
  for (const NodeProcess& node : config.nodes)
    for (const PortDevice& port : node.ports)
      if (is_pci_device(port.device)) options.pci_devices.push_back(port.device);
  return options;
}

void run(ProcessConfig config) {
  start_log(config.log_level);
  const int stop_fd = stop_signals();
  const std::string socket_path = config.socket;
  SwitchProcess* running = nullptr;
  OperatorServer server(socket_path, config.socket_group, [&running, stop_fd](std::string_view request) {
    return answer_request(*running, request, stop_fd);
  });
  const Eal eal(eal_options(config));
  SwitchProcess process(std::move(config));
  running = &process;
  process.start();
  for (const ProcessNode& node : process.nodes())
    spdlog::info("node {} runs, {} worker(s)", process.topology().nodes[node.settings.node_index].name,
                 node.settings.workers);
  if (const Topology& topology = process.topology(); topology.any_lossless())
    spdlog::info("lossless classes have {} buffers in each of {} virtual channel(s) of a link",
                 topology.settings.lossless_credits, topology.lossless_channels);
  spdlog::info("operator socket {}", socket_path);
  notify("READY=1");
  server.serve(stop_fd);
  notify("STOPPING=1");
  spdlog::info("told to stop");
  process.stop();
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Runs the switches that a node file or a lab file describes.", "heddled");
  app.add_option("file", arguments.file, "node file (YAML)")->required();
  app.add_flag("--lab", arguments.is_lab, "the file is a lab file; its interfaces have been made by `heddle lab up`");
  app.add_flag("--check", arguments.check, "only say what is wrong with the file");
  app.set_version_flag("--version", HEDDLE_VERSION_TEXT);
  CLI11_PARSE(app, argc, argv);
  std::optional<ProcessConfig> config = load(arguments);
  if (!config) return EXIT_FAILURE;
  if (arguments.check) {
    std::printf("%s: no problem found\n", arguments.file.c_str());
    return EXIT_SUCCESS;
  }
  try {
    run(std::move(*config));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddled: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
