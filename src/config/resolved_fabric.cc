// SPDX-License-Identifier: Apache-2.0
#include "config/resolved_fabric.h"

#include "config/units.h"
#include "topology/fields.h"

namespace heddle {

namespace {

std::string text_of(const DurationKind&, Nanos value) { return format_duration(value); }
std::string text_of(const CountKind&, uint32_t value) { return std::to_string(value); }
std::string text_of(const SizeKind&, uint32_t value) { return format_size(value); }
std::string text_of(const SwitchKind&, bool value) { return value ? "true" : "false"; }
std::string text_of(const NameKind&, const std::string& value) { return '"' + value + '"'; }  // not a number or null
std::string text_of(const NumberKind&, uint8_t value) { return std::to_string(value); }
std::string text_of(const RewriteKind&, uint8_t value) { return std::to_string(value); }

std::string text_of(const ChoiceKind& kind, PathPolicy value) {
  return std::string(kind.names[static_cast<size_t>(value)]);
}

void add_item(std::string& list, std::string_view item) {
  if (!list.empty()) list += ", ";
  list += item;
}

std::string text_of(const NumberSetKind& kind, uint64_t value) {
  std::string list;
  for (uint32_t number = 0; number <= kind.max; ++number)
    if (value >> number & 1) add_item(list, std::to_string(number));
  return "[" + list + "]";
}

std::string text_of(const ChoiceSetKind& kind, uint8_t value) {
  std::string list;
  for (const ChoiceSetKind::Choice& choice : kind.choices)
    if ((value & choice.bits) == choice.bits) add_item(list, choice.name);
  return "[" + list + "]";
}

// A line for each field; the first begins with `first`, the others with as many spaces.
template <typename Owner>
std::string lines_of(const Owner& owner, std::string_view first) {
  std::string lines;
  for_each_field<Owner>([&](const auto& field) {
    if (!is_meant_in(owner, field)) return;
    lines += lines.empty() ? std::string(first) : std::string(first.size(), ' ');
    lines += std::string(field.key) + ": " + text_of(field.kind, owner.*field.member) + "\n";
  });
  return lines;
}

}  // namespace

std::string resolved_fabric(const Topology& topology) {
  std::string text = "settings:\n" + lines_of(topology.settings, "  ") + "classes:\n";
  for (const TrafficClass& traffic_class : topology.classes) text += lines_of(traffic_class, "  - ");
  return text;
}

}  // namespace heddle
