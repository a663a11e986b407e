// SPDX-License-Identifier: Apache-2.0
// heddle-traffic: sends numbered frames into one DPDK port and judges what comes out of another one.
#include <signal.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "cli/command_line.h"
#include "config/device_string.h"
#include "io/eal.h"
#include "traffic/cache_line.h"
#include "traffic/report.h"
#include "traffic/run.h"

namespace {

using namespace heddle;
using namespace heddle::traffic;

constexpr uint32_t kMemoryMb = 192;

struct Arguments {
  TrafficOptions traffic;
  std::vector<std::string> ports;
  std::optional<int> cpu;
  std::vector<int> cache_line_cpus;
  bool cache_line = false, huge_pages = false, hold = false, json = false, strict = false;
};

std::atomic<bool> stopped{false};
void stop(int) { stopped = true; }

// "imix": of 12 frames 7 of 64 bytes, 4 of 590 and 1 of 1514, well mixed.
std::vector<uint16_t> frame_sizes(const std::string& size) {
  if (size == "imix") return {64, 590, 64, 64, 590, 64, 1514, 64, 590, 64, 590, 64};
  uint16_t bytes = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (error != std::errc() || end != size.data() + size.size() || bytes < kFrameBytesMin || bytes > kFrameBytesMax)
    throw CLI::ValidationError("--size", "found " + size + ", allowed " + std::to_string(kFrameBytesMin) + " to " +
                                             std::to_string(kFrameBytesMax) + ", or imix");
  return {bytes};
}

void add_options(CLI::App& app, Arguments& arguments) {
  TrafficOptions& traffic = arguments.traffic;
  app.add_option("--port", arguments.ports, "DPDK device string; twice: the one that sends, the one that receives")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_flag("--both", traffic.both, "send in both directions");
  app.add_option("--flows", traffic.flows, "IP/UDP flows [1, or as many as stations]")
      ->check(CLI::Range(1u, kFlowsMax));
  app.add_option("--stations", traffic.stations, "MAC pairs; the flows are dealt to them in turn [1]")
      ->check(CLI::Range(1u, kFlowsMax));
  app.add_option("--size", traffic.size, "bytes of a frame without FCS, or imix [64]");
  CLI::Option* window =
      app.add_option("--window", traffic.window, "closed loop: frames in flight, each direction [512]")
          ->check(CLI::Range(1, 1'000'000));
  app.add_option("--rate", traffic.rate, "open loop: frames per second, each direction, as in 2.5M")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"k", 1e3}, {"M", 1e6}}))
      ->check(CLI::Range(1.0, 1e9))
      ->excludes(window);
  app.add_option("--burst", traffic.burst, "frames handed over at once [32]")->check(CLI::Range(1, int{kBurstMax}));
  app.add_option("--seconds", traffic.seconds, "that are measured [2]")->check(CLI::Range(0.001, 1e6));
  app.add_option("--warm-up", traffic.warm_up_seconds, "seconds of traffic before, not measured [0.2]")
      ->check(CLI::Range(0.0, 1e6));
  app.add_option("--announce-rate", traffic.announce_rate, "stations announced per second [20000]")
      ->check(CLI::Range(1.0, 1e8));
  app.add_option("--patience", traffic.patience_seconds, "seconds without a frame after which the rest is lost [0.5]")
      ->check(CLI::Range(0.001, 3600.0));
  app.add_option("--check-every", traffic.check_every, "look at the pattern of one frame in so many [1]")
      ->check(CLI::Range(1, 1'000'000));
  app.add_option("--descriptors", traffic.descriptors, "of each ring, where the device has a choice [1024]")
      ->check(CLI::Range(64, 32768));
  app.add_option("--receive-queues", traffic.receive_queues, "for a device under test that sends by several [1]")
      ->check(CLI::Range(1, 16));
  app.add_option("--link-wait", traffic.link_wait_seconds, "seconds until both links must be up [20]")
      ->check(CLI::Range(0.0, 3600.0));
  app.add_option("--cpu", arguments.cpu, "run there and nowhere else");
  app.add_flag("--huge-pages", arguments.huge_pages, "take memory from huge pages");
  app.add_flag("--hold", arguments.hold,
               "keep the ports after the report until standard input ends: memif peers that still poll can crash "
               "when one goes");
  app.add_flag("--strict", arguments.strict, "exit status 1 unless every frame came once, in order and as it was sent");
  app.add_flag("--json", arguments.json, "print JSON");
  app.add_flag("--cacheline", arguments.cache_line, "only tell how long a cache line takes between two CPUs");
  app.add_option("--cpus", arguments.cache_line_cpus, "the two for --cacheline [0,1]")->delimiter(',')->expected(2);
}

