// SPDX-License-Identifier: Apache-2.0
#include "sim/checker/coverage.h"

#include <iomanip>
#include <ostream>

#include "sim/checker/coverage_rows.h"

namespace heddle::sim {

void SeedCoverage::reach_counters(const PortCounters& total) {
  for (unsigned i = 0; i < kDropReasons; ++i)
    if (total.drops[i] != 0) reach("drop: " + std::string(kDropReasonNames[i]));
  for (unsigned i = 0; i < kProtocolEvents; ++i)
    if (total.events[i] != 0) reach("event: " + std::string(kProtocolEventNames[i]));
}

Coverage::Coverage() {
  for (const std::string_view name : kDropReasonNames) seeds_["drop: " + std::string(name)] = 0;
  for (const std::string_view name : kProtocolEventNames) seeds_["event: " + std::string(name)] = 0;
  for (const std::string_view row : kOtherRows) seeds_[std::string(row)] = 0;
}

void Coverage::add(const SeedCoverage& seed) {
  for (const auto& [row, times] : seed.rows()) ++seeds_[row];
}

std::vector<std::string> Coverage::unreached() const {
  std::vector<std::string> rows;
  for (const auto& [row, count] : seeds_)
    if (count == 0) rows.push_back(row);
  return rows;
}

void Coverage::print(std::ostream& out, uint64_t seeds) const {
  out << "coverage, seeds of " << seeds << " that reached it:\n";
  for (const auto& [row, count] : seeds_) out << std::setw(8) << count << "  " << row << '\n';
}

}  // namespace heddle::sim
