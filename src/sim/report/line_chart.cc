// SPDX-License-Identifier: Apache-2.0
#include "sim/report/line_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <string_view>

namespace heddle::sim {

namespace {

constexpr double kWidth = 520, kHeight = 260, kLeft = 64, kRight = 12, kTop = 28, kBottom = 40, kLegend = 16;
constexpr double kLetter = 6.2;  // width, about
constexpr const char* kStyle =
    "text{font:11px "
    "sans-serif;fill:#222}.title{font-weight:bold;font-size:12px}.x{text-anchor:middle}.y{text-anchor:end}"
    ".grid{stroke:#e4e4e4}.span{fill:#f0f4e4}.mark{stroke:#b00020;stroke-dasharray:4 3}polyline{fill:none}"
    ".line{stroke-linejoin:round}.thin{stroke-width:.5;opacity:.45}";
// Told apart by most who do not see all colours.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#6a3d9a", "#000000"};

// A line that lies on another one lets it be seen.
constexpr std::array<std::string_view, 4> kDashes = {"", "12 6", "6 6", "2 7"};

struct Axis {
  double low = 0, high = 1;
  bool log = false;
  double part(double value) const {
    if (log) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
    return (value - low) / (high - low);
  }
};

std::string short_number(double value) {
  std::ostringstream out;
  const double size = std::abs(value);
  if (size >= 1e9)
    out << value / 1e9 << 'G';
  else if (size >= 1e6)
    out << value / 1e6 << 'M';
  else if (size >= 1e3)
    out << value / 1e3 << 'k';
  else
    out << value;
  return out.str();
}

// 1, 2 or 5 times a power of ten, so that about five steps cover the range.
double step_of(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (range / (factor * power) <= 6) return factor * power;
  return 10 * power;
}

std::vector<double> linear_ticks(const Axis& axis) {
  std::vector<double> ticks;
  const double step = step_of(axis.high - axis.low);
  for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high + step / 1e6; tick += step)
    ticks.push_back(std::abs(tick) < step / 1e6 ? 0 : tick);
  return ticks;
}

std::vector<double> log_ticks(const Axis& axis, const std::vector<double>& factors) {
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(axis.low))); power <= axis.high; power *= 10)
    for (const double factor : factors)
      if (factor * power >= axis.low && factor * power <= axis.high * 1.001) ticks.push_back(factor * power);
  return ticks;
}

// At least three, however narrow the range is.
std::vector<double> ticks_of(const Axis& axis) {
  if (!axis.log) return linear_ticks(axis);
  std::vector<double> ticks = log_ticks(axis, {1});
  for (const std::vector<double>& factors : {std::vector<double>{1, 2, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9}})
    if (ticks.size() < 4) ticks = log_ticks(axis, factors);
  return ticks.size() < 3 ? linear_ticks(axis) : ticks;
}

double x_at(const Axis& axis, double value) { return kLeft + axis.part(value) * (kWidth - kLeft - kRight); }
double y_at(const Axis& axis, double value) {
  return kHeight - kBottom - axis.part(value) * (kHeight - kTop - kBottom);
}

std::string text_at(double x, double y, const char* kind, const std::string& text) {
  std::ostringstream out;
  out << "<text class=\"" << kind << "\" x=\"" << x << "\" y=\"" << y << "\">" << html_text(text) << "</text>";
  return out.str();
}

std::string grid_line(double x1, double y1, double x2, double y2) {
  std::ostringstream out;
  out << "<line class=\"grid\" x1=\"" << x1 << "\" y1=\"" << y1 << "\" x2=\"" << x2 << "\" y2=\"" << y2 << "\"/>";
  return out.str();
}

void draw_axes(std::ostringstream& out, const Chart& chart, const Axis& x, const Axis& y) {
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  for (const double tick : ticks_of(y))
    out << grid_line(kLeft, y_at(y, tick), right, y_at(y, tick))
        << text_at(kLeft - 5, y_at(y, tick) + 4, "y", short_number(tick));
  for (const double tick : ticks_of(x))
    out << grid_line(x_at(x, tick), kTop, x_at(x, tick), bottom)
        << text_at(x_at(x, tick), bottom + 15, "x", short_number(tick));
  out << text_at(kLeft, 16, "title", chart.title) << text_at((kLeft + right) / 2, kHeight - 6, "x", chart.x_label)
      << "<g transform=\"translate(13," << (kTop + bottom) / 2 << ") rotate(-90)\">"
      << text_at(0, 0, "x", chart.y_label) << "</g>";
}

}  // namespace

