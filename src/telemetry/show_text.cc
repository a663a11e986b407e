// SPDX-License-Identifier: Apache-2.0
#include "telemetry/show_text.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "config/units.h"
#include "telemetry/row_text.h"
#include "telemetry/show_tables_text.h"

namespace heddle {

using namespace row_text;

namespace {

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
  std::string head;
  for (const Json& process : reply.at("processes"))
    head += "fabric " + text(process, "fabric") + ", process " + exact(process, "pid") + ", up for " +
            scaled_duration(number(process, "uptime_seconds") * 1e9) + ", " + buffers_text(process);
  return head + table.text();
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
               port.contains("absent") ? "waits: " + text(port, "absent")
               : port.contains("peer") ? text(port, "peer")
                                       : text(port, "device")});
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

// What was lost on the wire on the way to an end: frames, and bytes of data.
std::string lost_text(const Json& end) {
  if (end.is_null()) return "-";
  const double frames = number(end, "lost_frames"), lost = number(end, "lost_bytes");
  return frames + lost == 0 ? "0" : scaled(frames) + " (" + scaled_bytes(lost) + ")";
}

std::string links_text(const Json& reply) {
  TextTable table({{"A"},
                   {"B"},
                   {"STATE"},
                   {"FOR", Align::right},
                   {"LOSS", Align::right},
                   {"DELAY", Align::right},
                   {"RATE", Align::right},
                   {"SESSIONS", Align::right},
                   {"FLAPS", Align::right},
                   {"LOST TO B", Align::right},
                   {"LOST TO A", Align::right},
                   {"REASON"},
                   {"BEFORE"}});
  for (const Json& link : reply.at("links")) {
    const Json& end = link.at("a_end").is_null() ? link.at("b_end") : link.at("a_end");
    const double rate = number(link, "rate_bps");
    table.add({text(link, "a"), text(link, "b"), up_text(link), scaled_duration(number(link, "for_ns")),
               both(link, "loss_ppm", loss_percent), both(link, "delay_ns", format_duration),
               rate == 0 ? "-" : scaled_bits_per_second(rate), exact(end, "sessions"), exact(end, "flaps"),
               lost_text(link.at("b_end")), lost_text(link.at("a_end")),
               link.at("up").get<bool>() ? "" : text(link, "reason"), text(link, "last_reason")});
  }
  return table.text();
}

std::string tables_text(const Json& reply) {
  TextTable table({{"PORT"},
                   {"IDS IN", Align::right},
                   {"IDS OUT", Align::right},
                   {"RESTING", Align::right},
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
               exact(row, "resting_ids"), exact(row, "orphans"), bytes(row, "queue_extent_bytes"), scaled(packets),
               bytes(row, "flow_extent_bytes"), bytes(row, "output_extent_bytes"), exact(row, "blocked_flows"),
               exact(credits, "left"), exact(credits, "held")});
  }
  TextTable matches({{"WORKER"},
                     {"MATCHES", Align::right},
                     {"OF", Align::right},
                     {"EVICTED", Align::right},
                     {"REFUSED", Align::right}});
  for (const Json& row : reply.at("matches"))
    matches.add({text(row, "node") + ":" + exact(row, "worker"), exact(row, "matches"), exact(row, "matches_max"),
                 exact(row, "matches_evicted"), exact(row, "matches_refused")});
  const std::string ports = buffers_text(reply) + table.text();
  return reply.at("matches").empty() ? ports : ports + "\n" + matches.text();
}

std::string drops_text(const Json& reply) {
  TextTable drops({{"PORT"}, {"REASON"}, {"FRAMES", Align::right}, {"BYTES", Align::right}, {"MEANING"}});
  for (const Json& row : reply.at("drops"))
    drops.add({text(row, "node") + ":" + text(row, "port"), text(row, "reason"), exact(row, "frames"),
               exact(row, "bytes"), text(row, "text")});
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
  TextTable workers({{"PROCESS", Align::right},
                     {"NODE"},
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
    workers.add({exact(row, "pid"), text(row, "node"), exact(row, "worker"), exact(row, "thread"), exact(row, "ports"),
                 count(row, "polls"), percent(number(row, "busy_polls") / polls), count(row, "matches"),
                 count(row, "stations"), exact(row, "copies_out")});
  }
  TextTable threads({{"PROCESS", Align::right},
                     {"THREAD", Align::right},
                     {"ROUNDS", Align::right},
                     {"SLEEPS", Align::right},
                     {"ASLEEP", Align::right},
                     {"CPU", Align::right},
                     {"LONGEST ROUND", Align::right}});
  for (const Json& row : reply.at("threads")) {
    const double age = std::max(1.0, number(row, "age_ns"));
    threads.add({exact(row, "pid"), exact(row, "thread"), count(row, "rounds"), count(row, "sleeps"),
                 percent(number(row, "asleep_ns") / age), percent(number(row, "processor_ns") / age),
                 scaled_duration(number(row, "longest_round_ns"))});
  }
  std::string all = workers.text() + "\n" + threads.text() + "\n";
  for (const Json& process : reply.at("processes")) {
    const Json& about = process.at("process");
    const double share = number(about, "processor_ns") / std::max(1.0, number(about, "age_ns"));
    all += "process " + exact(about, "pid") + ": " + percent(share) + " of a CPU in " +
           scaled_duration(number(about, "age_ns")) + ", its start included\n";
  }
  return all;
}

}  // namespace

std::string show_text(const std::string& what, const Json& reply) {
  if (what == "nodes") return nodes_text(reply);
  if (what == "ports") return ports_text(reply);
  if (what == "links") return links_text(reply);
  if (what == "flows") return flows_text(reply);
  if (what == "applications") return applications_text(reply);
  if (what == "shapers") return shapers_text(reply);
  if (what == "hosts") return hosts_text(reply);
  if (what == "pauses") return pauses_text(reply);
  if (what == "stations") return stations_text(reply);
  if (what == "routes") return routes_text(reply);
  if (what == "congestion") return congestion_text(reply);
  if (what == "tables") return tables_text(reply);
  if (what == "load") return load_text(reply);
  if (what == "queues") return queues_text(reply);
  if (what == "drops") return drops_text(reply);
  if (what == "workers") return workers_text(reply);
  return reply.dump(2) + "\n";
}

std::string event_text(const Json& event) {
  const auto ns = event.at("at_ns").get<uint64_t>();
  const auto seconds = static_cast<time_t>(ns / kSecond);
  std::tm local{};
  localtime_r(&seconds, &local);
  char when[64];
  const size_t length = std::strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &local);
  std::snprintf(when + length, sizeof when - length, ".%03u", static_cast<unsigned>(ns % kSecond / kMillisecond));
  const std::string where = text(event, "place");
  return std::string(when) + (event.at("level") == "warning" ? "  ! " : "    ") + (where.empty() ? "" : where + " ") +
         text(event, "kind") + ": " + text(event, "text") + "\n";
}

}  // namespace heddle
