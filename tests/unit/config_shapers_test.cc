// SPDX-License-Identifier: Apache-2.0
// `shapers` of a node: what is read, and each way in which it can be wrong.
#include <gtest/gtest.h>

#include "config/shaper_reader.h"
#include "config/topology_file.h"
#include "config/yaml_document.h"
#include "tests/unit/config_support.h"

namespace heddle::config_shapers_test {
namespace {

using test::WrongFile;

Topology topology() {
  ConfigErrors errors;
  const auto topology = parse_topology(R"(
name: x
classes: [{ name: bulk }, { name: storage, pcp: [1] }, { name: control, pcp: [2] }]
nodes: { a: { address: 1, ports: { p1: { rate: 10G }, p2: , p4: { rate: 20M }, p5: { rate: 500k }, f1: } }, b: { address: 2, ports: { f1: } } }
links: [{ ends: ["a:f1", "b:f1"], rate: 40G }]
)",
                                       "t.yaml", errors);
  EXPECT_TRUE(topology) << errors.text();
  return *topology;
}

PortShapers parse(const std::string& text, ConfigErrors& errors) {
  const auto document = YamlDocument::parse(test::without_first_newline(text), "node.yaml", errors);
  return read_shapers(YamlValue(*document, errors)["shapers"], topology(), 0);
}

TEST(Shapers, AreReadAsTheyStand) {
  ConfigErrors errors;
  const PortShapers shapers = parse(R"(
shapers:
  p1:
    maximum: 8G
    classes:
      storage: { minimum: 3G, maximum: 4G, priority: 2, weight: 5, branch: fast }
      control: { minimum: 100M, priority: 7 }
      bulk: { branch: slow }
    branches:
      slow: { maximum: 2G }
      fast: { minimum: 4G, priority: 1 }
  f1: { classes: { bulk: { maximum: 20G } } }
)",
                                    errors);
  EXPECT_EQ(errors.text(), "");
  ASSERT_EQ(shapers.size(), 5u);
  EXPECT_TRUE(shapers[0].configured);
  EXPECT_FALSE(shapers[1].configured);
  EXPECT_EQ(shapers[0].maximum_bps, 8'000'000'000u);
  const ShaperPolicy::Leaf& storage = shapers[0].leaves[1];
  EXPECT_EQ(storage.bandwidth.minimum_bps, 3'000'000'000u);
  EXPECT_EQ(storage.bandwidth.maximum_bps, 4'000'000'000u);
  EXPECT_EQ(storage.bandwidth.priority, 2);
  EXPECT_EQ(storage.weight, 5);
  EXPECT_EQ(storage.branch, 1) << "branches are known, wherever they stand";
  EXPECT_EQ(shapers[0].leaves[2].branch, kNoBranch);
  ASSERT_EQ(shapers[0].branches.size(), 2u);
  EXPECT_EQ(shapers[0].branches[0].name, "slow");
  EXPECT_EQ(shapers[0].branches[0].bandwidth.maximum_bps, 2'000'000'000u);
  EXPECT_EQ(shapers[0].branches[1].bandwidth.priority, 1);
  EXPECT_EQ(shapers[4].leaves[0].bandwidth.maximum_bps, 20'000'000'000u);
}

TEST(Shapers, ThereAreNoneWithoutTheKey) {
  ConfigErrors errors;
  EXPECT_TRUE(parse("other: 1\n", errors).empty());
  EXPECT_TRUE(parse("shapers: {}\n", errors).empty());
  EXPECT_EQ(errors.text(), "");
}

class WrongShapers : public testing::TestWithParam<WrongFile> {};

TEST_P(WrongShapers, AreRefusedAndSaidWhere) {
  ConfigErrors errors;
  EXPECT_TRUE(parse(GetParam().text, errors).empty());
  EXPECT_EQ(errors.text(), test::without_first_newline(GetParam().messages));
}

INSTANTIATE_TEST_SUITE_P(All, WrongShapers,
                         testing::Values(WrongFile{"APortThatThereIsNot", R"(
shapers: { p3: { maximum: 1G } }
)",
                                                   R"(
node.yaml:1:12: shapers.p3: found no port p3, allowed p1
)"},
                                         WrongFile{"APortWithoutARate", R"(
shapers: { p2: { maximum: 1G } }
)",
                                                   R"(
node.yaml:1:12: shapers.p2: found a shaper of a port without a rate, allowed a port whose `rate` is known: its frames wait here
)"},
                                         WrongFile{"MoreThanThePort", R"(
shapers: { p1: { maximum: 11G } }
)",
                                                   R"(
node.yaml:1:27: shapers.p1.maximum: found 11G, allowed 1M to 10G bits per second
)"},
                                         WrongFile{"AnUnknownKey", R"(
shapers: { p1: { rate: 1G } }
)",
                                                   R"(
node.yaml:1:18: shapers.p1.rate: found an unknown key, allowed maximum, branches or classes
)"},
                                         WrongFile{"AnUnknownClass", R"(
shapers: { p1: { classes: { stroage: { minimum: 1G } } } }
)",
                                                   R"(
node.yaml:1:29: shapers.p1.classes.stroage: found no class stroage, allowed storage
)"},
                                         WrongFile{"AMinimumAboveTheMaximum", R"(
shapers: { p1: { classes: { storage: { minimum: 2G, maximum: 1G } } } }
)",
                                                   R"(
node.yaml:1:49: shapers.p1.classes.storage.minimum: found 2G, allowed 1M to 1G bits per second
)"},
                                         WrongFile{"APriorityOfNothing", R"(
shapers: { p1: { classes: { storage: { maximum: 1G, priority: 3 } } } }
)",
                                                   R"(
node.yaml:1:53: shapers.p1.classes.storage.priority: found a priority without a minimum, allowed one with a minimum: up to that it comes first
)"},
                                         WrongFile{"ABranchThatThereIsNot", R"(
shapers: { p1: { classes: { storage: { branch: fast } } } }
)",
                                                   R"(
