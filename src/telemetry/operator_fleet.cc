// SPDX-License-Identifier: Apache-2.0
#include "telemetry/operator_fleet.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "config/run_folders.h"

namespace heddle {

namespace {

struct SocketsPresent {
  std::vector<std::string> open;
  std::vector<std::string> denied;  // somebody may listen, but not to this user
};

SocketsPresent sockets_present() {
  namespace fs = std::filesystem;
  SocketsPresent sockets;
  std::error_code ignored;
  for (const char* folder : {kNodeRunFolder, kLabRunFolder}) {
    const fs::recursive_directory_iterator entries(folder, fs::directory_options::skip_permission_denied, ignored);
    for (const auto& entry : entries) {
      if (entry.path().extension() != ".sock") continue;
      const int error = operator_socket_error(entry.path());
      if (error == 0) sockets.open.push_back(entry.path());
      if (error == EACCES) sockets.denied.push_back(entry.path());
    }
  }
  std::sort(sockets.open.begin(), sockets.open.end());
  return sockets;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');)
    if (!part.empty()) parts.push_back(part);
  return parts;
}

}  // namespace

std::vector<std::string> choose_operator_sockets(const std::vector<std::string>& given, const std::string& lab) {
  if (!given.empty()) return given;
  if (!lab.empty()) return {std::string(kLabRunFolder) + "/" + lab + "/heddled.sock"};
  if (const char* from_environment = std::getenv("HEDDLE_SOCKET")) return split(from_environment);
  auto [paths, denied] = sockets_present();
  if (!paths.empty()) return paths;
  if (!denied.empty()) throw std::runtime_error(denied[0] + " is not for this user; " + kWhoMayUseTheSocket);
  throw std::runtime_error(std::string("no heddled listens under ") + kNodeRunFolder + " or " + kLabRunFolder +
                           "; name its --socket");
}

std::vector<FleetAnswer> OperatorFleet::ask(const Json& request) {
  return ask_each(std::vector<Json>(sockets_.size(), request));
}

std::vector<FleetAnswer> OperatorFleet::ask_each(const std::vector<Json>& requests) {
  std::vector<FleetAnswer> answers(sockets_.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < sockets_.size(); ++i) {
    threads.emplace_back([this, i, &answers, &requests] {
      answers[i].socket = sockets_[i];
      try {
        if (clients_[i] == nullptr) clients_[i] = std::make_unique<OperatorClient>(sockets_[i], patience_);
        answers[i].result = clients_[i]->ask(requests[i]);
      } catch (const OperatorRefusal& refusal) {
        answers[i].error = refusal.what();
      } catch (const std::exception& error) {
        answers[i].error = error.what();
        clients_[i].reset();  // an answer that comes too late would be taken for the next one's
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return answers;
}

}  // namespace heddle
