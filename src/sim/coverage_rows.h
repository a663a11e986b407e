// SPDX-License-Identifier: Apache-2.0
// Rows of the coverage table besides drop reasons and protocol events: faults done, and state transitions as they can be
// seen between turns.
#pragma once

#include <array>
#include <string_view>

namespace heddle::sim {

inline constexpr auto kOtherRows = std::to_array<std::string_view>({
    "fault: frame lost",
});

}  // namespace heddle::sim
