// SPDX-License-Identifier: Apache-2.0
// A field of a record that many read and one component writes. `Record` is what it stands in, or hands it out, and may
// begin it anew for something else.
#pragma once

namespace heddle {

template <typename T, typename Owner, typename Record = Owner>
class Owned {
 public:
  Owned() = default;
  explicit Owned(T first) : value_(first) {}
  Owned(const Owned&) = default;  // a whole record, for who shows it
  operator T() const { return value_; }

 private:
  friend Owner;
  friend Record;
  Owned& operator=(const Owned&) = default;
  void operator=(T value) { value_ = value; }
  void reset() { value_ = T{}; }
  T value_{};
};

}  // namespace heddle
