// SPDX-License-Identifier: Apache-2.0
#include "telemetry/show_text.h"

#include "config/units.h"
#include "telemetry/text_table.h"

namespace heddle {

namespace {

using Align = TextTable::Align;

std::string text(const Json& row, const char* key) {
  const Json& value = row.at(key);
  return value.is_string() ? value.get<std::string>() : value.is_null() ? "-" : value.dump();
}
double number(const Json& row, const char* key) { return row.contains(key) ? row[key].get<double>() : 0; }
std::string count(const Json& row, const char* key) { return row.contains(key) ? scaled(number(row, key)) : "-"; }
std::string exact(const Json& row, const char* key) { return row.contains(key) ? row[key].dump() : "-"; }
std::string bytes(const Json& row, const char* key) { return scaled_bytes(number(row, key)); }
const char* up_text(const Json& row) { return row.at("up").get<bool>() ? "up" : "down"; }
std::string percent(double share) { return scaled(share * 100) + " %"; }

std::string buffers_text(const Json& reply) {
  return exact(reply, "buffers_in_use") + " of " + exact(reply, "buffers") + " buffers in use, " +
         exact(reply, "control_buffers_in_use") + " of " + exact(reply, "control_buffers") + " for control frames\n";
}

std::string nodes_text(const Json& reply) {
  TextTable table({{"NODE"},
                   {"ADDRESS", Align::right},
                   {"STATE"},
                   {"LINKS UP", Align::right},
                   {"EDGE PORTS", Align::right},
                   {"WORKERS", Align::right},
                   {"STATIONS", Align::right},
                   {"MATCHES", Align::right},
                   {"IN", Align::right},
                   {"OUT", Align::right},
                   {"HELD", Align::right},
                   {"DROPS", Align::right}});
  for (const Json& node : reply.at("nodes")) {
    const Json frames = node.value("frames", Json::object());
    table.add({text(node, "node"), exact(node, "address"), up_text(node),
               exact(node, "links_up") + "/" + exact(node, "links"), exact(node, "edge_ports"), exact(node, "workers"),
               count(node, "stations"), count(node, "matches"), count(frames, "in"), count(frames, "out"),
               count(frames, "held"), count(frames, "drops")});
  }
  return "fabric " + text(reply, "fabric") + ", up for " + exact(reply, "uptime_seconds") + " s, " +
         buffers_text(reply) + table.text();
}

std::string ports_text(const Json& reply) {
  TextTable table({{"PORT"},
                   {"ROLE"},
                   {"STATE"},
                   {"RECEIVED", Align::right},
                   {"BYTES", Align::right},
                   {"SENT", Align::right},
                   {"BYTES", Align::right},
                   {"DROPS", Align::right},
                   {"LOST BELOW", Align::right},
                   {"RATE", Align::right},
                   {"TO"}});
  for (const Json& port : reply.at("ports")) {
    const double rate = number(port, "rate_bps");
    table.add({text(port, "node") + ":" + text(port, "port"), text(port, "role"), up_text(port),
               count(port, "received_frames"), bytes(port, "received_bytes"), count(port, "sent_frames"),
               bytes(port, "sent_bytes"), count(port, "dropped_frames"), count(port, "lost_below_frames"),
               rate == 0 ? "-" : scaled_bits_per_second(rate),
               port.contains("peer") ? text(port, "peer") : text(port, "device")});
  }
  return table.text();
}

// Both directions of what is set on a link; one value if they are the same.
std::string both(const Json& link, const char* key, std::string (*format)(uint64_t)) {
  if (!link.contains(key)) return "-";
  const std::string from_a = format(link[key][0].get<uint64_t>()), from_b = format(link[key][1].get<uint64_t>());
  return from_a == from_b ? from_a : from_a + "/" + from_b;
}

std::string loss_percent(uint64_t ppm) {
  char text[32];
  std::snprintf(text, sizeof(text), "%g%%", static_cast<double>(ppm) / 1e4);
  return text;
}

std::string links_text(const Json& reply) {
  TextTable table({{"A"},
                   {"B"},
                   {"STATE"},
                   {"LOSS", Align::right},
                   {"DELAY", Align::right},
                   {"RATE", Align::right},
                   {"SESSIONS", Align::right},
                   {"FLAPS", Align::right},
                   {"REASON"}});
  for (const Json& link : reply.at("links")) {
    const Json& end = link.at("a_end").is_null() ? link.at("b_end") : link.at("a_end");
    const double rate = number(link, "rate_bps");
    table.add({text(link, "a"), text(link, "b"), up_text(link), both(link, "loss_ppm", loss_percent),
               both(link, "delay_ns", format_duration), rate == 0 ? "-" : scaled_bits_per_second(rate),
               exact(end, "sessions"), exact(end, "flaps"), link.at("up").get<bool>() ? "" : text(link, "reason")});
  }
  return table.text();
}

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

std::string flows_text(const Json& reply) {
  TextTable table({{"FROM"},
                   {"TO"},
                   {"SOURCE"},
                   {"DESTINATION"},
                   {"PROTOCOL"},
                   {"RATE", Align::right},
                   {"IN FABRIC", Align::right},
                   {"QUEUED", Align::right},
                   {"STATE"},
                   {"BY"}});
  for (const Json& flow : reply.at("flows")) {
    table.add({text(flow, "node") + ":" + text(flow, "port"), text(flow, "to"), end_text(flow, "source"),
               end_text(flow, "destination"), protocol_text(flow), scaled_bits_per_second(number(flow, "bps")),
               bytes(flow, "in_fabric_bytes"), bytes(flow, "queue_bytes"), text(flow, "state"), flow.value("by", "-")});
  }
  const std::string moving = reply.at("moving").is_null() ? "" : ", " + exact(reply, "moving") + " moving";
  return exact(reply, "known") + " flows known" + moving + "; rates over " + exact(reply, "interval_ms") + " ms\n" +
         table.text();
}

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

std::string congestion_text(const Json& reply) {
  if (reply.at("outputs").empty() && reply.at("hosts").empty() && reply.at("held") == 0) return "no congestion\n";
  TextTable outputs({{"HOST PORT"},
                     {"LEVEL", Align::right},
                     {"QUEUED", Align::right},
                     {"ROUND TRIP", Align::right},
                     {"FOR", Align::right}});
  for (const Json& row : reply.at("outputs"))
    outputs.add({text(row, "node") + ":" + text(row, "port"), scaled(number(row, "level")), bytes(row, "queued_bytes"),
                 scaled(number(row, "round_trip_ns") / 1e3) + " us", scaled(number(row, "for_ns") / 1e6) + " ms"});
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
  for (const Json& row : reply.at("flows"))
    flows.add({text(row, "node") + ":" + text(row, "port"), exact(row, "flow_id"), text(row, "to"), exact(row, "level"),
               scaled_bits_per_second(number(row, "share_bps")), bytes(row, "window_bytes"),
               scaled(number(row, "delay_ns") / 1e3) + " us", bytes(row, "in_fabric_bytes"), bytes(row, "queue_bytes"),
               row.at("blocked") ? "blocked" : "moves", scaled(number(row, "for_ns") / 1e6) + " ms"});
  return (outputs.empty() ? "" : outputs.text() + "\n") + (hosts.empty() ? "" : hosts.text() + "\n") +
         exact(reply, "held") + " flows held to their share\n" + (flows.empty() ? "" : flows.text());
}

std::string tables_text(const Json& reply) {
  TextTable table({{"PORT"},
                   {"IDS IN", Align::right},
                   {"IDS OUT", Align::right},
                   {"ORPHANS", Align::right},
                   {"QUEUED", Align::right},
                   {"PACKETS", Align::right},
                   {"EXTENT IN", Align::right},
                   {"EXTENT OUT", Align::right},
                   {"BLOCKED", Align::right},
                   {"CREDITS LEFT", Align::right},
                   {"HELD", Align::right}});
  for (const Json& row : reply.at("tables")) {
    const Json credits = row.value("credits", Json::object());
    const double packets =
        number(row, "input_packets") + number(row, "waiting_packets") + number(row, "output_packets");
    table.add({text(row, "node") + ":" + text(row, "port"), exact(row, "input_ids"), exact(row, "output_ids"),
               exact(row, "orphans"), bytes(row, "queue_extent_bytes"), scaled(packets),
               bytes(row, "flow_extent_bytes"), bytes(row, "output_extent_bytes"), exact(row, "blocked_flows"),
               exact(credits, "left"), exact(credits, "held")});
  }
  return buffers_text(reply) + table.text();
}

std::string drops_text(const Json& reply) {
  TextTable drops({{"PORT"}, {"REASON"}, {"FRAMES", Align::right}, {"MEANING"}});
  for (const Json& row : reply.at("drops"))
    drops.add(
        {text(row, "node") + ":" + text(row, "port"), text(row, "reason"), exact(row, "frames"), text(row, "text")});
  TextTable sums({{"NODE"},
                  {"IN", Align::right},
                  {""},
                  {"OUT", Align::right},
                  {""},
                  {"HELD", Align::right},
                  {""},
                  {"DROPS", Align::right}});
  for (const Json& sum : reply.at("sums"))
    sums.add({text(sum, "node"), exact(sum, "in"), "=", exact(sum, "out"), "+", exact(sum, "held"), "+",
              exact(sum, "drops")});
  return (drops.empty() ? "no drops\n" : drops.text()) + "\n" + sums.text();
}

std::string workers_text(const Json& reply) {
  TextTable workers({{"NODE"},
                     {"WORKER", Align::right},
                     {"THREAD", Align::right},
                     {"PORTS", Align::right},
                     {"POLLS", Align::right},
                     {"BUSY", Align::right},
                     {"MATCHES", Align::right},
                     {"STATIONS", Align::right},
                     {"COPIES", Align::right}});
  for (const Json& row : reply.at("workers")) {
    const double polls = std::max(1.0, number(row, "polls"));
    workers.add({text(row, "node"), exact(row, "worker"), exact(row, "thread"), exact(row, "ports"),
                 count(row, "polls"), percent(number(row, "busy_polls") / polls), count(row, "matches"),
                 count(row, "stations"), exact(row, "copies_out")});
  }
  TextTable threads({{"THREAD", Align::right},
                     {"ROUNDS", Align::right},
                     {"SLEEPS", Align::right},
                     {"ASLEEP", Align::right},
                     {"LONGEST ROUND", Align::right}});
  const double age = std::max(1.0, number(reply, "now_ns") - number(reply, "started_ns"));
  for (const Json& row : reply.at("threads"))
    threads.add({exact(row, "thread"), count(row, "rounds"), count(row, "sleeps"),
                 percent(number(row, "asleep_ns") / age), scaled(number(row, "longest_round_ns") / 1e3) + " us"});
  return workers.text() + "\n" + threads.text();
}

}  // namespace

std::string show_text(const std::string& what, const Json& reply) {
  if (what == "nodes") return nodes_text(reply);
  if (what == "ports") return ports_text(reply);
  if (what == "links") return links_text(reply);
  if (what == "flows") return flows_text(reply);
  if (what == "congestion") return congestion_text(reply);
  if (what == "tables") return tables_text(reply);
  if (what == "drops") return drops_text(reply);
  if (what == "workers") return workers_text(reply);
  return reply.dump(2) + "\n";
}

}  // namespace heddle
