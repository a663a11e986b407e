// SPDX-License-Identifier: Apache-2.0
// What is told once about a field of a struct that files give: its key, its member, its kind and bounds. Who reads,
// hashes or shows such structs goes through their lists (topology/fields.h) and knows kinds, not fields.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "topology/topology.h"

namespace heddle {

struct DurationKind {
  Nanos min, max;
};
struct CountKind {
  uint64_t min, max;
};
struct SizeKind {  // bytes
  uint64_t min, max;
};
struct SwitchKind {
  bool TrafficClass::*only_with = nullptr;  // given in files only where this is true
};
struct NameKind {  // that no other one in the list has
  size_t bytes_max;
};
struct NumberKind {  // the same, with numbers
  uint64_t max;
};
struct ChoiceKind {  // one of the names, by position
  std::span<const std::string_view> names;
};
struct RewriteKind {  // a number that is written; kAsSent: none is
  uint8_t max;
};
struct NumberSetKind {  // bit n: number n, which no other one in the list has
  uint32_t max;
};
struct ChoiceSetKind {  // choices whose bits are set; one of no bits goes without saying
  struct Choice {
    std::string_view name;
    uint8_t bits;
  };
  std::span<const Choice> choices;
};

template <typename Owner, typename Value, typename Kind>
struct Field {
  std::string_view key;
  Value Owner::*member;
  Kind kind;
};
template <typename Owner, typename Value, typename Kind>
Field(std::string_view, Value Owner::*, Kind) -> Field<Owner, Value, Kind>;

// Stands for a value of any type, where it is only asked whether there could be one.
struct AnyValue {
  template <typename Value>
  operator Value() const;
};

template <typename Struct, size_t... kIndex>
constexpr bool takes_values(std::index_sequence<kIndex...>) {
  return requires { Struct{(void(kIndex), AnyValue())...}; };
}

// A plain struct has so many members, neither less nor more.
template <typename Struct, size_t kCount>
constexpr bool kHasMembers = takes_values<Struct>(std::make_index_sequence<kCount>()) &&
                             !takes_values<Struct>(std::make_index_sequence<kCount + 1>());

}  // namespace heddle
