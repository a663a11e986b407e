// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "telemetry/row_text.h"
#include "telemetry/show_tables_text.h"

namespace heddle {

using namespace row_text;

namespace {

std::string protocol_text(const Json& flow) {
  if (!flow.contains("protocol")) return "-";
  switch (flow["protocol"].get<unsigned>()) {
    case 1:
      return "icmp";
    case 6:
      return "tcp";
    case 17:
      return "udp";
    case 58:
      return "icmp6";
    default:
      return flow["protocol"].dump();
  }
}

// 10.0.0.1:5201, [fd00::1]:5201, or the MAC of what isn't IP.
std::string end_text(const Json& flow, const std::string& end) {
  if (!flow.contains(end)) return flow.value(end + "_mac", "-");
  const std::string address = flow[end].get<std::string>();
  if (!flow.contains(end + "_port")) return address;
  const bool brackets = address.find(':') != std::string::npos;
  return (brackets ? "[" + address + "]" : address) + ":" + flow[end + "_port"].dump();
}

std::string dropped_text(const Json& flow) {
  const double bps = number(flow, "dropped_bps");
  if (bps == 0) return "-";
  return scaled_bits_per_second(bps) + " " + flow.value("dropped_reason", "");
}

// leaf1 > spine1 > leaf3
std::string path_text(const Json& flow) {
  if (!flow.contains("path")) return "-";
  std::string path;
  for (const Json& node : flow["path"]) path += (path.empty() ? "" : " > ") + node.get<std::string>();
  return path;
}

// Groups and DSCPs have a column where flows have some.
std::string ingress_text(const Json& reply) {
  const Json& flows = reply.at("flows");
  const auto any_has = [&flows](const char* key) {
    return std::any_of(flows.begin(), flows.end(), [key](const Json& flow) { return flow.value(key, 0) != 0; });
  };
  const bool groups = any_has("group"), dscps = any_has("dscp");
  std::vector<TextTable::Column> columns{{"FROM"},
                                         {"TO"},
                                         {"SOURCE"},
                                         {"DESTINATION"},
                                         {"PROTOCOL"},
                                         {"OFFERED", Align::right},
                                         {"DELIVERED", Align::right},
                                         {"IN FABRIC", Align::right},
                                         {"QUEUED", Align::right},
                                         {"STATE"},
                                         {"PATH"},
                                         {"DROPPED"}};
  constexpr int kBehindProtocol = 5;
  if (dscps) columns.insert(columns.begin() + kBehindProtocol, {"DSCP", Align::right});
  if (groups) columns.insert(columns.begin() + 2, {"GROUP"});
  TextTable table(std::move(columns));
  for (const Json& flow : flows) {
    std::vector<std::string> cells{place(flow),
                                   text(flow, "to"),
                                   end_text(flow, "source"),
                                   end_text(flow, "destination"),
                                   protocol_text(flow),
                                   scaled_bits_per_second(number(flow, "offered_bps")),
                                   scaled_bits_per_second(number(flow, "delivered_bps")),
                                   bytes(flow, "in_fabric_bytes"),
                                   bytes(flow, "queue_bytes"),
                                   text(flow, "state"),
                                   path_text(flow),
                                   dropped_text(flow)};
    if (dscps) cells.insert(cells.begin() + kBehindProtocol, std::to_string(flow.value("dscp", 0)));
    if (groups) cells.insert(cells.begin() + 2, flow.value("group_name", exact(flow, "group")));
    table.add(std::move(cells));
  }
  const std::string moving = reply.at("moving").is_null() ? "" : ", " + exact(reply, "moving") + " moving";
  return exact(reply, "known") + " flows known" + moving + "; rates over " + exact(reply, "interval_ms") + " ms\n" +
         (table.empty() ? "" : table.text());
}

std::string transit_text(const Json& reply) {
  TextTable table({{"IN TRANSIT AT"},
                   {"FLOW", Align::right},
                   {"TO"},
                   {"IN FABRIC", Align::right},
                   {"QUEUED", Align::right},
                   {"LEVEL", Align::right},
                   {"STATE"},
                   {"NEXT"}});
  for (const Json& flow : reply.at("transit"))
    table.add({place(flow), exact(flow, "flow_id"), text(flow, "to"), bytes(flow, "in_fabric_bytes"),
               bytes(flow, "queue_bytes"), exact(flow, "level"), text(flow, "state"),
               flow.contains("next") ? text(flow, "next") : flow.value("by", "-")});
  return "\n" + (table.empty() ? "nothing in transit at this moment\n" : table.text());
}

}  // namespace

std::string flows_text(const Json& reply) { return ingress_text(reply) + transit_text(reply); }

std::string hosts_text(const Json& reply) {
  TextTable table({{"PORT"},
                   {"HOST"},
                   {"OFFERED", Align::right},
                   {"DELIVERED", Align::right},
                   {"RECEIVED", Align::right},
                   {"OFFERED IN ALL", Align::right},
                   {"DELIVERED", Align::right},
                   {"RECEIVED", Align::right},
                   {"DROPS", Align::right}});
  for (const Json& row : reply.at("hosts"))
    table.add({place(row), text(row, "host").empty() ? "-" : text(row, "host"),
               scaled_bits_per_second(number(row, "offered_bps")), scaled_bits_per_second(number(row, "delivered_bps")),
               scaled_bits_per_second(number(row, "received_bps")), bytes(row, "offered_bytes"),
               bytes(row, "delivered_bytes"), bytes(row, "received_bytes"), count(row, "dropped_frames")});
  return table.text();
}

std::string pauses_text(const Json& reply) {
  TextTable pauses({{"PORT"},
                    {"WHAT"},
                    {"SOURCE"},
                    {"DESTINATION"},
                    {"PROTOCOL"},
                    {"QUEUED", Align::right},
                    {"CREDIT", Align::right},
                    {"FOR", Align::right}});
  for (const Json& row : reply.at("pauses")) {
    const bool named = text(row, "what") != "flow" && row.contains("name");
    pauses.add({place(row), text(row, named ? "name" : "what"), end_text(row, "source"), end_text(row, "destination"),
                protocol_text(row), bytes(row, "queue_bytes"), bytes(row, "credit_bytes"), duration(row, "for_ns")});
  }
  TextTable hosts({{"PORT"}, {"HOST"}, {"SAYS"}});
  for (const Json& row : reply.at("obeying")) hosts.add({place(row), text(row, "mac"), text(row, "says")});
  if (hosts.empty()) return "no host says that it obeys\n";
  return (pauses.empty() ? std::string("nothing is held back\n") : pauses.text()) + "\n" + hosts.text();
}

std::string stations_text(const Json& reply) {
  TextTable table({{"NODE"}, {"MAC"}, {"VLAN", Align::right}, {"AT"}, {"HOW"}, {"SEEN", Align::right}});
  for (const Json& row : reply.at("stations"))
    table.add({text(row, "node"), text(row, "mac"), exact(row, "vlan"), text(row, "at"), text(row, "how"),
               row.at("age_ns").is_null() ? "-" : scaled_duration(number(row, "age_ns")) + " ago"});
  return table.empty() ? "no stations\n" : table.text();
}

std::string routes_text(const Json& reply) {
  const auto list = [](const Json& names) {
    std::string all;
    for (const Json& name : names) all += (all.empty() ? "" : " ") + name.get<std::string>();
    return all.empty() ? std::string("none") : all;
  };
  TextTable table({{"NODE"}, {"TO"}, {"BY"}});
  for (const Json& row : reply.at("routes"))
    table.add({text(row, "node"), row.at("to").is_null() ? "(floods)" : text(row, "to"), list(row.at("ports"))});
  return table.empty() ? "no routes\n" : table.text();
}

}  // namespace heddle
