// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>

#include "cli/text_table.h"

namespace heddle {

namespace {

std::string number_text(double value) { return value < 10 ? scaled(value) : std::to_string(std::llround(value)); }

}  // namespace

std::string progress_text(const std::string& what, const std::string& unit, double done, double total, double seconds) {
  const double rate = seconds > 0 ? done / seconds : 0;
  std::string text = what + ": " + std::to_string(static_cast<int>(total > 0 ? 100 * done / total : 0)) + " %, " +
                     number_text(done) + " of " + number_text(total) + " " + unit + ", " + number_text(rate) + " " +
                     unit + "/s";
  if (rate > 0) text += ", " + scaled_duration((total - done) / rate * 1e9) + " left";
  return text;
}

Progress::Progress(std::string what, double total, std::string unit)
    : what_(std::move(what)), unit_(std::move(unit)), total_(total), shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) std::fputs(cleared(), stderr);
}

void Progress::at(double done) {
  constexpr auto kInterval = std::chrono::milliseconds(250);
  const auto now = Clock::now();
  if (!shown_ || now < next_) return;
  next_ = now + kInterval;
  const double seconds = std::chrono::duration<double>(now - began_).count();
  std::fprintf(stderr, "%s%s", cleared(), progress_text(what_, unit_, done, total_, seconds).c_str());
  std::fflush(stderr);
}

const char* Progress::cleared() { return isatty(STDERR_FILENO) == 1 ? "\r\033[K" : ""; }

}  // namespace heddle
