// SPDX-License-Identifier: Apache-2.0
// Fuzzing: one seed is one run in two phases, first faults and then none, in which everything must go on and then come
// to rest. Many seeds share their coverage.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>

#include "sim/checker/coverage.h"

namespace heddle::sim {

struct SeedResult {
  uint64_t trace_hash = 0;  // of every frame at its time, and of all counters at the end
  uint64_t packet_hops = 0;
  uint64_t turns = 0;
  uint64_t checks = 0;
  uint64_t delivered_frames = 0;
  uint64_t virtual_ns = 0;
  SeedCoverage coverage;
  std::string failure;  // empty = none
  std::string options;  // all that was drawn
};

// `log`: where faults are told as they happen, and with `frames` every frame; may be nullptr.
SeedResult run_seed(uint64_t seed, std::ostream* log, bool frames = false);

struct FuzzOptions {
  uint64_t first_seed = 1, last_seed = 100;
  uint32_t jobs = 1;
  uint64_t twice_every = 50;  // of so many seeds one is run twice, and must take the same way; 0 = none
  bool verbose = false;
  bool frames = false;      // with verbose: tell every frame on fabric links
  bool keep_going = false;  // after a failure
  bool coverage_required = false;
  std::string hashes;   // file that gets a line with seed and trace hash for each, in order; empty = none
  std::string program;  // for the replay command
};

// Prints to `out`; the exit status.
int fuzz(const FuzzOptions& options, std::ostream& out);

}  // namespace heddle::sim
