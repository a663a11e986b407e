// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_state.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "config/run_folders.h"
#include "config/topology_builder.h"
#include "lab/lab_names.h"
#include "lab/subprocess.h"

namespace heddle {

namespace {

std::string state_path(const std::string& lab) { return lab_folder(lab) + "/state.json"; }

// Beside the lab's folder: that one goes away while the lock is held.
std::string lock_path(const std::string& lab) { return lab_folder(lab) + ".lock"; }

void make_lab_folder(const std::string& lab) {
  std::error_code error;
  std::filesystem::create_directories(lab_folder(lab), error);
  if (error) throw std::runtime_error(lab_folder(lab) + " can't be made: " + error.message());
}

// Throws nlohmann::json::exception.
LabProcess process_of(const nlohmann::json& json, const std::string& name) {
  return {json.at(name + "_pid").get<pid_t>(), json.at(name + "_start_time").get<unsigned long long>()};
}

}  // namespace

std::optional<LabState> read_lab_state(const std::string& lab) {
  std::ifstream file(state_path(lab));
  if (!file) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(file, nullptr, false);
  LabState state;
  try {
    state.lab = json.at("lab").get<std::string>();
    state.file = json.value("file", "");
    state.namespaces = json.at("namespaces").get<std::vector<std::string>>();
    state.heddled = process_of(json, "heddled");
    const nlohmann::json hostds = json.value("hostds", nlohmann::json::object());
    for (const auto& [host, process] : hostds.items()) state.hostds[host] = process_of(process, "hostd");
    state.complete = json.at("complete").get<bool>();
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return state;
}

void write_lab_state(const LabState& state) {
  make_lab_folder(state.lab);
  nlohmann::json json{{"lab", state.lab},
                      {"file", state.file},
                      {"namespaces", state.namespaces},
                      {"heddled_pid", state.heddled.pid},
                      {"heddled_start_time", state.heddled.start_time},
                      {"complete", state.complete}};
  for (const auto& [host, process] : state.hostds)
    json["hostds"][host] = {{"hostd_pid", process.pid}, {"hostd_start_time", process.start_time}};
  const std::string path = state_path(state.lab);
  const std::string next = path + ".next";
  {
    std::ofstream file(next);
    file << json.dump(2) << "\n";
    if (!file.flush()) throw std::runtime_error(next + " can't be written");
  }
  std::filesystem::rename(next, path);
}

bool lab_present(const std::string& name) {
  std::error_code ignored;
  return is_name(name, kNodeNameBytes) && std::filesystem::exists(state_path(name), ignored);
}

std::vector<std::string> labs_present() {
  std::vector<std::string> labs;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(kLabRunFolder, ignored))
    if (lab_present(entry.path().filename())) labs.push_back(entry.path().filename());
  std::sort(labs.begin(), labs.end());
  return labs;
}

bool process_alive(const LabProcess& process) {
  return process.pid != 0 && process.start_time != 0 && process_start_time(process.pid) == process.start_time;
}

LabLock::LabLock(const std::string& lab) : lab_(lab) {
  // It becomes a path below which `down` removes everything.
  if (!is_name(lab, kNodeNameBytes)) throw std::runtime_error(printable(lab) + " is no name of a lab");
  std::error_code ignored;  // open tells
  std::filesystem::create_directories(kLabRunFolder, ignored);
  const std::string path = lock_path(lab);
  struct stat held, present;
  do {  // the file may be taken away between open and flock
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0) throw std::runtime_error(path + ": " + std::strerror(errno) + "; labs need root");
    if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      close(fd_);
      throw std::runtime_error("lab " + lab + ": another heddle lab is at work on it");
    }
    if (fstat(fd_, &held) == 0 && stat(path.c_str(), &present) == 0 && held.st_ino == present.st_ino) return;
    close(fd_);
  } while (true);
}

LabLock::~LabLock() {
  if (!std::filesystem::exists(lab_folder(lab_))) {
    unlink(lock_path(lab_).c_str());
    rmdir(kLabRunFolder);  // if it is empty
  }
  close(fd_);
}

}  // namespace heddle
