// SPDX-License-Identifier: Apache-2.0
#include "config/config_errors.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace heddle {

std::string ConfigError::text() const {
  std::string out = file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": ";
  if (!key.empty()) out += key + ": ";
  return out + "found " + found + ", allowed " + allowed;
}

void ConfigErrors::add(ConfigError error) {
  ++count_;
  if (items_.size() >= kMax) return;
  // Keys come from the file: a message stays one line whatever they hold.
  for (std::string* text : {&error.key, &error.found, &error.allowed}) {
    std::replace_if(
        text->begin(), text->end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  }
  items_.push_back(std::move(error));
}

void ConfigErrors::sort() {
  std::map<std::string, size_t> file_rank;
  for (const ConfigError& error : items_) file_rank.emplace(error.file, file_rank.size());
  std::stable_sort(items_.begin(), items_.end(), [&](const ConfigError& a, const ConfigError& b) {
    return std::tuple(file_rank[a.file], a.line, a.column) < std::tuple(file_rank[b.file], b.line, b.column);
  });
}

std::string ConfigErrors::text() const {
  std::string out;
  for (const ConfigError& error : items_) out += error.text() + "\n";
  if (count_ > items_.size()) out += "and " + std::to_string(count_ - items_.size()) + " more\n";
  return out;
}

}  // namespace heddle
