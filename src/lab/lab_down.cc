// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "lab/lab.h"
#include "lab/lab_hosts.h"
#include "lab/lab_names.h"
#include "lab/lab_remains.h"
#include "lab/lab_state.h"
#include "lab/subprocess.h"
#include "telemetry/operator_client.h"

namespace heddle {

namespace {

void stop_heddled(const LabState& state) {
  constexpr int kAttempts = 200;  // of 50 ms
  for (int attempt = 0; attempt < kAttempts && process_alive(state.heddled); ++attempt) {
    if (attempt == 0) kill(state.heddled.pid, SIGTERM);
    if (attempt == kAttempts / 2) kill(state.heddled.pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

LabState state_or_throw(const std::string& lab) {
  std::optional<LabState> state = read_lab_state(lab);
  if (!state) throw std::runtime_error("lab " + lab + " is not up");
  return *state;
}

nlohmann::json host_json(const LabConfig& lab, const LabHost& host, const LabState& state) {
  nlohmann::json interfaces = nlohmann::json::array();
  for (const LabInterface& interface : host.interfaces) {
    nlohmann::json entry{{"name", interface.name},
                         {"port", port_name(lab.topology, interface.node_index, interface.port)}};
    if (!interface.address_v4.empty()) entry["address_v4"] = interface.address_v4;
    if (!interface.address_v6.empty()) entry["address_v6"] = interface.address_v6;
    if (interface.vlan != 0) entry["vlan"] = interface.vlan;
    interfaces.push_back(std::move(entry));
  }
  const std::string name_space = host_namespace(lab.name, host.name);
  nlohmann::json json{{"host", host.name},
                      {"namespace", name_space},
                      {"present", namespace_exists(name_space)},
                      {"interfaces", std::move(interfaces)}};
  if (const auto hostd = state.hostds.find(host.name); hostd != state.hostds.end())
    json["hostd"] = {{"pid", hostd->second.pid},
                     {"alive", process_alive(hostd->second)},
                     {"log", lab_hostd_log(lab.name, host.name)}};
  return json;
}

nlohmann::json links_json(const std::string& lab) {
  if (!operator_socket_answers(lab_socket(lab))) return nullptr;
  OperatorClient client(lab_socket(lab));
  const nlohmann::json reply = client.ask({{"command", "show"}, {"what", "links"}});
  size_t up = 0;
  for (const nlohmann::json& link : reply.at("links")) up += link.at("up").get<bool>();
  return {{"up", up}, {"total", reply.at("links").size()}};
}

}  // namespace

bool take_lab_down(const LabLock& lock) {
  const std::string& lab = lock.lab();
  if (!std::filesystem::exists(lab_folder(lab))) return false;
  const std::optional<LabState> state = read_lab_state(lab);
  if (state) {
    stop_heddled(*state);
    for (const std::string& name : state->namespaces) remove_namespace(name);
  }
  std::filesystem::remove_all(lab_folder(lab));
  return true;
}

bool lab_down(const std::string& lab, bool force) {
  const LabLock lock(lab);
  if (take_lab_down(lock)) return true;
  const LabRemains remains = find_lab_remains(lab);
  if (remains.none()) return false;
  if (!force)
    throw std::runtime_error("nothing is written about lab " + lab + " any more, but there is " + remains.text() +
                             "; --force takes that away");
  remove_lab_remains(remains);
  return true;
}

nlohmann::json lab_status(const std::string& lab) {
  const LabState state = state_or_throw(lab);
  nlohmann::json status{{"lab", lab},
                        {"up", state.complete && process_alive(state.heddled)},
                        {"heddled",
                         {{"pid", state.heddled.pid},
                          {"alive", process_alive(state.heddled)},
                          {"socket", lab_socket(lab)},
                          {"log", lab_log(lab)}}},
                        {"links", links_json(lab)}};
  ConfigErrors errors;
  const std::optional<LabConfig> config = load_lab(lab_copy(lab), errors);
  nlohmann::json hosts = nlohmann::json::array();
  if (config)
    for (const LabHost& host : config->hosts) hosts.push_back(host_json(*config, host, state));
  status["hosts"] = std::move(hosts);
  return status;
}

void lab_exec(const std::string& lab, const std::string& host, const std::vector<std::string>& command) {
  state_or_throw(lab);
  const std::string name_space = host_namespace(lab, host);
  if (!namespace_exists(name_space)) throw std::runtime_error("lab " + lab + " has no host " + host);
  std::vector<std::string> arguments = in_namespace(name_space, command);
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  execvp("ip", pointers.data());
  throw std::runtime_error("ip can't be run; is iproute2 installed?");
}

}  // namespace heddle
