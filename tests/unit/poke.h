// SPDX-License-Identifier: Apache-2.0
// A test makes a state of which it shows what others do with it: it writes what else its owner alone writes.
#pragma once

#include <bit>
#include <cstdint>

#include "flow/owned.h"

namespace heddle::test {

template <typename Owner>
void poke(Owned<uint8_t, Owner>& field, unsigned value) {
  field = std::bit_cast<Owned<uint8_t, Owner>>(static_cast<uint8_t>(value));
}

}  // namespace heddle::test
