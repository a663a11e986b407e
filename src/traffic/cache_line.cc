// SPDX-License-Identifier: Apache-2.0
#include "traffic/cache_line.h"

#include <immintrin.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace heddle::traffic {

namespace {

constexpr int kSamples = 200;
constexpr uint32_t kRoundsPerSample = 500;  // short against a time slice: stalls hit few samples

struct alignas(64) Line {
  std::atomic<uint32_t> turn{0};  // even: the first one's
};

// Both must wait in the same way, or one of them would never see the other's fast.
void pass(Line& line, uint32_t mine) {
  while (line.turn.load(std::memory_order_acquire) != mine) _mm_pause();
  line.turn.store(mine + 1, std::memory_order_release);
}

}  // namespace

void pin_to_cpu(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(cpu), &set);
  if (cpu < 0 || cpu >= CPU_SETSIZE || sched_setaffinity(0, sizeof(set), &set) != 0)
    throw std::runtime_error("can't run on CPU " + std::to_string(cpu) + ": " + std::strerror(errno));
}

CacheLineTime cache_line_time(int cpu_a, int cpu_b) {
  if (cpu_a == cpu_b) throw std::runtime_error("a cache line passes between two CPUs, not one");
  pin_to_cpu(cpu_b);  // also says that it can be used, before the other thread relies on it
  pin_to_cpu(cpu_a);
  Line line;
  std::thread other([&line, cpu_b] {
    pin_to_cpu(cpu_b);
    for (uint32_t round = 0; round < kSamples * kRoundsPerSample; ++round) pass(line, 2 * round + 1);
  });
  std::vector<double> one_way_ns;
  uint32_t round = 0;
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto begin = std::chrono::steady_clock::now();
    for (uint32_t i = 0; i < kRoundsPerSample; ++i) pass(line, 2 * round++);
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
    one_way_ns.push_back(took.count() / (2 * kRoundsPerSample));
  }
  other.join();
  std::sort(one_way_ns.begin(), one_way_ns.end());
  return {.median_ns = one_way_ns[one_way_ns.size() / 2], .min_ns = one_way_ns.front()};
}

}  // namespace heddle::traffic
