// SPDX-License-Identifier: Apache-2.0
// Fields of a reply's rows as the cells of a table.
#pragma once

#include <cstdio>
#include <string>

#include "cli/text_table.h"
#include "telemetry/json.h"

namespace heddle::row_text {

using Align = TextTable::Align;

inline std::string text(const Json& row, const char* key) {
  const Json& value = row.at(key);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
}
inline double number(const Json& row, const char* key) { return row.contains(key) ? row[key].get<double>() : 0; }
inline std::string count(const Json& row, const char* key) {
  return row.contains(key) ? scaled(number(row, key)) : "-";
}
inline std::string exact(const Json& row, const char* key) { return row.contains(key) ? row[key].dump() : "-"; }
inline std::string bytes(const Json& row, const char* key) { return scaled_bytes(number(row, key)); }
inline std::string duration(const Json& row, const char* key) { return scaled_duration(number(row, key)); }
inline const char* up_text(const Json& row) { return row.at("up").get<bool>() ? "up" : "down"; }
inline std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, share < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100);
  return text;
}

// leaf1:p3
inline std::string place(const Json& row) { return text(row, "node") + ":" + text(row, "port"); }

}  // namespace heddle::row_text
