// SPDX-License-Identifier: Apache-2.0
// The packet's way is compiled as a few long stretches, and what is seldom taken stands beside it: calls cost as much
// as the work of most stages.
#pragma once

#define HEDDLE_HOT [[gnu::flatten]]
#define HEDDLE_COLD [[gnu::noinline, gnu::cold]]

namespace heddle {

// What nearly every packet meets. Of a row of conditions the compiler takes each for a toss-up else, and what stands
// behind ten of them for hardly ever run.
inline bool usually(bool condition) { return __builtin_expect(condition, true); }

}  // namespace heddle
