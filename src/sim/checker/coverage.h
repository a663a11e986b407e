// SPDX-License-Identifier: Apache-2.0
// What the seeds have reached: every fault kind, drop reason, protocol event and state transition, with the number of
// seeds that reached it. A row that no seed of a long run reached is a failure of the run.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "node/counters.h"

namespace heddle::sim {

// What one seed reached.
class SeedCoverage {
 public:
  void reach(const std::string& row) { ++rows_[row]; }
  void reach_counters(const PortCounters& total);
  const std::map<std::string, uint64_t>& rows() const { return rows_; }

 private:
  std::map<std::string, uint64_t> rows_;
};

class Coverage {
 public:
  Coverage();  // every row that must be reached is there, at zero
  void add(const SeedCoverage& seed);
  void add_row(const std::string& row, uint64_t seeds) { seeds_[row] += seeds; }
  const std::map<std::string, uint64_t>& seeds() const { return seeds_; }
  std::vector<std::string> unreached() const;
  void print(std::ostream& out, uint64_t seeds) const;

 private:
  std::map<std::string, uint64_t> seeds_;
};

}  // namespace heddle::sim
