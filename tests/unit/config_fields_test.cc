// SPDX-License-Identifier: Apache-2.0
// What is told of the fields of classes and settings in dist/schema/topology.schema.json and docs/configuration.md is
// what their list says, and so is what files may say.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "config/topology_file.h"
#include "config/units.h"
#include "tests/unit/config_support.h"
#include "topology/fields.h"

namespace heddle::config_fields_test {
namespace {

using nlohmann::json;

// What schema and page say of a field besides its meaning, which is not compared.
struct Told {
  json schema;
  std::string range_in_description;  // what the schema's own words don't tell of texts
  std::string default_cell;          // what cells of the page say
  std::string range_cell;
};

std::string quoted(const std::string& text) { return "`" + text + "`"; }

json text_schema(const std::string& units, const std::string& usual) {
  return {{"type", "string"}, {"pattern", "^[0-9]+(\\.[0-9]+)?" + units + "$"}, {"default", usual}};
}

Told told_of(const DurationKind& kind, Nanos usual) {
  const std::string min = format_duration(kind.min), max = format_duration(kind.max), text = format_duration(usual);
  // Zero has no unit of its own, and is told in the one that is usual.
  const std::string shown_min = kind.min == 0 ? "0us" : min, shown = usual == 0 ? "0us" : text;
  return {text_schema("(ns|us|ms|s)", shown), " " + shown_min + " to " + max, quoted(shown),
          quoted(shown_min) + " to " + quoted(max)};
}

Told told_of(const SizeKind& kind, uint32_t usual) {
  const std::string min = format_size(kind.min), max = format_size(kind.max), text = format_size(usual);
  return {text_schema("[kMG]", text), " " + min + " to " + max, quoted(text), quoted(min) + " to " + quoted(max)};
}

json number_schema(uint64_t min, uint64_t max) { return {{"type", "integer"}, {"minimum", min}, {"maximum", max}}; }

Told told_of(const CountKind& kind, uint32_t usual) {
  json schema = number_schema(kind.min, kind.max);
  schema["default"] = usual;
  return {schema, "", std::to_string(usual), std::to_string(kind.min) + " to " + std::to_string(kind.max)};
}

Told told_of(const NumberKind& kind, uint8_t) {
  return {number_schema(0, kind.max), "", "position in the list", "0 to " + std::to_string(kind.max) + ", unique"};
}

Told told_of(const RewriteKind& kind, uint8_t) {
  return {number_schema(0, kind.max), "", "as sent", "0 to " + std::to_string(kind.max)};
}

Told told_of(const NumberSetKind& kind, uint64_t) {
  return {{{"type", "array"}, {"items", number_schema(0, kind.max)}}, "", "", "0 to " + std::to_string(kind.max)};
}

Told told_of(const SwitchKind&, bool usual) {
  return {{{"type", "boolean"}, {"default", usual}}, "", quoted(usual ? "true" : "false"), ""};
}

Told told_of(const NameKind& kind, const std::string&) {
  const std::string pattern = "^[A-Za-z0-9][A-Za-z0-9_-]{0," + std::to_string(kind.bytes_max - 1) + "}$";
  return {{{"type", "string"}, {"pattern", pattern}}, "", "required", "unique"};
}

Told told_of(const ChoiceSetKind& kind, uint8_t usual) {
  json all = json::array(), chosen = json::array();
  std::string all_text, chosen_text;
  for (const ChoiceSetKind::Choice& choice : kind.choices) {
    const std::string name(choice.name);
    all.push_back(name);
    all_text += (all_text.empty() ? "" : ", ") + quoted(name);
    if ((usual & choice.bits) != choice.bits) continue;
    chosen.push_back(name);
    chosen_text += (chosen_text.empty() ? "" : ", ") + name;
  }
  const json schema = {{"type", "array"}, {"items", {{"enum", all}}}, {"default", chosen}};
  return {schema, "", quoted("[" + chosen_text + "]"), all_text};
}

Told told_of(const ChoiceKind& kind, PathPolicy usual) {
  json all = json::array();
  std::string all_text;
  for (const std::string_view name : kind.names) {
    all.push_back(std::string(name));
    all_text += (all_text.empty() ? "" : ", ") + quoted(std::string(name));
  }
  const std::string chosen(kind.names[static_cast<size_t>(usual)]);
  return {{{"enum", all}, {"default", chosen}}, "", quoted(chosen), all_text};
}

// Of a row of the page: default and range stand behind the type.
std::vector<std::string> cells_of(const std::string& section, std::string_view key) {
  const size_t start = section.find("\n| `" + std::string(key) + "` |");
  std::vector<std::string> cells(5);
  if (start == std::string::npos) return cells;
  std::istringstream row(section.substr(start + 2, section.find('\n', start + 1) - start - 2));
  for (std::string& cell : cells) {
    row.ignore(1);  // the space
    std::getline(row, cell, '|');
  }
  return cells;
}

// Nothing else, or more behind a comma.
bool says(const std::string& cell, const std::string& text) {
  return text.empty() || cell.starts_with(text + " ") || cell.starts_with(text + ",");
}

template <typename Owner>
void expect_told(const std::string& definition, const std::string& section_name) {
  json properties =
      json::parse(test::read_source("dist/schema/topology.schema.json"))["definitions"][definition]["properties"];
  const std::string section = test::section_of(test::read_source("docs/configuration.md"), section_name);
  const Owner usual;
  for_each_field<Owner>([&](const auto& field) {
    const std::string key(field.key);
    SCOPED_TRACE(definition + "." + key);
    Told told = told_of(field.kind, usual.*field.member);
    if (std::is_same_v<Owner, TrafficClass> && key == "life") {
      told.schema.erase("default");
      told.default_cell = "`life` of the settings";
    }
    if (!is_meant_in(usual, field)) told.schema.erase("default");
    json& property = properties[key];
    EXPECT_NE(property.value("description", "").find(told.range_in_description), std::string::npos)
        << "the schema's description does not say " << told.range_in_description;
    property.erase("description");
    if (property.contains("items")) property["items"].erase("description");
    EXPECT_EQ(property, told.schema) << "in dist/schema/topology.schema.json, without descriptions";
    const std::vector<std::string> cells = cells_of(section, key);
    EXPECT_TRUE(says(cells[2], told.default_cell))
        << "default in docs/configuration.md is " << cells[2] << " and not " << told.default_cell;
    EXPECT_TRUE(says(cells[3], told.range_cell))
        << "range in docs/configuration.md is " << cells[3] << " and not " << told.range_cell;
  });
}

TEST(ConfigFields, AreToldInSchemaAndPage) {
  expect_told<FabricSettings>("settings", "settings");
  expect_told<TrafficClass>("class", "classes");
}

// Every duration, number and size at both ends of its range and beyond them.
TEST(ConfigFields, AreReadWithinTheirRanges) {
  const auto problems_of = [](std::string_view key, const std::string& value) {
    ConfigErrors errors;
    parse_topology("settings: { " + std::string(key) + ": " + value + " }\n", "t.yaml", errors);
    return errors.text();
  };
  for_each_field<FabricSettings>([&](const auto& field) {
    const auto text = [&](uint64_t value) {
      return std::is_same_v<decltype(field.kind), DurationKind> ? format_duration(value) : std::to_string(value);
    };
    const std::string path = "settings." + std::string(field.key) + ": found ";
    const std::string allowed = ", allowed " + text(field.kind.min) + " to " + text(field.kind.max) + "\n";
    for (const uint64_t good : {uint64_t{field.kind.min}, uint64_t{field.kind.max}})
      EXPECT_EQ(problems_of(field.key, text(good)).find(allowed), std::string::npos) << path << good;
    for (const uint64_t wrong : {field.kind.min - 1, field.kind.max + 1})
      EXPECT_NE(problems_of(field.key, text(wrong)).find(path + text(wrong) + allowed), std::string::npos)
          << problems_of(field.key, text(wrong));
  });
}

}  // namespace
}  // namespace heddle::config_fields_test
