// SPDX-License-Identifier: Apache-2.0
#include "sim/line_chart.h"

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
    ".grid{stroke:#e4e4e4}polyline{fill:none}.line{stroke-width:1.8}.thin{stroke-width:.5;opacity:.45}";
// Told apart by most who do not see all colours.
constexpr std::array<std::string_view, 8> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                      "#e69f00", "#56b4e9", "#6a3d9a", "#000000"};

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

std::vector<double> ticks_of(const Axis& axis) {
  std::vector<double> ticks;
  if (axis.log) {
    const bool wide = axis.high / axis.low > 100;
    for (double power = std::pow(10, std::floor(std::log10(axis.low))); power <= axis.high; power *= 10)
      for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= axis.low && factor * power <= axis.high * 1.001 && (factor == 1 || !wide))
          ticks.push_back(factor * power);
    return ticks;
  }
  const double step = step_of(axis.high - axis.low);
  for (double tick = std::ceil(axis.low / step) * step; tick <= axis.high + step / 1e6; tick += step)
    ticks.push_back(std::abs(tick) < step / 1e6 ? 0 : tick);
  return ticks;
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

std::string svg_of(const Chart& chart) {
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
  if (y.high <= 0) y.high = 1;
  std::ostringstream out;
  out << std::setprecision(6) << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kWidth << ' '
      << kHeight + kLegend << "\"><style>" << kStyle << "</style>";
  draw_axes(out, chart, x, y);
  size_t colour = 0;
  double legend = kLeft;
  for (const ChartLine& line : chart.lines) {
    const std::string_view stroke = kColours[colour % kColours.size()];
    out << "<polyline class=\"" << (line.name.empty() ? "thin" : "line") << "\" stroke=\"" << stroke << "\" points=\"";
    for (const auto& [at, value] : line.points)
      if (!chart.log_x || at > 0) out << x_at(x, at) << ',' << y_at(y, value) << ' ';
    out << "\"/>";
    if (line.name.empty()) continue;
    out << "<rect x=\"" << legend << "\" y=\"" << kHeight + 2 << "\" width=\"10\" height=\"10\" fill=\"" << stroke
        << "\"/>" << text_at(legend + 14, kHeight + 11, "legend", line.name);
    legend += 26 + kLetter * static_cast<double>(line.name.size());
    ++colour;
  }
  out << "</svg>\n";
  return out.str();
}

}  // namespace heddle::sim
