// SPDX-License-Identifier: Apache-2.0
#include "telemetry/row_text.h"
#include "telemetry/show_tables_text.h"

namespace heddle {

using namespace row_text;

std::string applications_text(const Json& reply) {
  TextTable table({{"PORT"},
                   {"GROUP", Align::right},
                   {"NAME"},
                   {"WEIGHT", Align::right},
                   {"LIMIT", Align::right},
                   {"FLOWS", Align::right},
                   {"QUEUED", Align::right},
                   {"OFFERED", Align::right},
                   {"DELIVERED", Align::right},
                   {"SHARE", Align::right},
                   {"DROPPED", Align::right},
                   {"IN QUEUES", Align::right},
                   {"IN FABRIC", Align::right}});
  for (const Json& row : reply.at("groups")) {
    table.add({place(row), exact(row, "group"), row.value("name", "-"), exact(row, "weight"), exact(row, "limit"),
               count(row, "flows"), count(row, "queued_flows"), scaled_bits_per_second(number(row, "offered_bps")),
               scaled_bits_per_second(number(row, "delivered_bps")),
               row.contains("share_ppm") ? percent(number(row, "share_ppm") / 1e6) : "-",
               scaled_bits_per_second(number(row, "dropped_bps")), bytes(row, "queue_bytes"),
               bytes(row, "in_fabric_bytes")});
  }
  std::string text = table.text() + "rates over " + exact(reply, "interval_ms") + " ms\n";
  if (!reply.contains("injected") || reply["injected"].empty()) return text;
  TextTable limits(
      {{"PORT"}, {"LIMIT", Align::right}, {"INJECTED", Align::right}, {"AT MOST", Align::right}, {"STATE"}});
  for (const Json& row : reply["injected"])
    limits.add({place(row), row.contains("limit") ? exact(row, "limit") : "all", bytes(row, "injected_bytes"),
                row.contains("limit_bytes") ? bytes(row, "limit_bytes") : "-",
                !row.contains("open") ? "-"
                : row["open"]         ? "open"
                                      : "closed"});
  return text + "\n" + limits.text();
}

}  // namespace heddle
