// SPDX-License-Identifier: Apache-2.0
// How long a cache line takes from one CPU to another: beside figures of two cores it tells what state the machine was
// in. Virtual CPUs move between dies, and that moves every figure.
#pragma once

#include <cstdint>

namespace heddle::traffic {

struct CacheLineTime {
  double median_ns;  // one way
  double min_ns;
};

// Takes some tens of milliseconds of both. Throws std::runtime_error if a CPU may not be used.
CacheLineTime cache_line_time(int cpu_a, int cpu_b);

// The calling thread runs there and nowhere else. Throws std::runtime_error.
void pin_to_cpu(int cpu);

}  // namespace heddle::traffic
