// SPDX-License-Identifier: Apache-2.0
// What the tests of the configuration share: paths into the source tree, and one wrong file per row.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "config/config_errors.h"

namespace heddle::test {

inline std::filesystem::path source_root() {
#ifdef HEDDLE_SOURCE_ROOT
  return HEDDLE_SOURCE_ROOT;
#else
  return std::filesystem::path(__FILE__).parent_path() / ".." / "..";
#endif
}

inline std::string read_source(const std::string& name) {
  std::ifstream file(source_root() / name);
  EXPECT_TRUE(file.good()) << name << ": run the test where the source tree is";
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Of a page, from a heading to the next one; empty if there is none.
inline std::string section_of(const std::string& document, const std::string& heading) {
  for (const char* level : {"\n## ", "\n### ", "\n#### "}) {
    const size_t start = document.find(level + heading + "\n");
    if (start != std::string::npos) return document.substr(start, document.find("\n#", start + 1) - start);
  }
  return "";
}

// A file that is wrong in one way, and everything that must be said about it.
struct WrongFile {
  const char* name;      // of the case: letters and digits
  std::string text;      // begins with a newline that does not count, so that line numbers start at the first key
  std::string messages;  // each with a newline
};

inline std::string case_name(const testing::TestParamInfo<WrongFile>& info) { return info.param.name; }

inline void PrintTo(const WrongFile& file, std::ostream* out) { *out << file.name; }

inline std::string without_first_newline(const std::string& text) {
  return !text.empty() && text[0] == '\n' ? text.substr(1) : text;
}

}  // namespace heddle::test
