// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>

#include "telemetry/row_text.h"
#include "telemetry/show_tables_text.h"

namespace heddle {

using namespace row_text;

namespace {

// Each once, whatever the class.
std::string names_behind(const Json& row) {
  std::string names;
  std::set<std::string> named;
  for (const Json& port : row["behind"]) {
    const auto name = port["port"].get<std::string>();
    if (named.insert(name).second) names += (names.empty() ? "" : ", ") + name;
  }
  return names.empty() ? "-" : names;
}

}  // namespace

// Of edge ports, which nobody chooses, there are only the flows of their hosts.
std::string load_text(const Json& reply) {
  TextTable table({{"PORT"},
                   {"WAITS", Align::right},
                   {"FOR", Align::right},
                   {"FLOWS", Align::right},
                   {"BUSY", Align::right},
                   {"BEHIND"},
                   {"ASKED", Align::right},
                   {"MOVED", Align::right},
                   {"PASSED ON", Align::right},
                   {"STAYED", Align::right},
                   {"LONGER", Align::right}});
  for (const Json& row : reply.at("load")) {
    const bool fabric = row.contains("up");
    const bool up = fabric && row["up"].get<bool>();
    const std::string busy = up ? percent(std::min(1.0, number(row, "busy"))) : fabric ? "down" : "-";
    table.add({place(row), up ? bytes(row, "waiting_bytes") : "-", up ? duration(row, "waiting_ns") : "-",
               up ? count(row, "flows") : "-", busy, up ? names_behind(row) : "-",
               fabric ? count(row, "redirect_asked") : "-", count(row, "redirect_obeyed"),
               fabric ? count(row, "redirect_passed_on") : "-", count(row, "redirect_ended"),
               fabric ? "-" : count(row, "flow_detoured")});
  }
  return table.text();
}

}  // namespace heddle
