// SPDX-License-Identifier: Apache-2.0
// Aligned columns for people.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

class TextTable {
 public:
  enum class Align : uint8_t { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  // Title line and one line per row, each with a newline; nothing behind the last column.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// 999, 12.3k, 4.56M: at most three digits before and as many in all as are worth reading.
std::string scaled(double value);
std::string scaled_bits_per_second(double value);  // 1.23 Gb/s
std::string scaled_bytes(double value);            // 12.3 kB
std::string scaled_duration(double nanoseconds);   // 850 ns, 3.98 ms, 12.3 s, 4.56 h, 12.3 d

}  // namespace heddle
