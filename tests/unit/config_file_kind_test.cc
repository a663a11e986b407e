// SPDX-License-Identifier: Apache-2.0
#include "config/file_kind.h"
#include "tests/unit/config_support.h"

namespace heddle::config_file_kind_test {
namespace {

TEST(FileKind, OfEveryExample) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_root() / "config")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string folder = entry.path().parent_path().filename();
    const FileKind expected = entry.path().filename() == "topology.yaml" ? FileKind::topology
                              : folder == "node"                         ? FileKind::node
                              : folder == "lab"                          ? FileKind::lab
                                                                         : FileKind::scenario;
    ConfigErrors errors;
    EXPECT_EQ(file_kind(entry.path(), errors), expected) << entry.path();
  }
}

TEST(FileKind, OfNoFileAndOfAListIsAnError) {
  ConfigErrors errors;
  EXPECT_EQ(file_kind("/nowhere.yaml", errors), std::nullopt);
  EXPECT_EQ(errors.size(), 1u);
  const std::filesystem::path list = std::filesystem::temp_directory_path() / "heddle-file-kind.yaml";
  std::ofstream(list) << "- a\n";
  EXPECT_EQ(file_kind(list, errors), std::nullopt);
  EXPECT_EQ(errors.items().back().allowed, "the map of a node file, topology file, lab file or scenario");
  std::filesystem::remove(list);
}

}  // namespace
}  // namespace heddle::config_file_kind_test
