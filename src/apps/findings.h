// SPDX-License-Identifier: Apache-2.0
// How findings about a machine are shown, by each program that has a doctor.
#pragma once

#include "machine/finding.h"

namespace heddle {

// On standard output, as a table or as a JSON document. False if one of them is bad.
bool print_findings(const Findings& findings, bool json);

}  // namespace heddle
