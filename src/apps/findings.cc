// SPDX-License-Identifier: Apache-2.0
#include "apps/findings.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/text_table.h"

namespace heddle {

namespace {

const char* severity_text(Severity severity) {
  return severity == Severity::good ? "ok" : severity == Severity::advice ? "advice" : "BAD";
}

std::string text_of(const Findings& findings) {
  TextTable table({{""}, {"WHERE"}, {"FOUND"}});
  for (const Finding& finding : findings) {
    table.add({severity_text(finding.severity), finding.place, finding.text});
    if (!finding.mend.empty()) table.add({"", "", "-> " + finding.mend});
  }
  return table.text();
}

std::string json_of(const Findings& findings) {
  nlohmann::json rows = nlohmann::json::array();
  for (const Finding& finding : findings)
    rows.push_back({{"severity", finding.severity == Severity::bad ? "bad" : severity_text(finding.severity)},
                    {"where", finding.place},
                    {"found", finding.text},
                    {"mend", finding.mend}});
  return nlohmann::json{{"findings", rows}}.dump(2) + "\n";
}

}  // namespace

bool print_findings(const Findings& findings, bool json) {
  std::fputs((json ? json_of(findings) : text_of(findings)).c_str(), stdout);
  return std::none_of(findings.begin(), findings.end(),
                      [](const Finding& finding) { return finding.severity == Severity::bad; });
}

}  // namespace heddle
