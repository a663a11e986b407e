// SPDX-License-Identifier: Apache-2.0
// A field of a record that many read and one component writes.
#pragma once

namespace heddle {

template <typename T, typename Owner>
class Owned {
 public:
  operator T() const { return value_; }
  // The record is to be used anew, for something else.
  void reset() { value_ = T{}; }

 private:
  friend Owner;
  void operator=(T value) { value_ = value; }
  T value_{};
};

}  // namespace heddle
