// SPDX-License-Identifier: Apache-2.0
#include "telemetry/row_text.h"
#include "telemetry/show_tables_text.h"

namespace heddle {

using namespace row_text;

std::string shapers_text(const Json& reply) {
  if (reply.at("shapers").empty()) return "no port has a shaper\n";
  const auto rate = [](const Json& row, const char* key) {
    return row.contains(key) ? scaled_bits_per_second(number(row, key)) : "-";
  };
  TextTable table({{"PORT"},
                   {"CLASS"},
                   {"BRANCH"},
                   {"PRIORITY", Align::right},
                   {"WEIGHT", Align::right},
                   {"MINIMUM", Align::right},
                   {"MAXIMUM", Align::right},
                   {"SENT", Align::right},
                   {"BY MINIMUM", Align::right},
                   {"BY BRANCH", Align::right},
                   {"QUEUED", Align::right}});
  for (const Json& row : reply.at("shapers"))
    table.add({place(row), row.value("class", "all"), row.value("branch", "-"), exact(row, "priority"),
               exact(row, "weight"), rate(row, "minimum_bps"), rate(row, "maximum_bps"), rate(row, "sent_bps"),
               rate(row, "by_class_minimum_bps"), rate(row, "by_branch_minimum_bps"), bytes(row, "queue_bytes")});
  return table.text() + "rates over " + exact(reply, "interval_ms") + " ms\n";
}

}  // namespace heddle
