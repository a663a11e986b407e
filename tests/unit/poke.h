// SPDX-License-Identifier: Apache-2.0
// A test makes a state of which it shows what others do with it: it writes what else its owner alone writes.
#pragma once

#include <bit>
#include <memory>
#include <type_traits>

#include "flow/owned.h"

namespace heddle::test {

template <typename T, typename Owner, typename Record>
void poke(Owned<T, Owner, Record>& field, std::type_identity_t<T> value) {
  std::construct_at(&field, value);
}

}  // namespace heddle::test
