// SPDX-License-Identifier: Apache-2.0
#include "cli/text_table.h"

#include <algorithm>
#include <cstdio>

namespace heddle {

namespace {

struct Scaled {
  std::string number;
  std::string prefix;
};

// Three of them, or all that there are before the point.
std::string digits(double value, bool whole) {
  char text[32];
  const int decimals = whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::snprintf(text, sizeof(text), "%.*f", decimals, value);
  return text;
}

Scaled scale(double value) {
  static constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < std::size(kPrefixes)) {
    value /= 1000;
    ++prefix;
  }
  return {digits(value, prefix == 0), kPrefixes[prefix]};
}

}  // namespace

std::string scaled(double value) {
  const Scaled scaled = scale(value);
  return scaled.number + scaled.prefix;
}

std::string scaled_bits_per_second(double value) {
  const Scaled scaled = scale(value);
  return scaled.number + " " + scaled.prefix + "b/s";
}

std::string scaled_bytes(double value) {
  const Scaled scaled = scale(value);
  return scaled.number + " " + scaled.prefix + "B";
}

std::string scaled_duration(double nanoseconds) {
  static constexpr struct {
    double ns;
    const char* name;
  } kUnits[] = {{1, "ns"}, {1e3, "us"}, {1e6, "ms"}, {1e9, "s"}, {60e9, "min"}, {3600e9, "h"}, {86400e9, "d"}};
  const auto* unit = std::begin(kUnits);
  while (std::next(unit) != std::end(kUnits) && nanoseconds >= std::next(unit)->ns * 0.9995) ++unit;
  return digits(nanoseconds / unit->ns, unit == std::begin(kUnits)) + " " + unit->name;
}

std::string TextTable::text() const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_)
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string all;
  const auto add_line = [&](auto cell_of) {
    std::string line;
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      const std::string space(widths[i] - cell.size(), ' ');
      if (i != 0) line += "  ";
      line += columns_[i].align == Align::right ? space + cell : cell + space;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    all += line + "\n";
  };
  add_line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) add_line([&](size_t i) -> const std::string& { return row[i]; });
  return all;
}

}  // namespace heddle
