// SPDX-License-Identifier: Apache-2.0
// The JSON Schemas, the loaders, the examples and docs/configuration.md tell the same story.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <span>

// GCC 12 sees an overlap in valijson's use of std::string that is not there (GCC bug 105651).
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wrestrict"
#endif
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "config/config_keys.h"
#include "config/lab_file.h"
#include "config/node_file.h"
#include "config/topology_file.h"
#include "tests/unit/config_support.h"
#include "topology/fields.h"
#include "topology/topology_hash.h"

namespace heddle::config_schema_test {
namespace {

using nlohmann::json;

// Read once, so that parts of it can be referred to.
const json& schema_json(const std::string& name) {
  static std::map<std::string, json> read;
  if (!read.contains(name)) read[name] = json::parse(test::read_source("dist/schema/" + name + ".schema.json"));
  return read[name];
}

// The lab's schema takes parts of the topology's.
const json* fetch(const std::string& uri) {
  const std::string name = uri.substr(uri.rfind('/') + 1);
  return new json(json::parse(test::read_source("dist/schema/" + name)));
}
void release(const json* document) { delete document; }

// As an editor sees a YAML file: plain scalars have the type they look like. (The YAML adapter of valijson 1.0 gives
// them none, and does not compile with uniqueItems.)
json to_json(const YAML::Node& node) {
  if (node.IsMap()) {
    json map = json::object();
    for (const auto& entry : node) map[entry.first.Scalar()] = to_json(entry.second);
    return map;
  }
  if (node.IsSequence()) {
    json list = json::array();
    for (const auto& item : node) list.push_back(to_json(item));
    return list;
  }
  if (!node.IsScalar()) return nullptr;
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;  // quoted
  if (text == "true" || text == "false") return text == "true";
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return text;
}

// Problems that the schema has with the text; empty = none.
std::string validate(const std::string& schema_name, const std::string& text) {
  const json& document = schema_json(schema_name);
  valijson::Schema schema;
  valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
  const valijson::adapters::NlohmannJsonAdapter adapter(document);
  parser.populateSchema(adapter, schema, fetch, release);
  const json instance = to_json(YAML::Load(text));
  const valijson::adapters::NlohmannJsonAdapter target(instance);
  valijson::Validator validator(valijson::Validator::kStrongTypes);
  valijson::ValidationResults results;
  std::string problems;
  if (validator.validate(schema, target, &results)) return problems;
  for (const auto& error : results) {
    for (const std::string& part : error.context) problems += part;
    problems += ": " + error.description + "\n";
  }
  return problems.empty() ? "no reason given\n" : problems;
}

// Which kind of file an example is: told by its folder and its keys, not by a list that could be forgotten.
std::string kind_of(const std::filesystem::path& path, const YAML::Node& root) {
  if (path.parent_path().filename() == "lab") return "lab";
  return root["topology"] ? "node" : "topology";
}

TEST(ConfigExamples, PassTheirSchemasAndLoad) {
  std::map<std::string, int> kinds;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::source_root() / "config")) {
    if (entry.path().extension() != ".yaml") continue;
    if (entry.path().parent_path().filename() == "sim") continue;  // scenarios: tests/sim/scenario_test.cc
    SCOPED_TRACE(entry.path());
    const std::string text = test::read_source(std::filesystem::relative(entry.path(), test::source_root()));
    const std::string kind = kind_of(entry.path(), YAML::Load(text));
    ++kinds[kind];
    EXPECT_EQ(validate(kind, text), "");
    EXPECT_NE(text.find("dist/schema/" + kind + ".schema.json"), std::string::npos) << "no line for editors";
    ConfigErrors errors;
    if (kind == "lab") {
      EXPECT_TRUE(load_lab(entry.path(), errors));
    } else if (kind == "node") {
      EXPECT_TRUE(load_node_file(entry.path(), errors));
    } else {
      EXPECT_TRUE(load_topology(entry.path(), errors));
    }
    EXPECT_EQ(errors.text(), "");
  }
  EXPECT_GE(kinds["lab"], 3);
  EXPECT_GE(kinds["node"], 3);
  EXPECT_GE(kinds["topology"], 1);
}

