// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_remains.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "lab/lab_hosts.h"
#include "lab/lab_names.h"
#include "lab/subprocess.h"

namespace heddle {

namespace {

std::vector<std::string> namespaces_there() {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/run/netns", ignored))
    names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// The arguments of a process; none if it has gone.
std::vector<std::string> arguments_of(const std::filesystem::path& process) {
  std::ifstream file(process / "cmdline");
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

// They run from the lab's copy of its file, which has its path whether it is still there or not.
std::vector<pid_t> heddleds_of(const std::string& lab) {
  std::vector<pid_t> pids;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const std::vector<std::string> arguments = arguments_of(entry.path());
    if (arguments.size() != 3 || arguments[1] != "--lab" || arguments[2] != lab_copy(lab)) continue;
    if (std::filesystem::path(arguments[0]).filename() == "heddled")
      pids.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return pids;
}

}  // namespace

std::string LabRemains::text() const {
  std::string text;
  for (const pid_t pid : heddleds) text += (text.empty() ? "heddled " : ", heddled ") + std::to_string(pid);
  if (namespaces.empty()) return text;
  return text + (text.empty() ? "" : " and ") + std::to_string(namespaces.size()) + " network namespace" +
         (namespaces.size() == 1 ? " " : "s as ") + namespaces.front();
}

std::vector<std::string> namespaces_of_lab(const std::string& lab, const std::vector<std::string>& all) {
  const std::string own = host_namespace(lab, ""), ending = "-" + std::string(kSwitchNamespace);
  std::vector<std::string> others;  // what stands before the hosts of labs whose names begin with this one's
  for (const std::string& name : all)
    if (name.starts_with(own) && name.ends_with(ending) && name != switch_namespace(lab))
      others.push_back(name.substr(0, name.size() - ending.size() + 1));
  std::vector<std::string> names;
  for (const std::string& name : all) {
    const auto is_of = [&name](const std::string& other) { return name.starts_with(other); };
    if (name.starts_with(own) && std::none_of(others.begin(), others.end(), is_of)) names.push_back(name);
  }
  return names;
}

LabRemains find_lab_remains(const std::string& lab) {
  return {.heddleds = heddleds_of(lab), .namespaces = namespaces_of_lab(lab, namespaces_there())};
}

void remove_lab_remains(const LabRemains& remains) {
  constexpr int kAttempts = 200;  // of 50 ms
  for (const pid_t pid : remains.heddleds) {
    const unsigned long long began = process_start_time(pid);
    for (int attempt = 0; attempt < kAttempts && began != 0 && process_start_time(pid) == began; ++attempt) {
      if (attempt == 0) kill(pid, SIGTERM);
      if (attempt == kAttempts / 2) kill(pid, SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }
  for (const std::string& name : remains.namespaces) remove_namespace(name);
}

}  // namespace heddle