std::string html_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else if (c == '"')
      result += "&quot;";
    else
      result += c;
  }
  return result;
}

namespace {

// What is below the lines: spans with their names, marks with theirs at the top.
void draw_times(std::ostringstream& out, const Chart& chart, const Axis& x) {
  const double bottom = kHeight - kBottom;
  for (const ChartSpan& span : chart.spans) {
    const double from = x_at(x, std::max(span.from, x.low)), to = x_at(x, std::min(span.to, x.high));
    if (from >= to) continue;
    out << "<rect class=\"span\" x=\"" << from << "\" y=\"" << kTop << "\" width=\"" << to - from << "\" height=\""
        << bottom - kTop << "\"><title>" << html_text(span.name) << "</title></rect>";
    if (kLetter * static_cast<double>(span.name.size()) < to - from)
      out << text_at((from + to) / 2, kTop + 9, "x", span.name);
  }
  for (const ChartMark& mark : chart.marks) {
    if (mark.at < x.low || mark.at > x.high) continue;
    const double at = x_at(x, mark.at);
    out << "<line class=\"mark\" x1=\"" << at << "\" y1=\"" << kTop << "\" x2=\"" << at << "\" y2=\"" << bottom
        << "\"><title>" << html_text(mark.name) << "</title></line>"
        << text_at(at + (at < kWidth * 0.8 ? 3 : -3), kTop + 21, at < kWidth * 0.8 ? "mark-right" : "y", mark.name);
  }
}

void draw_line(std::ostringstream& out, const ChartLine& line, const Chart& chart, const Axis& x, const Axis& y,
               size_t index, double width) {
  out << "<polyline class=\"" << (line.name.empty() ? "thin" : "line") << "\" stroke=\""
      << kColours[index % kColours.size()];
  if (!line.name.empty())
    out << "\" stroke-width=\"" << width << "\" stroke-dasharray=\"" << kDashes[index % kDashes.size()];
  out << "\" points=\"";
  for (const auto& [at, value] : line.points)
    if (!chart.log_x || at > 0) out << x_at(x, at) << ',' << y_at(y, value) << ' ';
  out << "\"/>";
}

struct Axes {
  Axis x, y;
};

Axes axes_of(const Chart& chart) {
  Axis x{.low = 1e300, .high = -1e300, .log = chart.log_x}, y{.low = 0, .high = 0, .log = false};
  for (const ChartLine& line : chart.lines) {
    for (const auto& [at, value] : line.points) {
      if (chart.log_x && at <= 0) continue;
      x.low = std::min(x.low, at);
      x.high = std::max(x.high, at);
      y.high = std::max(y.high, value);
    }
  }
  if (x.low >= x.high)
    x = {.low = x.low < 1e300 ? x.low : 1, .high = x.low < 1e300 ? x.low * 10 + 1 : 10, .log = x.log};
  y.high = y.high <= 0 ? 1 : y.high * 1.04;  // a line at the top is seen, too
  return {x, y};
}

}  // namespace

std::string svg_of(const Chart& chart) {
  const auto [x, y] = axes_of(chart);
  std::ostringstream lines, legend;
  lines << std::setprecision(6);
  const auto named = static_cast<size_t>(
      std::count_if(chart.lines.begin(), chart.lines.end(), [](const ChartLine& line) { return !line.name.empty(); }));
  size_t index = 0;
  double left = kLeft, top = kHeight + 2;
  for (const ChartLine& line : chart.lines) {
    const std::string_view stroke = kColours[index % kColours.size()];
    draw_line(lines, line, chart, x, y, index,
              1.6 + static_cast<double>(named - 1 - index) * std::min(0.6, 3.0 / static_cast<double>(named)));
    if (line.name.empty()) continue;
    const double width = 26 + kLetter * static_cast<double>(line.name.size());
    if (left > kLeft && left + width > kWidth) {
      left = kLeft;
      top += kLegend;
    }
    legend << "<rect x=\"" << left << "\" y=\"" << top << "\" width=\"10\" height=\"10\" fill=\"" << stroke << "\"/>"
           << text_at(left + 14, top + 9, "legend", line.name);
    left += width;
    ++index;
  }
  std::ostringstream out;
  out << std::setprecision(6) << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kWidth << ' '
      << top + kLegend - 2 << "\"><style>" << kStyle << "</style>";
  draw_times(out, chart, x);
  draw_axes(out, chart, x, y);
  out << lines.str() << legend.str() << "</svg>\n";
  return out.str();
}

}  // namespace heddle::sim
