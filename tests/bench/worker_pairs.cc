// SPDX-License-Identifier: Apache-2.0
// Times one switch over ports in memory with one worker, with two that have nothing to do with each other, and with two
// between which every frame crosses (X1): for tests/bench/workers. Each worker has a thread and a CPU of its own, and
// makes the frames that come in at its ports: so many in flight per pair of ports, over so many flows.
//   worker_pairs one|apart|crossing [--seconds S] [--flows N] [--window N] [--cpu A --cpu B]
// Prints JSON.
#include <pthread.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "io/clock.h"
#include "io/eal.h"
#include "io/mempool_pool.h"
#include "pipe_rig.h"

using namespace heddle;
using namespace heddle::bench;

namespace {

struct Shape {
  std::string layout;
  double seconds = 0.5;
  uint32_t flows = 1000, window = 256;
  std::vector<unsigned> cpus{0, 1};
};

// One thread: a worker, and the sources of the pairs whose sender is its port.
struct Lane {
  Worker* worker;
  PipeRig* rig;
  const Shape* shape;
  unsigned cpu;
  uint32_t pair, target;  // frames go from the sender of `pair` to the receiver of `target`
  std::atomic<bool>* stop;
  uint64_t sent = 0, turns = 0;

  void run() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(cpu, &cpus);
    pthread_setaffinity_np(pthread_self(), sizeof cpus, &cpus);
    const uint64_t before = rig->receiver(target).delivered;
    while (!stop->load(std::memory_order_relaxed)) {
      if (sent - (rig->receiver(target).delivered.load(std::memory_order_relaxed) - before) < shape->window) inject();
      worker->poll(monotonic_now());
      ++turns;
    }
  }

  void inject() {
    Packet* packets[kBurst];
    const uint32_t count = rig->pool().allocate(packets, kBurst);
    for (uint32_t i = 0; i < count; ++i) {
      write_frame(*packets[i], pair, target, static_cast<uint32_t>(sent++ % shape->flows), 60);
      rig->sender(pair).push(packets[i]);
    }
  }
};

int run_lane(void* lane) {
  static_cast<Lane*>(lane)->run();
  return 0;
}

// Both stations of each pair are known everywhere and no pair is held (E1).
void make_known(PipeRig& rig) {
  Nanos now = monotonic_now();
  const auto turns = [&](int count) {
    for (int turn = 0; turn < count; ++turn, now += 100 * kMicrosecond)
      for (WorkerIndex worker = 0; worker < rig.node(0).workers(); ++worker) rig.node(0).worker(worker).poll(now);
  };
  for (uint32_t pair = 0; pair < rig.pairs(); ++pair) {
    announce(rig, rig.receiver(pair), kReceiver + pair);
    announce(rig, rig.sender(pair), kSender + pair);
  }
  turns(2000);
}

uint64_t drops(const Node& node) {
  uint64_t sum = 0;
  for (PortIndex port = 0; port < node.ports(); ++port)
    for (const uint64_t drops : node.port(port).counters.drops) sum += drops;
  return sum;
}

nlohmann::json measure(const Shape& shape) {
  const uint32_t workers = shape.layout == "one" ? 1 : 2;
  MempoolPool pool("bench", 32768);
  nlohmann::json json{{"layout", shape.layout}};
  {
    PipeRig rig(pool, {.pairs = workers,
                       .workers = workers,
                       .match_entries = 131072});  // ports are dealt in turn: pair k is worker k's
    make_known(rig);
    const uint64_t drops_before = drops(rig.node(0));
    std::atomic<bool> stop = false;
    std::vector<Lane> lanes;
    uint64_t before = 0;
    for (uint32_t pair = 0; pair < workers; ++pair) {
      const uint32_t target = shape.layout == "crossing" ? 1 - pair : pair;
      lanes.push_back(
          {&rig.node(0).worker(WorkerIndex::of(pair)), &rig, &shape, shape.cpus[pair], pair, target, &stop});
      before += rig.receiver(pair).delivered;
    }
    for (uint32_t index = 0; index < workers; ++index) rte_eal_remote_launch(run_lane, &lanes[index], index + 1);
    const auto begin = std::chrono::steady_clock::now();
    rte_delay_us_sleep(static_cast<unsigned>(shape.seconds * 1e6));
    stop = true;
    rte_eal_mp_wait_lcore();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    uint64_t delivered = 0, turns = 0;
    for (uint32_t pair = 0; pair < workers; ++pair) {
      delivered += rig.receiver(pair).delivered;
      turns += lanes[pair].turns;
    }
    json["delivered"] = delivered - before;
    json["frames_per_second"] = static_cast<double>(delivered - before) / elapsed.count();
    json["frames_per_turn"] = static_cast<double>(delivered - before) / static_cast<double>(turns);
    json["drops"] = drops(rig.node(0)) - drops_before;
  }
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"One switch over ports in memory, with one worker or two"};
  Shape shape;
  app.add_option("layout", shape.layout)->required()->check(CLI::IsMember({"one", "apart", "crossing"}));
  app.add_option("--seconds", shape.seconds, "(0.5)")->check(CLI::Range(0.05, 60.0));
  app.add_option("--flows", shape.flows, "per pair of ports, taken in turn (1000)")->check(CLI::Range(1, 1 << 16));
  app.add_option("--window", shape.window, "frames in flight per pair (256)")->check(CLI::Range(32, 2048));
  app.add_option("--cpu", shape.cpus, "of each worker (0 1)")->expected(2);
  CLI11_PARSE(app, argc, argv);
  EalOptions options;
  options.threads = 2;
  options.memory_mb = 256;
  Eal eal(options);
  const nlohmann::json report = measure(shape);
  std::printf("%s\n", report.dump().c_str());
  return report["delivered"] == 0 || report["drops"] != 0;
}
