// SPDX-License-Identifier: Apache-2.0
#include "config/field_reader.h"

namespace heddle {

void FieldReader::read(const YamlValue& value, const DurationKind& kind, Nanos& out) {
  value.read_duration(out, kind.min, kind.max);
}

void FieldReader::read(const YamlValue& value, const CountKind& kind, uint32_t& out) {
  value.read_integer(out, kind.min, kind.max);
}

void FieldReader::read(const YamlValue& value, const SizeKind& kind, uint32_t& out) {
  uint64_t bytes = out;
  value.read_size(bytes, kind.min, kind.max);
  out = static_cast<uint32_t>(bytes);
}

void FieldReader::read(const YamlValue& value, const SwitchKind&, bool& out) { value.read_bool(out); }

void FieldReader::read(const YamlValue& value, const ChoiceSetKind& kind, uint8_t& out) {
  std::vector<std::string_view> names;
  for (const ChoiceSetKind::Choice& choice : kind.choices) names.push_back(choice.name);
  if (!value.present() || !value.expect_list(joined(names))) return;
  out = 0;
  for (const YamlValue& item : value.items()) {
    size_t choice = 0;
    if (item.read_choice(choice, names)) out |= kind.choices[choice].bits;
  }
}

void FieldReader::read(const YamlValue& value, const ChoiceKind& kind, PathPolicy& out) {
  auto choice = static_cast<size_t>(out);
  value.read_choice(choice, kind.names);
  out = static_cast<PathPolicy>(choice);
}

void FieldReader::read(const YamlValue& value, const NameKind& kind, std::string& out) {
  const std::string allowed = "a name of letters, digits, - and _, at most " + std::to_string(kind.bytes_max);
  if (value.require(allowed)) {
    if (!is_name(value.text(), kind.bytes_max)) {
      value.problem(allowed);
    } else {
      out = value.text();
      if (!names_.insert(out).second) value.problem(out + " a second time", "a name that no other class has");
    }
  }
  name_ = out;
}

void FieldReader::read(const YamlValue& value, const NumberKind& kind, uint8_t& out) {
  value.read_integer(out, 0, kind.max);
  const auto [owner, is_new] = owners_.emplace(std::pair(value.key(), uint32_t{out}), name_);
  if (!is_new)
    value.problem(std::to_string(out) + ", the " + value.key() + " of class " + owner->second,
                  "one that no class has yet");
}

void FieldReader::read(const YamlValue& value, const RewriteKind& kind, uint8_t& out) {
  value.read_integer(out, 0, kind.max);
}

uint64_t FieldReader::read_numbers(const YamlValue& value, const NumberSetKind& kind) {
  uint64_t set = 0;
  if (!value.expect_list("numbers")) return set;
  for (const YamlValue& item : value.items()) {
    uint32_t number = 0;
    if (!item.read_integer(number, 0, kind.max)) continue;
    const auto [owner, is_new] = owners_.emplace(std::pair(value.key(), number), name_);
    if (is_new) {
      set |= uint64_t{1} << number;
    } else {
      item.problem("one that no class has yet (class " + owner->second + ")");
    }
  }
  return set;
}

}  // namespace heddle
