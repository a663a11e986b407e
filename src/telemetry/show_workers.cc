// SPDX-License-Identifier: Apache-2.0
#include "io/clock.h"
#include "telemetry/inspect.h"

namespace heddle {

namespace {

Json worker_json(const SwitchProcess& process, const ProcessNode& node, uint32_t index) {
  Json json{{"node", description(process, node).name},
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

Json thread_json(const SwitchProcess& process, size_t index) {
  Json json{{"thread", index}};
  process.run_on(index, [&](const Runner& runner) {
    const RunnerTimes& times = runner.times();
    json["rounds"] = times.rounds;
    json["sleeps"] = times.sleeps;
    json["asleep_ns"] = times.asleep_ns;
    json["longest_round_ns"] = times.longest_round_ns;
  });
  return json;
}

}  // namespace

Json show_workers(const SwitchProcess& process, const ShowRequest& request) {
  Json workers = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    for (uint32_t index = 0; index < node.node->workers(); ++index)
      workers.push_back(worker_json(process, node, index));
  });
  Json threads = Json::array();
  for (size_t index = 0; index < process.runners(); ++index) threads.push_back(thread_json(process, index));
  return {{"now_ns", monotonic_now()},
          {"started_ns", process.started_ns()},
          {"workers", std::move(workers)},
          {"threads", std::move(threads)}};
}

}  // namespace heddle
