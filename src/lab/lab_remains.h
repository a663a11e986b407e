// SPDX-License-Identifier: Apache-2.0
// What is left of a lab whose folder below /run has been lost: found by its names, not by what was written down.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace heddle {

struct LabRemains {
  std::vector<pid_t> heddleds;
  std::vector<std::string> namespaces;
  bool none() const { return heddleds.empty() && namespaces.empty(); }
  std::string text() const;  // "heddled 1234 and 7 network namespaces"
};

LabRemains find_lab_remains(const std::string& lab);
void remove_lab_remains(const LabRemains& remains);

// Of the namespaces that there are, those of lab `lab`. A lab may be called as another one's host begins: heddle-a-b-h1
// is of lab a-b if there is a heddle-a-b-switch, else of lab a.
std::vector<std::string> namespaces_of_lab(const std::string& lab, const std::vector<std::string>& all);

}  // namespace heddle
