// SPDX-License-Identifier: Apache-2.0
// A YAML text as a tree of our own, with the position of everything. The only place that knows the YAML
// library, so that its exceptions, its laziness and its unbounded recursion end here. Refused: more than 1
// MiB, deep nesting, aliases that blow up or contain themselves, duplicate keys, keys that are not plain
// text, tags, several documents in one file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "config/config_errors.h"

namespace heddle {

struct YamlMark {
  uint32_t line = 1;  // from 1
  uint32_t column = 1;
};

struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kList, kMap };
  struct Child {
    std::string key;  // maps
    YamlMark key_mark;
    uint32_t node = 0;  // index in the document
  };
  Kind kind = Kind::kNull;
  bool quoted = false;  // scalars: text and never a number
  YamlMark mark;
  std::string scalar;
  std::vector<Child> children;  // in the order of the file
};

class YamlDocument {
 public:
  static constexpr size_t kBytesMax = 1024 * 1024;
  static constexpr uint32_t kDepthMax = 16;
  static constexpr uint32_t kNodesMax = 400'000;  // aliases counted as what they stand for

  // Both give nullptr and add to `errors` if the text is refused. An empty text is a null root.
  static std::unique_ptr<YamlDocument> load(const std::string& path, ConfigErrors& errors);
  static std::unique_ptr<YamlDocument> parse(const std::string& text, const std::string& file_name,
                                             ConfigErrors& errors);

  const std::string& file_name() const { return file_name_; }
  const YamlNode& root() const { return nodes_[root_]; }
  const YamlNode& node(uint32_t index) const { return nodes_[index]; }

 private:
  friend class YamlTreeBuilder;
  explicit YamlDocument(std::string file_name) : file_name_(std::move(file_name)) {}

  std::string file_name_;
  std::vector<YamlNode> nodes_;
  uint32_t root_ = 0;
};

}  // namespace heddle
