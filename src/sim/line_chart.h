// SPDX-License-Identifier: Apache-2.0
// A line chart as SVG text that needs nothing else. Pure functions.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace heddle::sim {

struct ChartLine {
  std::string name;  // empty: thin, and not in the legend
  std::vector<std::pair<double, double>> points;
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false;  // points at or below 0 are left out
  std::vector<ChartLine> lines;
};

// A whole SVG file.
std::string svg_of(const Chart& chart);

// Text with what HTML takes for its own written out.
std::string html_text(const std::string& text);

}  // namespace heddle::sim
