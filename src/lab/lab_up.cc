// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "lab/lab.h"
#include "lab/lab_hostds.h"
#include "lab/lab_hosts.h"
#include "lab/lab_names.h"
#include "lab/lab_state.h"
#include "lab/subprocess.h"
#include "telemetry/operator_client.h"

namespace heddle {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSocketPatience = std::chrono::seconds(30);
constexpr auto kLinksPatience = std::chrono::seconds(20);
constexpr auto kPause = std::chrono::milliseconds(50);

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + " can't be read");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_whole(const LabConfig& lab, const LabState& state) {
  if (!state.complete || !process_alive(state.heddled) || !hostds_alive(lab, state)) return false;
  for (const std::string& name : lab_namespaces(lab))
    if (!namespace_exists(name)) return false;
  return operator_socket_answers(lab_socket(lab.name));
}

bool same_text(const LabConfig& lab, const std::string& file) {
  return std::filesystem::exists(lab_copy(lab.name)) && text_of(lab_copy(lab.name)) == text_of(file);
}

// What would be lost by replacing it.
std::string running_lab(const LabState& state) {
  const size_t hosts = state.namespaces.empty() ? 0 : state.namespaces.size() - 1;
  return "lab " + state.lab + " runs already, from another file" + (state.file.empty() ? "" : ", " + state.file) +
         ": " + std::to_string(hosts) + " hosts and what runs on them, heddled " + std::to_string(state.heddled.pid);
}

// The very file: one that an update has put in its place has the name, but is another.
bool runs_program(const LabState& state, const std::string& program) {
  std::error_code ignored;
  return std::filesystem::equivalent("/proc/" + std::to_string(state.heddled.pid) + "/exe", program, ignored);
}

void wait_for_socket(const LabState& state) {
  const auto deadline = Clock::now() + kSocketPatience;
  while (!operator_socket_answers(lab_socket(state.lab))) {
    if (!process_alive(state.heddled))
      throw std::runtime_error("heddled has ended; its log " + lab_log(state.lab) + " says:\n" +
                               file_tail(lab_log(state.lab)));
    if (Clock::now() > deadline)
      throw std::runtime_error("heddled doesn't answer; its log " + lab_log(state.lab) + " says:\n" +
                               file_tail(lab_log(state.lab)));
    std::this_thread::sleep_for(kPause);
  }
}

// Which links are down, one per line; empty = all are up.
std::string links_down(OperatorClient& client) {
  std::string text;
  const nlohmann::json reply = client.ask({{"command", "show"}, {"what", "links"}});
  for (const nlohmann::json& link : reply.at("links"))
    if (!link.at("up").get<bool>())
      text += "  " + link.at("a").get<std::string>() + " - " + link.at("b").get<std::string>() + ": " +
              link.at("reason").get<std::string>() + "\n";
  return text;
}

void wait_for_links(const std::string& lab) {
  OperatorClient client(lab_socket(lab));
  const auto deadline = Clock::now() + kLinksPatience;
  std::string down;
  while (!(down = links_down(client)).empty()) {
    if (Clock::now() > deadline) throw std::runtime_error("links stay down:\n" + down);
    std::this_thread::sleep_for(kPause);
  }
}

void start_heddled(LabState& state, const std::string& heddled) {
  state.heddled.pid = start_daemon(in_namespace(switch_namespace(state.lab), {heddled, "--lab", lab_copy(state.lab)}),
                                   lab_log(state.lab));
  state.heddled.start_time = process_start_time(state.heddled.pid);
  write_lab_state(state);
}

void make_lab(const LabConfig& lab, const LabUpOptions& options) {
  for (const std::string& name : lab_namespaces(lab))
    if (namespace_exists(name))
      throw std::runtime_error("network namespace " + name +
                               " is there and not of this lab; remove it or rename the lab");
  const std::string text = text_of(options.file);
  LabState state{.lab = lab.name, .file = std::filesystem::absolute(options.file), .namespaces = lab_namespaces(lab)};
  write_lab_state(state);  // first: what is made from here on is found by `down`
  try {
    std::ofstream(lab_copy(lab.name)) << text;
    make_lab_hosts(lab);
    start_heddled(state, options.heddled);
    wait_for_socket(state);
    wait_for_links(lab.name);
    start_hostds(lab, state, options.hostd);
    run_host_commands(lab);
    state.complete = true;
    write_lab_state(state);
  } catch (const std::exception& error) {
    const std::string what = error.what();
    throw std::runtime_error(what + "\n(the lab is left as it is to be looked at; `heddle lab down " + lab.name +
                             "` takes it away)");
  }
}

}  // namespace

bool lab_up(const LabConfig& lab, const LabUpOptions& options) {
  const LabLock lock(lab.name);
  const std::optional<LabState> state = read_lab_state(lab.name);
  if (state && process_alive(state->heddled) && !same_text(lab, options.file)) {
    if (!options.replace) throw std::runtime_error(running_lab(*state) + "; --replace takes it away first");
    options.tell_restart(running_lab(*state) + "; it is replaced");
  } else if (state && is_whole(lab, *state)) {
    if (runs_program(*state, options.heddled)) return false;
    options.tell_restart("lab " + lab.name + " runs another heddled than " + options.heddled +
                         " is now; it is restarted");
  }
  take_lab_down(lock);
  make_lab(lab, options);
  return true;
}

}  // namespace heddle
