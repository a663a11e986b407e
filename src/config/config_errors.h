// SPDX-License-Identifier: Apache-2.0
// What is wrong with a configuration, one entry per problem, all of them and not only the first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

struct ConfigError {
  std::string file;
  uint32_t line = 1;  // from 1
  uint32_t column = 1;
  std::string key;      // path, as in nodes.leaf1.address or links[2].ends[0]; empty = the file as a whole
  std::string found;    // what stands there
  std::string allowed;  // what may stand there

  // "topology.yaml:12:9: nodes.leaf1.address: found 0, allowed 1 to 65534"
  std::string text() const;
};

class ConfigErrors {
 public:
  static constexpr size_t kMax = 200;  // a file that is wrong throughout need not be told so without end

  void add(ConfigError error);
  bool empty() const { return count_ == 0; }
  size_t size() const { return count_; }                            // of all that were added
  const std::vector<ConfigError>& items() const { return items_; }  // the first kMax of them
  // By file in the order met, then by line and column.
  void sort();
  // One line per problem, each with a newline, and one more if there were more than kMax.
  std::string text() const;

 private:
  std::vector<ConfigError> items_;
  size_t count_ = 0;
};

}  // namespace heddle
