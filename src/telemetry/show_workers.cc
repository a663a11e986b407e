// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

Json worker_json(const SwitchProcess& process, const ProcessNode& node, WorkerIndex index) {
  Json json{{"pid", getpid()},
            {"node", description(process, node).name},
            {"worker", index},
            {"thread", process.runner_index(node.runners[index])}};
  process.run_on(node, index, [&] {
    const Worker& worker = node.node->worker(index);
    const EdgeInput& edge = worker.edge_input();
    json["ports"] = worker.ports().size();
    json["polls"] = worker.polls();
    json["busy_polls"] = worker.busy_polls();
    json["copies_out"] = worker.copies_out();
    json["matches"] = edge.matches().used();
    json["matches_max"] = edge.matches().capacity();
    json["stations"] = edge.stations().used();
  });
  return json;
}

Nanos time_of(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<Nanos>(time.tv_sec) * kSecond + static_cast<Nanos>(time.tv_nsec);
}

// Since it began, which /proc tells in clock ticks since the machine did; 0 if it doesn't.
Nanos process_age() {
  constexpr int kFieldsBefore = 19;  // behind the name in parentheses; proc(5)
  std::ifstream file("/proc/self/stat");
  std::string text;
  std::getline(file, text);
  std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
  std::string skipped;
  for (int i = 0; i < kFieldsBefore; ++i) fields >> skipped;
  Nanos ticks = 0;
  if (!(fields >> ticks)) return 0;
  return time_of(CLOCK_BOOTTIME) - ticks * (kSecond / static_cast<Nanos>(sysconf(_SC_CLK_TCK)));
}

// As ps counts: over the life of the process, its start and all its threads included.
Json process_json() {
  return {{"pid", getpid()}, {"processor_ns", time_of(CLOCK_PROCESS_CPUTIME_ID)}, {"age_ns", process_age()}};
}

Json thread_json(const SwitchProcess& process, size_t index) {
  Json json{{"pid", getpid()}, {"thread", index}, {"age_ns", monotonic_now() - process.started_ns()}};
  process.run_on(index, [&](const Runner& runner) {
    const RunnerTimes& times = runner.times();
    json["rounds"] = times.rounds;
    json["sleeps"] = times.sleeps;
    json["asleep_ns"] = times.asleep_ns;
    json["processor_ns"] = times.processor_ns;
    json["longest_round_ns"] = times.longest_round_ns;
  });
  return json;
}

}  // namespace

Json show_workers(const SwitchProcess& process, const ShowRequest& request) {
  Json workers = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    for (WorkerIndex index = 0; index < node.node->workers(); ++index)
      workers.push_back(worker_json(process, node, index));
  });
  Json threads = Json::array();
  for (size_t index = 0; index < process.runners(); ++index) threads.push_back(thread_json(process, index));
  return {{"now_ns", monotonic_now()},
          {"started_ns", process.started_ns()},
          {"process", process_json()},
          {"workers", std::move(workers)},
          {"threads", std::move(threads)}};
}

}  // namespace heddle
