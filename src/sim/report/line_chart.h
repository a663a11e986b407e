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

struct ChartSpan {   // shaded
  std::string name;  // may be empty
  double from, to;
};

struct ChartMark {  // an instant at which something happens
  std::string name;
  double at;
};

struct Chart {
  std::string title, x_label, y_label;
  bool log_x = false;            // points at or below 0 are left out
  std::vector<ChartLine> lines;  // those with names: each narrower than the one before, so that none hides another
  std::vector<ChartSpan> spans = {};
  std::vector<ChartMark> marks = {};
};

// A whole SVG file.
std::string svg_of(const Chart& chart);

// Text with what HTML takes for its own written out.
std::string html_text(const std::string& text);

}  // namespace heddle::sim
