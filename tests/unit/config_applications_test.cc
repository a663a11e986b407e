// SPDX-License-Identifier: Apache-2.0
// `applications` of a node: what is read, and each way in which it can be wrong.
#include <gtest/gtest.h>

#include "config/application_reader.h"
#include "config/topology_file.h"
#include "config/yaml_document.h"
#include "tests/unit/config_support.h"

namespace heddle::config_applications_test {
namespace {

using test::WrongFile;

Topology topology() {
  ConfigErrors errors;
  const auto topology = parse_topology(R"(
name: x
classes:
  - { name: bulk, ftag: 3, match: [mac, ip] }
  - { name: plain, ftag: 4, match: [mac], pcp: [1] }
  - { name: labels, ftag: 5, match: [mac, flow_label, dscp], pcp: [2] }
nodes: { a: { address: 1, ports: { p1: , p2: , f1: } }, b: { address: 2, ports: { f1: } } }
links: [{ ends: ["a:f1", "b:f1"] }]
)",
                                       "t.yaml", errors);
  EXPECT_TRUE(topology) << errors.text();
  return *topology;
}

ApplicationPolicy parse(const std::string& text, ConfigErrors& errors) {
  const auto document = YamlDocument::parse(test::without_first_newline(text), "node.yaml", errors);
  return read_applications(YamlValue(*document, errors)["applications"], topology(), 0);
}

TEST(Applications, AreReadAsTheyStand) {
  ConfigErrors errors;
  const ApplicationPolicy policy = parse(R"(
applications:
  classes:
    plain: { base: 16, bits: 4, index: vlan_crc }
    labels: { index: flow_label, bits: 2 }
  groups:
    storage: { group: 1, source: 10.1.0.0/16, class: bulk, weight: 3, limit: 2 }
    tenant: { group: 2, vlan: 20, port: p2 }
    sink: { group: 3, destination: "2001:db8::1", class: bulk }
    marked: { group: 4, dscp: 46, class: labels }
    named: { group: 17, weight: 5 }
  limits: { 2: { weight: 9 }, 7: { weight: 8 } }
)",
                                         errors);
  EXPECT_EQ(errors.text(), "");
  EXPECT_TRUE(policy.configured);
  EXPECT_EQ(policy.groups[1].name, "storage");
  EXPECT_EQ(policy.groups[1].weight, 3);
  EXPECT_EQ(policy.groups[1].limit, 2);
  EXPECT_EQ(policy.groups[2].limit, 0);
  EXPECT_EQ(policy.groups[17].weight, 5);
  EXPECT_EQ(policy.groups[127].limit, kNoLimitId);
  EXPECT_EQ(policy.limits[2].weight, 9);
  EXPECT_EQ(policy.limits[7].weight, 8);
  EXPECT_EQ(policy.limits[0].weight, 1);
  ASSERT_EQ(policy.rules.size(), 4u) << "of those for which something has to hold";
  EXPECT_EQ(policy.rules[0].group, 1);
  EXPECT_EQ(policy.rules[0].ftag, 3);
  EXPECT_EQ(policy.rules[0].source->bits, 16);
  EXPECT_EQ(policy.rules[0].source->address[1], 1);
  EXPECT_EQ(policy.rules[1].vlan, 20);
  EXPECT_EQ(policy.rules[1].port, PortIndex::of(1));
  EXPECT_EQ(policy.rules[2].destination->l3, 6);
  EXPECT_EQ(policy.rules[2].destination->bits, 128);
  EXPECT_EQ(policy.rules[3].dscp, 46);
  EXPECT_EQ(policy.indices[4].base, 16);
  EXPECT_EQ(policy.indices[4].bits, 4);
  EXPECT_EQ(policy.indices[4].field, IndexField::vlan_crc);
  EXPECT_EQ(policy.indices[5].field, IndexField::flow_label);
}

// Who is not told apart by name is by where its packets are from: whoever opens more connections has no more groups.
TEST(Applications, TheSourceIsTheIndexWhereTheClassKnowsIt) {
  ConfigErrors errors;
  const ApplicationPolicy policy = parse(R"(
applications: { classes: { bulk: { bits: 4 }, plain: { bits: 2 }, labels: { bits: 2 } } }
)",
                                         errors);
  EXPECT_EQ(errors.text(), "");
  EXPECT_EQ(policy.indices[3].field, IndexField::source);
  EXPECT_EQ(policy.indices[4].field, IndexField::vlan);
  EXPECT_EQ(policy.indices[5].field, IndexField::vlan);
}

