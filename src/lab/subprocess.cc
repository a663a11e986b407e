// SPDX-License-Identifier: Apache-2.0
#include "lab/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

extern char** environ;

namespace heddle {

namespace {

constexpr size_t kOutputBytesMax = 64 * 1024;

// File actions and attributes of one posix_spawn.
struct SpawnSetup {
  SpawnSetup() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    sigset_t none;  // the caller may have blocked signals that the program wants
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  void flags(short value) { posix_spawnattr_setflags(&attributes, static_cast<short>(value | POSIX_SPAWN_SETSIGMASK)); }
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

int spawn(const std::vector<std::string>& arguments, SpawnSetup& setup, pid_t& pid) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  return posix_spawnp(&pid, pointers[0], &setup.actions, &setup.attributes, pointers.data(), environ);
}

int exit_status(int wait_status) {
  return WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : 128 + WTERMSIG(wait_status);
}

// False when there is no more.
bool collect(int fd, std::string& output) {
  char bytes[4096];
  const ssize_t got = read(fd, bytes, sizeof(bytes));
  if (got < 0 && (errno == EINTR || errno == EAGAIN)) return true;
  if (got <= 0) return false;
  const size_t room = kOutputBytesMax - std::min(kOutputBytesMax, output.size());
  output.append(bytes, std::min(room, static_cast<size_t>(got)));
  return true;
}

}  // namespace

RunResult run_program(const std::vector<std::string>& arguments, const std::string& input,
                      std::chrono::seconds patience) {
  int output_pipe[2];
  const int input_file = memfd_create("input", MFD_CLOEXEC);
  if (input_file < 0 || pipe2(output_pipe, O_CLOEXEC) != 0) throw std::runtime_error(std::strerror(errno));
  if (pwrite(input_file, input.data(), input.size(), 0) != static_cast<ssize_t>(input.size()))
    throw std::runtime_error(std::strerror(errno));
  RunResult result;
  SpawnSetup setup;
  setup.flags(0);
  posix_spawn_file_actions_adddup2(&setup.actions, input_file, 0);
  posix_spawn_file_actions_adddup2(&setup.actions, output_pipe[1], 1);
  posix_spawn_file_actions_adddup2(&setup.actions, output_pipe[1], 2);
  pid_t pid;
  const int error = spawn(arguments, setup, pid);
  close(input_file);
  close(output_pipe[1]);
  if (error != 0) {
    close(output_pipe[0]);
    return {127, arguments[0] + ": " + std::strerror(error)};
  }
  // Its end is seen by the end of its output; a child of its own that keeps the pipe is not waited for.
  const auto deadline = std::chrono::steady_clock::now() + patience;
  int wait_status = 0;
  pid_t ended = 0;
  while (ended == 0) {
    pollfd polled{output_pipe[0], POLLIN, 0};
    if (poll(&polled, 1, 20) > 0 && !collect(output_pipe[0], result.output)) break;
    ended = waitpid(pid, &wait_status, WNOHANG);
    if (ended == 0 && std::chrono::steady_clock::now() > deadline) kill(pid, SIGKILL);
  }
  if (ended == 0) waitpid(pid, &wait_status, 0);
  pollfd rest{output_pipe[0], POLLIN, 0};
  while (poll(&rest, 1, 0) > 0 && collect(output_pipe[0], result.output)) {
  }
  close(output_pipe[0]);
  result.status = exit_status(wait_status);
  return result;
}

void run_or_throw(const std::vector<std::string>& arguments, const std::string& input) {
  const RunResult result = run_program(arguments, input);
  if (result.ok()) return;
  std::string command;
  for (const std::string& argument : arguments) command += (command.empty() ? "" : " ") + argument;
  throw std::runtime_error(command + " failed (" + std::to_string(result.status) + "): " + result.output);
}

pid_t start_daemon(const std::vector<std::string>& arguments, const std::string& log) {
  SpawnSetup setup;
  setup.flags(POSIX_SPAWN_SETSID);
  posix_spawn_file_actions_addopen(&setup.actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&setup.actions, 1, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0640);
  posix_spawn_file_actions_adddup2(&setup.actions, 1, 2);
  pid_t pid;
  const int error = spawn(arguments, setup, pid);
  if (error != 0) throw std::runtime_error("can't start " + arguments[0] + ": " + std::strerror(error));
  return pid;
}

std::string file_tail(const std::string& path) {
  constexpr size_t kBytes = 2000;
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  const std::string all = text.str();
  return all.size() <= kBytes ? all : "..." + all.substr(all.size() - kBytes);
}

unsigned long long process_start_time(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const size_t after_name = text.rfind(')');  // the name may hold anything
  if (after_name == std::string::npos) return 0;
  std::istringstream fields(text.substr(after_name + 1));
  std::string state, field;
  fields >> state;
  if (state == "Z" || state == "X") return 0;
  constexpr int kFieldsBetween = 18;  // state is field 3, starttime field 22
  for (int i = 0; i < kFieldsBetween; ++i) fields >> field;
  unsigned long long start = 0;
  fields >> start;
  return start;
}

}  // namespace heddle
