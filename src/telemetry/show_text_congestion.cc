// SPDX-License-Identifier: Apache-2.0
#include "telemetry/row_text.h"
#include "telemetry/show_tables_text.h"

namespace heddle {

using namespace row_text;

namespace {

// As in "0 2-4" for the bits 0, 2, 3 and 4.
std::string priorities_text(const Json& row) {
  const auto told = static_cast<unsigned>(number(row, "told_priorities"));
  std::string result;
  for (unsigned p = 0; p < 8; ++p) {
    if (!(told >> p & 1)) continue;
    unsigned last = p;
    while (told >> (last + 1) & 1) ++last;
    result += (result.empty() ? "" : " ") + std::to_string(p) + (last > p ? "-" + std::to_string(last) : "");
    p = last;
  }
  return result.empty() ? "-" : "wait " + result;
}

}  // namespace

std::string congestion_text(const Json& reply) {
  if (reply.at("outputs").empty() && reply.at("hosts").empty() && reply.at("held") == 0) return "no congestion\n";
  TextTable outputs({{"HOST PORT"},
                     {"LEVEL", Align::right},
                     {"QUEUED", Align::right},
                     {"ROUND TRIP", Align::right},
                     {"FOR", Align::right}});
  for (const Json& row : reply.at("outputs"))
    outputs.add({text(row, "node") + ":" + text(row, "port") + (row.contains("class") ? " " + text(row, "class") : ""),
                 scaled(number(row, "level")), bytes(row, "queued_bytes"),
                 scaled_duration(number(row, "round_trip_ns")), scaled_duration(number(row, "for_ns"))});
  TextTable hosts({{"PAUSED HOST"},
                   {"TOLD"},
                   {"QUEUED", Align::right},
                   {"PAUSES", Align::right},
                   {"ITS OWN"},
                   {"HEARD", Align::right},
                   {"OVERRULED", Align::right}});
  for (const Json& row : reply.at("hosts"))
    hosts.add({text(row, "node") + ":" + text(row, "port"), priorities_text(row), exact(row, "queued_packets"),
               exact(row, "told"), row.at("obeys") ? "obeyed" : "-", exact(row, "heard"), exact(row, "overruled")});
  TextTable flows({{"HELD AT"},
                   {"FLOW", Align::right},
                   {"TO"},
                   {"LEVEL", Align::right},
                   {"SHARE", Align::right},
                   {"WINDOW", Align::right},
                   {"DELAY", Align::right},
                   {"IN FABRIC", Align::right},
                   {"QUEUED", Align::right},
                   {"NOW"},
                   {"FOR", Align::right}});
  for (const Json& row : reply.at("flows")) {
    const bool limited = row.contains("share_bps");  // else it waits for credit or buffers alone
    const std::string waits = text(row, "waits_for");
    flows.add({text(row, "node") + ":" + text(row, "port"), exact(row, "flow_id"), text(row, "to"), exact(row, "level"),
               limited ? scaled_bits_per_second(number(row, "share_bps")) : "-",
               limited ? bytes(row, "window_bytes") : "-", limited ? scaled_duration(number(row, "delay_ns")) : "-",
               bytes(row, "in_fabric_bytes"), bytes(row, "queue_bytes"), waits.empty() ? "moves" : "waits for " + waits,
               limited ? scaled_duration(number(row, "for_ns")) : "-"});
  }
  return (outputs.empty() ? "" : outputs.text() + "\n") + (hosts.empty() ? "" : hosts.text() + "\n") +
         exact(reply, "held") + (reply.at("held") == 1 ? " flow held\n" : " flows held\n") +
         (flows.empty() ? "" : flows.text());
}

}  // namespace heddle
