// SPDX-License-Identifier: Apache-2.0
// What somebody who looks at a machine tells its operator.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle {

enum class Severity : uint8_t { good, advice, bad };  // bad: heddled doesn't start, or doesn't do what it should

struct Finding {
  Severity severity = Severity::good;
  std::string place;  // an interface, a PCI address, "memory"
  std::string text;
  std::string mend;  // a command; empty if there is nothing to mend, or no command for it
};

using Findings = std::vector<Finding>;

}  // namespace heddle