TEST(ConfigSchemas, RefuseWhatTheLoadersRefuse) {
  const std::string good = "name: x\nnodes: { a: { address: 1, ports: { p1: } } }\n";
  EXPECT_EQ(validate("topology", good), "");
  for (const char* wrong : {"nodez: {}\n", "edge_mtu: 5\n", "settings: { helo: 1 }\n",
                            "links: [{ ends: [\"a:p1\"] }]\n", "settings: { hello_interval: 10 }\n", "classes: []\n",
                            "classes: [{ ftag: 1 }]\n", "stations: [{ mac: x, port: \"a:p1\" }]\n"}) {
    EXPECT_NE(validate("topology", good + wrong), "") << wrong;
    ConfigErrors errors;
    EXPECT_FALSE(parse_topology(good + wrong, "t.yaml", errors)) << wrong;
  }
  EXPECT_NE(validate("topology", "name: x\nnodes: { a: { address: 65535, ports: { p1: } } }\n"), "");
  EXPECT_NE(validate("node", "topology: t.yaml\n"), "");
  EXPECT_NE(validate("node", "topology: t.yaml\nnode: a\nnodes: { a: }\n"), "");
  EXPECT_NE(validate("node", "topology: t.yaml\nnode: a\nidle: spin\n"), "");
  EXPECT_NE(validate("lab", "name: x\ntopology: { nodes: { s: { kind: host, workers: 1 } } }\n"), "");
  EXPECT_NE(validate("lab", "name: x\nsettings: { helo: 1 }\ntopology: { nodes: { s: } }\n"), "");
}

struct KeyTable {
  const char* schema;
  const char* definition;  // "" = the root
  std::span<const std::string_view> keys;
  const char* section;  // heading in docs/configuration.md
};

constexpr auto kSettingsKeys = keys_of<FabricSettings>();
constexpr auto kClassKeys = keys_of<TrafficClass>();

const KeyTable kTables[] = {
    {"topology", "", config_keys::kTopology, "Topology file"},
    {"topology", "settings", kSettingsKeys, "settings"},
    {"topology", "class", kClassKeys, "classes"},
    {"topology", "fabric", config_keys::kFabric, "fabric"},
    {"topology", "node", config_keys::kNode, "nodes"},
    {"topology", "port", config_keys::kPort, "ports"},
    {"topology", "link", config_keys::kLink, "links"},
    {"topology", "station", config_keys::kStation, "stations"},
    {"node", "", config_keys::kNodeFile, "Node file"},
    {"node", "process", config_keys::kNodeProcess, "nodes of a process"},
    {"node", "device", config_keys::kDevice, "devices"},
    {"node", "applications", config_keys::kApplications, "applications"},
    {"node", "application_class", config_keys::kApplicationClass, "applications.classes"},
    {"node", "application_group", config_keys::kApplicationGroup, "applications.groups"},
    {"node", "application_limit", config_keys::kApplicationLimit, "applications.limits"},
    {"node", "shaper", config_keys::kShaper, "shapers"},
    {"node", "shaper_branch", config_keys::kShaperBranch, "shapers.branches"},
    {"node", "shaper_class", config_keys::kShaperClass, "shapers.classes"},
    {"lab", "", config_keys::kLab, "Lab file"},
    {"lab", "topology", config_keys::kLabTopology, "topology of a lab"},
    {"lab", "fabric", config_keys::kLabFabric, "fabric of a lab"},
    {"lab", "kinds", config_keys::kLabKinds, "kinds"},
    {"lab", "switch_kind", config_keys::kLabSwitchKind, "kinds.switch"},
    {"lab", "host_kind", config_keys::kLabHostKind, "kinds.host"},
    {"lab", "switch", config_keys::kLabSwitch, "switches of a lab"},
    {"lab", "host", config_keys::kLabHost, "hosts"},
    {"lab", "interface", config_keys::kLabInterface, "interfaces"},
    {"lab", "link", config_keys::kLabLink, "links of a lab"},
};