node.yaml:1:48: shapers.p1.classes.storage.branch: found no branch fast, allowed a name under branches
)"},
                                         WrongFile{"MoreThanItsBranch", R"(
shapers: { p1: { branches: { slow: { maximum: 1G } }, classes: { storage: { maximum: 2G, branch: slow } } } }
)",
                                                   R"(
node.yaml:1:86: shapers.p1.classes.storage.maximum: found 2G, allowed 1M to 1G bits per second
)"},
                                         WrongFile{"FiveBranches", R"(
shapers: { p1: { branches: { a: {}, b: {}, c: {}, d: {}, e: {} } } }
)",
                                                   R"(
node.yaml:1:58: shapers.p1.branches.e: found one more branch, allowed 4 of a port
)"},
                                         WrongFile{"ABranchOfNoClass", R"(
shapers: { p1: { branches: { slow: { minimum: 9G } }, classes: { storage: { minimum: 1G } } } }
)",
                                                   R"(
node.yaml:1:30: shapers.p1.branches.slow: found a branch of no class, allowed one that a class names as its `branch`
)"},
                                         WrongFile{"ASlowPort", R"(
shapers: { p5: { maximum: 300k } }
)",
                                                   R"(
node.yaml:1:12: shapers.p5: found a shaper of a port of 500k, allowed a port of 1M or more
)"},
                                         WrongFile{"WeightsFarApart", R"(
shapers: { p4: { classes: { storage: { weight: 20 } } } }
)",
                                                   R"(
node.yaml:1:48: shapers.p4.classes.storage.weight: found 20 beside a class of 1, allowed at 20M up to 8 times the least: others' frames would not live to the end of a turn
)"},
                                         WrongFile{"MinimaOfMoreThanTheBranch", R"(
shapers:
  p1:
    branches: { slow: { maximum: 4G, minimum: 1G } }
    classes: { storage: { minimum: 2G, branch: slow }, bulk: { minimum: 2G, branch: slow } }
)",
                                                   R"(
node.yaml:3:17: shapers.p1.branches.slow: found minima of 5G, allowed up to 4G in all
)"},
                                         WrongFile{"MinimaOfClassesAndBranches", R"(
shapers:
  p1:
    branches: { fast: { minimum: 5G } }
    classes: { storage: { minimum: 6G }, bulk: { branch: fast } }
)",
                                                   R"(
node.yaml:2:3: shapers.p1: found minima of 11G, allowed up to 10G in all
)"},
                                         WrongFile{"MinimaOfMoreThanThereIs", R"(
shapers:
  p1:
    classes: { storage: { minimum: 6G }, bulk: { minimum: 5G } }
)",
                                                   R"(
node.yaml:2:3: shapers.p1: found minima of 11G, allowed up to 10G in all
)"}),
                         test::case_name);

}  // namespace
}  // namespace heddle::config_shapers_test
