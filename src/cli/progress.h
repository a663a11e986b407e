// SPDX-License-Identifier: Apache-2.0
// How far a long run is, on one line of a terminal: what is done, the rate, the time left. Nothing goes into a file.
#pragma once

#include <chrono>
#include <string>

namespace heddle {

class Progress {
 public:
  // "seeds" of "fuzz", say; `total` in the unit.
  Progress(std::string what, double total, std::string unit);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void at(double done);

  // Puts the cursor where other output may begin; empty if there is no line.
  static const char* cleared();

 private:
  using Clock = std::chrono::steady_clock;
  const std::string what_, unit_;
  const double total_;
  const bool shown_;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point next_ = began_;
};

// "fuzz: 12 %, 120 of 1000 seeds, 11.4 seeds/s, 77 s left"
std::string progress_text(const std::string& what, const std::string& unit, double done, double total, double seconds);

}  // namespace heddle
