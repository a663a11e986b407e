// SPDX-License-Identifier: Apache-2.0
#include "service/daemon.h"

#include <malloc.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "config/device_string.h"
#include "io/clock.h"
#include "io/device_supervisor.h"
#include "io/eal.h"
#include "io/switch_process.h"
#include "service/log.h"
#include "service/service_manager.h"
#include "service/signals.h"
#include "telemetry/event_watch.h"
#include "telemetry/operator_commands.h"

namespace heddle {

namespace {

constexpr Nanos kTickNs = 100 * kMillisecond;

void log_event(const Event& event) {
  spdlog::log(event.is_bad ? spdlog::level::warn : spdlog::level::info, "{}{}{}: {}", event.place,
              event.place.empty() ? "" : " ", event.kind, event.text);
}

EalOptions eal_options(const ProcessConfig& config) {
  EalOptions options{
      .threads = config.threads, .memory_mb = config.memory_mb, .huge_pages = config.huge_pages, .pci_devices = {}};
  for (const NodeProcess& node : config.nodes) {
    for (const PortDevice& port : node.ports) {
      if (is_pci_device(port.device)) options.pci_devices.push_back(port.device);
      // The process at the other end maps all of our memory, of which it takes eight pieces at most.
      if (device_uses(port.device, "net_virtio_user")) options.few_memory_files = true;
    }
  }
  return options;
}

void log_start(const SwitchProcess& process) {
  const Topology& topology = process.topology();
  for (const ProcessNode& node : process.nodes())
    spdlog::info("node {} runs, {} worker(s)", topology.nodes[node.settings.node_index].name, node.settings.workers);
  if (topology.any_lossless())
    spdlog::info("lossless classes have {} buffers in each of {} virtual channel(s) of a link",
                 topology.settings.lossless_credits, topology.lossless_channels);
  spdlog::info("operator socket {}", process.config().socket);
}

}  // namespace

void run_daemon(ProcessConfig config, Reload::Load load) {
  // Tables of a node that goes are given back whole. By itself glibc would raise this limit when the first one is freed
  // and cut later ones out of a heap that only grows.
  mallopt(M_MMAP_THRESHOLD, 128 * 1024);
  start_log(config.log_level);
  Signals signals;
  EventJournal journal(log_event);
  OperatorContext context{.process = nullptr, .journal = &journal};
  OperatorServer server(config.socket, config.socket_group,
                        [&context](std::string_view request) { return answer_request(context, request); });
  auto startup = std::make_unique<StartupWatch>(signals, config.socket);
  const Eal eal(eal_options(config));
  SwitchProcess process(std::move(config));
  startup.reset();
  context.process = &process;
  Reload reload(std::move(load), process, server, journal);
  EventWatch watch(process, journal);
  DeviceSupervisor devices(process, [&](uint16_t node, PortIndex port, bool is_bad, const std::string& text) {
    journal.add({.at_ns = wall_clock_now(),
                 .is_bad = is_bad,
                 .kind = "device",
                 .place = watch.place(node, port),
                 .text = text});
  });
  ServiceWatchdog watchdog(process);
  process.start();
  log_start(process);
  tell_service_manager("READY=1");
  server.serve(signals.stop_fd(), kTickNs, [&] {
    const Nanos now = monotonic_now();
    if (signals.take_hangup()) reload.run();
    devices.tick(now);
    watch.tick(now);
    watchdog.tick(now);
  });
  tell_service_manager("STOPPING=1");
  spdlog::info("told to stop");
  process.stop();
}

}  // namespace heddle
