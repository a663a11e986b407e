// SPDX-License-Identifier: Apache-2.0
// The packet's way is compiled as a few stretches, since a call for each stage would cost as much as its work; what is
// seldom taken stands beside it. A loop over a burst is a stretch of its own: in a long one it would have no registers.
#pragma once

#define HEDDLE_HOT [[gnu::flatten]]
#define HEDDLE_COLD [[gnu::noinline, gnu::cold]]

namespace heddle {

// What nearly every packet meets. Of a row of conditions the compiler takes each for a toss-up else, and what stands
// behind ten of them for hardly ever run.
inline bool usually(bool condition) { return __builtin_expect(condition, true); }

}  // namespace heddle