void check(const CLI::App& app, Arguments& arguments) {
  TrafficOptions& traffic = arguments.traffic;
  if (arguments.ports.size() != 2) throw CLI::ValidationError("--port", "needed twice");
  std::copy(arguments.ports.begin(), arguments.ports.end(), traffic.devices.begin());
  if (app.count("--flows") == 0) traffic.flows = traffic.stations;
  if (traffic.flows < traffic.stations)
    throw CLI::ValidationError("--flows", "found " + std::to_string(traffic.flows) + ", fewer than stations");
  traffic.frame_bytes = frame_sizes(traffic.size);
}

void print_cache_line(const Arguments& arguments) {
  const std::vector<int> cpus = arguments.cache_line_cpus.empty() ? std::vector{0, 1} : arguments.cache_line_cpus;
  const CacheLineTime time = cache_line_time(cpus[0], cpus[1]);
  std::printf(arguments.json ? "{\"median_ns\":%.1f,\"min_ns\":%.1f}\n" : "one way: median %.1f ns, least %.1f ns\n",
              time.median_ns, time.min_ns);
}

EalOptions eal_options(const Arguments& arguments) {
  EalOptions options{.threads = 0,
                     .memory_mb = kMemoryMb,
                     .huge_pages = arguments.huge_pages,
                     .few_memory_files = true,
                     .pci_devices = {}};
  for (const std::string& device : arguments.ports)
    if (is_pci_device(device)) options.pci_devices.push_back(device);
  return options;
}

bool run(const Arguments& arguments) {
  if (arguments.cpu) pin_to_cpu(*arguments.cpu);
  const Eal eal(eal_options(arguments));
  Run traffic(arguments.traffic, stopped);
  const std::vector<StreamResult> results = traffic.measure();
  const std::string text =
      arguments.json ? json_report(arguments.traffic, results) + "\n" : text_report(arguments.traffic, results);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  char byte;
  while (arguments.hold && !stopped && read(STDIN_FILENO, &byte, 1) > 0) continue;
  return std::all_of(results.begin(), results.end(), [](const StreamResult& result) { return result.flawless(); });
}

// Without SA_RESTART, so that a wait for input ends, too. Drivers write into sockets whose other end may be gone: no
// SIGPIPE.
void catch_signals() {
  struct sigaction action {};
  action.sa_handler = stop;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Sends numbered frames into one DPDK port and judges what comes out of another one.", "heddle-traffic");
  add_options(app, arguments);
  add_version(app, "heddle-traffic");
  try {
    app.parse(argc, argv);
    if (!arguments.cache_line) check(app, arguments);
  } catch (const CLI::ParseError& error) {
    return exit_with(app, error);
  }
  try {
    if (arguments.cache_line) {
      print_cache_line(arguments);
      return EXIT_SUCCESS;
    }
    catch_signals();
    const bool flawless = run(arguments);
    return arguments.strict && !flawless ? EXIT_FAILURE : EXIT_SUCCESS;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle-traffic: %s\n", error.what());
    return EXIT_FAILURE;
  }
}