TEST(Applications, ThereAreNoneWithoutTheKey) {
  ConfigErrors errors;
  EXPECT_FALSE(parse("other: 1\n", errors).configured);
  EXPECT_EQ(errors.text(), "");
}

class ApplicationErrors : public testing::TestWithParam<WrongFile> {};

TEST_P(ApplicationErrors, SayWhereWhatAndWhatInstead) {
  ConfigErrors errors;
  EXPECT_FALSE(parse(GetParam().text, errors).configured);
  EXPECT_EQ(errors.text(), test::without_first_newline(GetParam().messages));
}

INSTANTIATE_TEST_SUITE_P(
    Config, ApplicationErrors,
    testing::Values(
        WrongFile{"key", "applications: { group: 1 }\n", R"(
node.yaml:1:17: applications.group: found an unknown key, allowed groups
)"},
        WrongFile{"number", "applications: { groups: { a: { vlan: 1 } } }\n", R"(
node.yaml:1:27: applications.groups.a.group: found nothing, allowed the group's number, 0 to 126
)"},
        WrongFile{"number_twice", "applications: { groups: { a: { group: 1 }, b: { group: 1 } } }\n", R"(
node.yaml:1:56: applications.groups.b.group: found a second group 1, allowed a number that no other group has
)"},
        WrongFile{"class", "applications: { groups: { a: { group: 1, class: bulks } } }\n", R"(
node.yaml:1:49: applications.groups.a.class: found no class bulks, allowed bulk
)"},
        WrongFile{"fabric_port", "applications: { groups: { a: { group: 1, port: f1 } } }\n", R"(
node.yaml:1:48: applications.groups.a.port: found no edge port f1, allowed p1
)"},
        WrongFile{"prefix", "applications: { groups: { a: { group: 1, class: bulk, source: 10.1.0.0/33 } } }\n", R"(
node.yaml:1:63: applications.groups.a.source: found 10.1.0.0/33, allowed an address or a prefix, as in 10.1.0.0/16 or 2001:db8::/32
)"},
        WrongFile{"host_bits", "applications: { groups: { a: { group: 1, class: bulk, source: 10.1.0.1/16 } } }\n", R"(
node.yaml:1:63: applications.groups.a.source: found 10.1.0.1/16, allowed a prefix without bits behind its length
)"},
        WrongFile{"pattern", "applications: { groups: { a: { group: 1, source: 10.1.0.0/16 } } }\n", R"(
node.yaml:1:42: applications.groups.a.source: found the key, of class plain whose match has no ip, allowed a class whose match has ip: frames of one flow have one group
)"},
        WrongFile{"dscp_pattern", "applications: { groups: { a: { group: 1, class: bulk, dscp: 46 } } }\n", R"(
node.yaml:1:55: applications.groups.a.dscp: found the key, of class bulk whose match has no dscp, allowed a class whose match has dscp: frames of one flow have one group
)"},
        WrongFile{"dscp", "applications: { groups: { a: { group: 1, class: labels, dscp: 64 } } }\n", R"(
node.yaml:1:63: applications.groups.a.dscp: found 64, allowed 0 to 63
)"},
        WrongFile{"index_pattern", "applications: { classes: { plain: { bits: 1, index: source } } }\n", R"(
node.yaml:1:46: applications.classes.plain.index: found the key, of class plain whose match has no ip, allowed a class whose match has ip: frames of one flow have one group
)"},
        WrongFile{"no_flow", "applications: { groups: { a: { group: 127, vlan: 3 } } }\n", R"(
node.yaml:1:39: applications.groups.a.group: found 127, allowed 0 to 126
)"},
        WrongFile{"last_group", "applications: { classes: { plain: { base: 120, bits: 3 } } }\n", R"(
node.yaml:1:54: applications.classes.plain.bits: found groups up to 127, allowed groups up to 126
)"},
        WrongFile{"limit", "applications: { limits: { 8: { weight: 1 } } }\n", R"(
node.yaml:1:27: applications.limits.8: found this number, allowed 0 to 7: injection limit IDs
)"},
        WrongFile{"weight", "applications: { limits: { 1: { weight: 0 } } }\n", R"(
node.yaml:1:40: applications.limits.1.weight: found 0, allowed 1 to 100
)"}),
    test::case_name);

}  // namespace
}  // namespace heddle::config_applications_test
