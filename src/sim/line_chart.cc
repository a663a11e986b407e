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

constexpr double kWidth = 520, kHeight = 260, kLeft = 64, kRight = 12, kTop = 28, kBottom = 40;
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

void draw_axes(std::ostringstream& out, const Chart& chart, const Axis& x, const Axis& y) {
  const double bottom = kHeight - kBottom;
  for (const double tick : ticks_of(y))
    out << "<line class=grid x1=" << kLeft << " x2=" << kWidth - kRight << " y1=" << y_at(y, tick)
        << " y2=" << y_at(y, tick) << " /><text class=y x=" << kLeft - 5 << " y=" << y_at(y, tick) + 4 << '>'
        << short_number(tick) << "</text>";
  for (const double tick : ticks_of(x))
    out << "<line class=grid y1=" << kTop << " y2=" << bottom << " x1=" << x_at(x, tick) << " x2=" << x_at(x, tick)
        << " /><text class=x x=" << x_at(x, tick) << " y=" << bottom + 15 << '>' << short_number(tick) << "</text>";
  out << "<text class=title x=" << kLeft << " y=16>" << html_text(chart.title)
      << "</text><text class=x x=" << (kLeft + kWidth - kRight) / 2 << " y=" << kHeight - 6 << '>'
      << html_text(chart.x_label) << "</text><text class=x transform=\"translate(13," << (kTop + bottom) / 2
      << ") rotate(-90)\">" << html_text(chart.y_label) << "</text>";
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
  out << std::setprecision(6) << "<figure><svg viewBox=\"0 0 " << kWidth << ' ' << kHeight << "\">";
  draw_axes(out, chart, x, y);
  std::ostringstream legend;
  size_t colour = 0;
  for (const ChartLine& line : chart.lines) {
    const std::string_view stroke = kColours[colour % kColours.size()];
    out << "<polyline class=" << (line.name.empty() ? "thin" : "line") << " stroke=\"" << stroke << "\" points=\"";
    for (const auto& [at, value] : line.points)
      if (!chart.log_x || at > 0) out << x_at(x, at) << ',' << y_at(y, value) << ' ';
    out << "\" />";
    if (line.name.empty()) continue;
    legend << "<span><i style=\"background:" << stroke << "\"></i>" << html_text(line.name) << "</span> ";
    ++colour;
  }
  out << "</svg><figcaption>" << legend.str() << "</figcaption></figure>\n";
  return out.str();
}

}  // namespace heddle::sim
