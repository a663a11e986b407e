// SPDX-License-Identifier: Apache-2.0
// What keeps heddle-hostd from its work on this host: `heddle-hostd doctor`. It tries what can be tried without
// touching the interfaces: the kernel takes the programs, and its qdiscs stand in a network namespace of their own for
// a moment.
#pragma once

#include <string>
#include <vector>

#include "machine/finding.h"

namespace heddle::hostd {

Findings examine(const std::vector<std::string>& interfaces, bool replace_mq);

}  // namespace heddle::hostd
