// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_hostds.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "lab/lab_hosts.h"
#include "lab/lab_names.h"
#include "lab/subprocess.h"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kBetweenLooks = std::chrono::milliseconds(50);

void start_hostd(const std::string& lab, const LabHost& host, LabState& state, const std::string& program) {
  std::vector<std::string> command{program, "run"};
  for (const LabInterface& interface : host.interfaces) command.push_back(interface.name);
  const pid_t pid = start_daemon(in_namespace(host_namespace(lab, host.name), command), lab_hostd_log(lab, host.name));
  state.hostds[host.name] = {pid, process_start_time(pid)};
  write_lab_state(state);
}

void wait_for_hostd(const std::string& lab, const LabHost& host, const LabProcess& process,
                    const std::string& program) {
  const auto deadline = Clock::now() + kPatience;
  const std::vector<std::string> question = in_namespace(host_namespace(lab, host.name), {program, "show", "--json"});
  while (!run_program(question).ok()) {
    const bool ended = !process_alive(process);
    if (ended || Clock::now() > deadline) {
      const std::string log = lab_hostd_log(lab, host.name);
      throw std::runtime_error("heddle-hostd of host " + host.name + (ended ? " has ended" : " doesn't answer") +
                               "; its log " + log + " says:\n" + file_tail(log));
    }
    std::this_thread::sleep_for(kBetweenLooks);
  }
}

}  // namespace

bool wants_hostds(const LabConfig& lab) {
  return std::any_of(lab.hosts.begin(), lab.hosts.end(), [](const LabHost& host) { return host.hostd; });
}

void start_hostds(const LabConfig& lab, LabState& state, const std::string& program) {
  for (const LabHost& host : lab.hosts)
    if (host.hostd) start_hostd(lab.name, host, state, program);
  for (const LabHost& host : lab.hosts)
    if (host.hostd) wait_for_hostd(lab.name, host, state.hostds.at(host.name), program);
}

bool hostds_alive(const LabConfig& lab, const LabState& state) {
  return std::all_of(lab.hosts.begin(), lab.hosts.end(), [&](const LabHost& host) {
    const auto found = state.hostds.find(host.name);
    return !host.hostd || (found != state.hostds.end() && process_alive(found->second));
  });
}

}  // namespace heddle
