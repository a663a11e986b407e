// SPDX-License-Identifier: Apache-2.0
// When a short way is tried again, of one burst of frames or records: a try costs something, and where one has found
// nothing the next ones hardly do.
#pragma once

#include <cstdint>

namespace heddle {

class ShortWayTries {
 public:
  // So many have gone by the last try; how many are to take the ordinary way before the next one.
  uint32_t others_after(uint32_t gone) { return others_ = gone != 0 ? 1 : 4 * others_; }

 private:
  uint32_t others_ = 1;
};

}  // namespace heddle
