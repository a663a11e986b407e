// SPDX-License-Identifier: Apache-2.0
// Reads maps of a file into structs that have a list of fields (topology/fields.h), each field by its kind. A field
// that the file does not give stays as it is; what is wrong is reported. One reader for all structs of a list: it
// remembers what only one of them may have.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "config/yaml_value.h"
#include "topology/fields.h"

namespace heddle {

class FieldReader {
 public:
  template <typename Owner>
  void read(const YamlValue& map, Owner& out) {
    map.expect_map(keys_of<Owner>());
    for_each_field<Owner>([&](const auto& field) { read(map[field.key], field.kind, out.*field.member); });
  }

 private:
  void read(const YamlValue& value, const DurationKind& kind, Nanos& out);
  void read(const YamlValue& value, const CountKind& kind, uint32_t& out);
  void read(const YamlValue& value, const SizeKind& kind, uint32_t& out);
  void read(const YamlValue& value, const SwitchKind& kind, bool& out);
  void read(const YamlValue& value, const ChoiceSetKind& kind, uint8_t& out);
  void read(const YamlValue& value, const ChoiceKind& kind, PathPolicy& out);
  void read(const YamlValue& value, const NameKind& kind, std::string& out);
  void read(const YamlValue& value, const NumberKind& kind, uint8_t& out);
  void read(const YamlValue& value, const RewriteKind& kind, uint8_t& out);
  template <typename Set>
  void read(const YamlValue& value, const NumberSetKind& kind, Set& out) {
    out = static_cast<Set>(read_numbers(value, kind));
  }
  uint64_t read_numbers(const YamlValue& value, const NumberSetKind& kind);

  std::string name_;  // of the struct whose numbers are read
  std::set<std::string> names_;
  std::map<std::pair<std::string, uint32_t>, std::string> owners_;  // by key and number: name of the one that has it
};

}  // namespace heddle
