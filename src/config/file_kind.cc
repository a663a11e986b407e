// SPDX-License-Identifier: Apache-2.0
#include "config/file_kind.h"

#include <algorithm>
#include <array>

#include "config/yaml_value.h"

namespace heddle {

namespace {

// Keys that only scenarios have, and only node files.
constexpr auto kOfScenarios = std::to_array<std::string_view>(
    {"workloads", "faults", "measure", "expect", "duration", "costs", "hosts", "seed", "about"});
constexpr auto kOfNodes =
    std::to_array<std::string_view>({"topology", "node", "devices", "socket", "buffers", "memory"});

template <typename Keys>
bool has_any(const YamlValue& root, const Keys& keys) {
  return std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return root.has(key); });
}

}  // namespace

std::string_view file_kind_name(FileKind kind) {
  switch (kind) {
    case FileKind::node:
      return "node file";
    case FileKind::topology:
      return "topology file";
    case FileKind::lab:
      return "lab file";
    case FileKind::scenario:
      return "scenario";
  }
  return "";
}

std::optional<FileKind> file_kind(const std::string& path, ConfigErrors& errors) {
  const std::unique_ptr<YamlDocument> document = YamlDocument::load(path, errors);
  if (document == nullptr) return std::nullopt;
  const YamlValue root(*document, errors);
  if (!root.is(YamlNode::Kind::kMap)) {
    root.problem("the map of a node file, topology file, lab file or scenario");
    return std::nullopt;
  }
  if (root["topology"].is(YamlNode::Kind::kMap)) return FileKind::lab;
  if (has_any(root, kOfScenarios)) return FileKind::scenario;
  if (has_any(root, kOfNodes)) return FileKind::node;
  return FileKind::topology;
}

}  // namespace heddle
