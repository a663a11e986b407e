// SPDX-License-Identifier: Apache-2.0
// heddle-hostd: holds back flows of this host's interfaces as the switch at their other end asks, or shows which it
// does.
#include <poll.h>
#include <sys/signalfd.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "apps/findings.h"
#include "cli/command_line.h"
#include "cli/text_table.h"
#include "hostd/agent.h"
#include "hostd/examine.h"
#include "hostd/socket_owners.h"
#include "hostd/status_socket.h"

namespace {

using namespace heddle;
using hostd::Agent;
using nlohmann::json;

uint64_t now_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

int stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int one : {SIGTERM, SIGINT}) sigaddset(&set, one);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGHUP, SIG_IGN);  // there is nothing to read again
  return signalfd(-1, &set, SFD_CLOEXEC);
}

void run(const hostd::AgentOptions& options) {
  const int stop = stop_signals();
  const hostd::StatusSocket socket;
  Agent agent(options);
  sd_notify(0, "READY=1");
  std::string names;
  for (const std::string& name : options.interfaces) names += " " + name;
  std::fprintf(stderr, "heddle-hostd: flows of%s are held back as switches ask\n", names.c_str());
  pollfd files[] = {{stop, POLLIN, 0}, {socket.file(), POLLIN, 0}};
  for (uint64_t next_ns = now_ns(); (files[0].revents & POLLIN) == 0;) {
    if (files[1].revents & POLLIN) socket.answer(agent.status(now_ns()));
    if (const uint64_t now = now_ns(); now >= next_ns) {
      agent.tick(now);
      next_ns = now + Agent::kTickNs;
    }
    const uint64_t now = now_ns();
    poll(files, 2, next_ns <= now ? 0 : static_cast<int>((next_ns - now) / 1'000'000 + 1));
  }
  close(stop);
}

// Whose socket each flow comes from, as whoever asks may see it: heddle-hostd itself needs no right to look into
// others.
void name_processes(json& flows) {
  if (flows.empty()) return;
  const hostd::SocketOwners owners;
  for (json& flow : flows) {
    const json& socket = flow.at("socket");
    flow["process"] = socket.is_null() ? ""
                                       : owners.of({.protocol = socket.at("protocol"),
                                                    .source = socket.at("source"),
                                                    .destination = socket.at("destination"),
                                                    .source_port = socket.at("source_port"),
                                                    .destination_port = socket.at("destination_port")});
  }
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string shown(const json& status) {
  std::string names, not_held;
  for (const json& name : status.at("interfaces")) names += (names.empty() ? "" : ", ") + name.get<std::string>();
  for (const json& one : status.at("not_held")) not_held += one.at("why").get<std::string>() + "\n";
  if (status.at("flows").empty()) return (names.empty() ? "" : "nothing of " + names + " is held back\n") + not_held;
  using Align = TextTable::Align;
  TextTable table({{"INTERFACE"},
                   {"FLOW"},
                   {"CGROUP"},
                   {"PROCESS"},
                   {"HELD BY"},
                   {"SINCE", Align::right},
                   {"RATE", Align::right},
                   {"WAITING", Align::right},
                   {"DROPPED", Align::right}});
  for (const json& flow : status.at("flows")) {
    table.add({flow.at("interface"), flow.at("flow"), or_dash(flow.at("cgroup")), or_dash(flow.at("process")),
               "node " + flow.at("switch_node").dump() + " port " + flow.at("switch_port").dump(),
               scaled_duration(flow.at("since_ms").get<double>() * 1e6),
               scaled_bits_per_second(flow.at("rate_bps").get<double>()),
               scaled_bytes(flow.at("waiting_bytes").get<double>()), flow.at("dropped_packets").dump()});
  }
  return table.text() + not_held;
}

}  // namespace

int main(int argc, char** argv) {
  hostd::AgentOptions options;
  bool as_json = false;
  CLI::App app("Holds back flows of this host as the switch at the other end of its lines asks.", "heddle-hostd");
  CLI::App* running = app.add_subcommand("run", "until SIGTERM");
  running->add_option("interface", options.interfaces, "whose flows")->required();
  CLI::App* doctor = app.add_subcommand("doctor", "what keeps it from its work here, without touching anything");
  doctor->add_option("interface", options.interfaces, "where it is to run");
  for (CLI::App* command : {running, doctor})
    command->add_flag("--replace-mq", options.replace_mq,
                      "also where a root qdisc with several queues is replaced by one");
  CLI::App* showing = app.add_subcommand("show", "which flows are held back in this network namespace");
  for (CLI::App* command : {showing, doctor}) command->add_flag("--json", as_json, "as a JSON document");
  app.require_subcommand(1);
  add_version(app, "heddle-hostd");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_with(app, error);
  }
  try {
    if (running->parsed()) {
      run(options);
      return EXIT_SUCCESS;
    }
    if (doctor->parsed())
      return print_findings(hostd::examine(options.interfaces, options.replace_mq), as_json) ? EXIT_SUCCESS
                                                                                             : EXIT_FAILURE;
    json status = hostd::ask_status();
    name_processes(status.at("flows"));
    std::fputs(as_json ? (status.dump(2) + "\n").c_str() : shown(status).c_str(), stdout);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle-hostd: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
