// SPDX-License-Identifier: Apache-2.0
// Indices and ids, a type for each kind. An id is read as a number wherever one is wanted, but no number that is only
// known at run time becomes an id by itself, and no id ever one of another kind: a port is no flow ID and no virtual
// output queue, whatever happens to be equal. Trivial, as large as its number and passed as one.
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>
#include <limits>

namespace heddle {

template <typename Kind, std::unsigned_integral Number>
class Id {
 public:
  using Value = Number;

  Id() = default;  // like a number: not set
  // A constant says by where it stands what it is; in a list of ids write of(), clang 14 dies of constants there.
  template <std::integral Constant>
  consteval Id(Constant constant) : number_(static_cast<Number>(constant)) {
    if (constant < 0 || static_cast<uint64_t>(constant) > std::numeric_limits<Number>::max()) throw "not in range";
  }
  template <typename OtherKind, typename OtherNumber>
  Id(Id<OtherKind, OtherNumber>) = delete;
  // What has been computed. It is in range: the caller has seen to that.
  static constexpr Id of(std::integral auto number) {
    Id id{};
    id.number_ = static_cast<Number>(number);
    return id;
  }

  constexpr operator Number() const { return number_; }
  constexpr Id& operator++() {
    ++number_;
    return *this;
  }

  template <typename OtherKind, typename OtherNumber>
  requires(!std::same_as<OtherKind, Kind>) bool operator==(Id<OtherKind, OtherNumber>) const = delete;
  template <typename OtherKind, typename OtherNumber>
  requires(!std::same_as<OtherKind, Kind>) std::strong_ordering operator<=>(Id<OtherKind, OtherNumber>) const = delete;

 private:
  Number number_;
};

}  // namespace heddle