const json& properties(const json& schema, const std::string& definition) {
  return (definition.empty() ? schema : schema.at("definitions").at(definition)).at("properties");
}

TEST(ConfigSchemas, HaveTheKeysOfTheLoaders) {
  std::set<std::pair<std::string, std::string>> covered;
  for (const KeyTable& table : kTables) {
    SCOPED_TRACE(std::string(table.schema) + " " + table.definition);
    covered.emplace(table.schema, table.definition);
    std::set<std::string> in_schema;
    for (const auto& item : properties(schema_json(table.schema), table.definition).items()) {
      in_schema.insert(item.key());
    }
    EXPECT_EQ(in_schema, std::set<std::string>(table.keys.begin(), table.keys.end()));
  }
  for (const char* name : {"topology", "node", "lab"}) {
    for (const auto& item : schema_json(name).at("definitions").items()) {
      if (!item.value().contains("properties")) continue;
      EXPECT_TRUE(covered.contains({name, item.key()})) << name << " " << item.key() << " has no table";
    }
  }
}

// A map with the default of every key that has one.
std::string defaults_of(const json& of) {
  std::string text = "{ ";
  for (const auto& item : of.items()) {
    if (item.value().contains("default")) text += item.key() + ": " + item.value().at("default").dump() + ", ";
  }
  text.resize(text.size() - 2);
  return text + " }";
}

TEST(ConfigSchemas, HaveTheDefaultsOfTheLoaders) {
  const json& schema = schema_json("topology");
  const std::string class_defaults = defaults_of(properties(schema, "class"));
  const std::string port = defaults_of(properties(schema, "port"));
  const std::string native = ", native: 1";  // only on trunks
  ASSERT_NE(port.find(native), std::string::npos);
  const std::string port_defaults = std::string(port).erase(port.find(native), native.size());
  const std::string given = "name: x\nsettings: " + defaults_of(properties(schema, "settings")) +
                            "\nedge_mtu: " + schema.at("definitions").at("edge_mtu").at("default").dump() +
                            "\nclasses: [{ name: default, " + class_defaults.substr(2) +
                            "]\nnodes: { a: { address: 1, ports: { p1: " + port_defaults + " } } }\n";
  ConfigErrors errors;
  const auto with = parse_topology(given, "given.yaml", errors);
  const auto without = parse_topology("name: x\nnodes: { a: { address: 1, ports: { p1: } } }\n", "none.yaml", errors);
  ASSERT_TRUE(with && without) << errors.text() << given;
  EXPECT_EQ(topology_hash(*with), topology_hash(*without));
}

TEST(ConfigDocument, HasEveryKey) {
  const std::string document = test::read_source("docs/configuration.md");
  for (const KeyTable& table : kTables) {
    const std::string section = test::section_of(document, table.section);
    EXPECT_NE(section, "") << "no section " << table.section;
    for (std::string_view key : table.keys) {
      EXPECT_NE(section.find("\n| `" + std::string(key) + "` |"), std::string::npos)
          << key << " has no row in section " << table.section;
    }
  }
}

TEST(ConfigDocument, HasEveryDefaultAndRange) {
  const std::string document = test::read_source("docs/configuration.md");
  for (const KeyTable& table : kTables) {
    const std::string section = test::section_of(document, table.section);
    for (const auto& item : properties(schema_json(table.schema), table.definition).items()) {
      const size_t start = section.find("\n| `" + item.key() + "` |");
      if (start == std::string::npos) continue;  // told by the test above
      const std::string row = section.substr(start, section.find('\n', start + 1) - start);
      for (const char* word : {"default", "minimum", "maximum"}) {
        if (!item.value().contains(word)) continue;
        const json& value = item.value()[word];
        std::string text = value.is_string() ? value.get<std::string>() : value.dump();
        if (value.is_array()) text = value[0].get<std::string>();
        EXPECT_NE(row.find(text), std::string::npos) << word << " of " << item.key() << " is " << text << row;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::config_schema_test
