// SPDX-License-Identifier: Apache-2.0
#include "telemetry/operator_fleet.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
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

// Folders may go while they are read, with labs that end.
SocketsPresent sockets_present(std::chrono::milliseconds patience) {
  namespace fs = std::filesystem;
  SocketsPresent sockets;
  for (const char* folder : {kNodeRunFolder, kLabRunFolder}) {
    std::error_code gone;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied, gone);
    for (; !gone && entry != fs::recursive_directory_iterator(); entry.increment(gone)) {
      const fs::path path = entry->path();
      if (path.extension() != ".sock") continue;
      const int error = operator_socket_error(path, patience);
      if (error == 0) sockets.open.push_back(path);
      if (error == EACCES) sockets.denied.push_back(path);
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

OperatorSockets choose_operator_sockets(const std::vector<std::string>& given, const std::string& lab,
                                        std::chrono::milliseconds patience) {
  if (!given.empty()) return {given};
  if (!lab.empty()) return {{std::string(kLabRunFolder) + "/" + lab + "/heddled.sock"}};
  if (const char* from_environment = std::getenv("HEDDLE_SOCKET")) return {split(from_environment)};
  auto [paths, denied] = sockets_present(patience);
  if (!paths.empty()) return {std::move(paths), true};
  if (!denied.empty()) throw std::runtime_error(denied[0] + " is not for this user; " + kWhoMayUseTheSocket);
  throw std::runtime_error(std::string("no heddled listens under ") + kNodeRunFolder + " or " + kLabRunFolder +
                           "; name its --socket");
}

std::vector<FleetAnswer> OperatorFleet::ask(const Json& request) {
  return ask_each(std::vector<Json>(size(), request));
}

std::vector<FleetAnswer> OperatorFleet::ask_each(const std::vector<Json>& requests) {
  std::vector<FleetAnswer> answers(size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < size(); ++i) {
    threads.emplace_back([this, i, &answers, &requests] {
      try {
        if (clients_[i] == nullptr) clients_[i] = std::make_unique<OperatorClient>(sockets_.paths[i], patience_);
        answers[i].result = clients_[i]->ask(requests[i]);
      } catch (const OperatorRefusal& refusal) {
        answers[i].error = refusal.what();
      } catch (const OperatorHungUp& hung_up) {
        answers[i].error = hung_up.what();
        answers[i].stranger = sockets_.found;
        clients_[i].reset();
      } catch (const std::exception& error) {
        answers[i].error = error.what();
        clients_[i].reset();  // an answer that comes too late would be taken for the next one's
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return answers;
}

std::vector<Json> replies_of(std::vector<FleetAnswer> answers, bool& failed) {
  std::vector<Json> replies;
  std::vector<std::string> no_node;
  for (FleetAnswer& answer : answers) {
    if (answer.stranger) continue;
    if (answer.error.empty()) {
      replies.push_back(std::move(answer.result));
    } else if (answer.error.starts_with("no node ")) {
      no_node.push_back(answer.error);
    } else {
      std::fprintf(stderr, "heddle: %s\n", answer.error.c_str());
      failed = true;
    }
  }
  if (replies.empty() && !no_node.empty() && !failed) throw std::runtime_error(no_node.front());
  return replies;
}

}  // namespace heddle
