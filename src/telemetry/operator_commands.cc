// SPDX-License-Identifier: Apache-2.0
#include "telemetry/operator_commands.h"

#include <unistd.h>

#include <array>
#include <stdexcept>

#include "cli/command_line.h"
#include "config/units.h"
#include "io/clock.h"
#include "telemetry/event_watch.h"
#include "telemetry/inspect.h"
#include "telemetry/request_fields.h"
#include "telemetry/show.h"
#include "telemetry/trace.h"

namespace heddle {

namespace {

constexpr uint64_t kEventsPerAnswer = 1024;
constexpr uint32_t kIntervalMsMax = 2000;
constexpr uint32_t kLossMaxPpm = 1'000'000;

ShowRequest read_show(const SwitchProcess& process, const Json& request) {
  ShowRequest show;
  if (const auto node = read_text(request, "node")) show.node = find_node(process, *node);
  if (const auto port = read_text(request, "port")) {
    if (!show.node) throw Refused("port needs a node");
    show.port = find_port(process, *show.node, *port);
  }
  show.offset = static_cast<uint32_t>(read_number(request, "offset", UINT32_MAX).value_or(show.offset));
  show.limit = static_cast<uint32_t>(read_number(request, "limit", kFlowsAtOnce).value_or(show.limit));
  show.interval_ms =
      static_cast<uint32_t>(read_number(request, "interval_ms", kIntervalMsMax).value_or(show.interval_ms));
  show.all = read_bool(request, "all").value_or(false);
  return show;
}

// What a request comes to: a result, now or after a time.
struct Outcome {
  Json result;
  Nanos after_ns = 0;
  std::function<Json()> later;
};

Json with_process(const SwitchProcess& process, Json reply) {
  reply["fabric"] = process.topology().name;
  reply["pid"] = getpid();
  return reply;
}

Outcome show(const SwitchProcess& process, const Json& request) {
  struct Table {
    std::string_view name;
    Json (*show)(const SwitchProcess&, const ShowRequest&);
  };
  static constexpr std::array<Table, 12> kTables = {{{"nodes", show_nodes},
                                                     {"ports", show_ports},
                                                     {"links", show_links},
                                                     {"stations", show_stations},
                                                     {"routes", show_routes},
                                                     {"congestion", show_congestion},
                                                     {"load", show_load},
                                                     {"pauses", show_pauses},
                                                     {"tables", show_tables},
                                                     {"queues", show_queues},
                                                     {"drops", show_drops},
                                                     {"workers", show_workers}}};
  const std::string what = read_text(request, "what").value_or("");
  for (const Table& table : kTables)
    if (table.name == what)
      return {.result = with_process(process, table.show(process, read_show(process, request))), .later = {}};
  if (what != "flows" && what != "applications" && what != "hosts" && what != "shapers")
    throw Refused(
        "what must be nodes, ports, links, flows, applications, hosts, pauses, shapers, stations, routes, load, "
        "congestion, tables, queues, drops or workers");
  const ShowRequest about = read_show(process, request);
  std::function<Json()> later = what == "flows"     ? show_flows(process, about)
                                : what == "hosts"   ? show_hosts(process, about)
                                : what == "shapers" ? show_shapers(process, about)
                                                    : show_applications(process, about);
  return {.result = {}, .after_ns = about.interval_ms * kMillisecond, .later = [&process, later = std::move(later)] {
            return with_process(process, later());
          }};
}

void tell(const OperatorContext& context, bool is_bad, const char* kind, const std::string& place,
          const std::string& text) {
  context.journal->add({.at_ns = wall_clock_now(), .is_bad = is_bad, .kind = kind, .place = place, .text = text});
}

// Not the request itself, which may hold anything.
std::string change_text(const SwitchProcess::LinkChange& change) {
  std::string text;
  if (change.up) text += *change.up ? " up" : " down";
  if (change.loss_ppm) text += " loss " + std::to_string(*change.loss_ppm) + "ppm";
  if (change.delay_ns) text += " delay " + format_duration(*change.delay_ns);
  return text;
}

Json change_link(const OperatorContext& context, const Json& request) {
  SwitchProcess& process = *context.process;
  const std::string name = read_text(request, "port").value_or("");
  SwitchProcess::LinkChange change;
  change.up = read_bool(request, "up");
  if (const auto loss = read_number(request, "loss_ppm", kLossMaxPpm)) change.loss_ppm = static_cast<uint32_t>(*loss);
  if (const auto delay = read_number(request, "delay_ns", kLinkDelayMax)) change.delay_ns = *delay;
  process.change_link(find_end(process, name), change);
  tell(context, change.up == false, "link", name, "changed by the operator:" + change_text(change));
  return Json::object();
}

Json change_node(const OperatorContext& context, const Json& request) {
  SwitchProcess& process = *context.process;
  const std::string name = read_text(request, "node").value_or("");
  const std::optional<bool> up = read_bool(request, "up");
  if (!up) throw Refused("up must be true or false");
  process.set_node_up(find_node(process, name), *up);
  tell(context, !*up, "node", name, *up ? "started by the operator" : "taken down by the operator");
  return Json::object();
}

Json clear(const OperatorContext& context, const Json& request) {
  SwitchProcess& process = *context.process;
  if (read_text(request, "what") != "queues") throw Refused("what must be queues");
  const ShowRequest about = read_show(process, request);
  uint64_t ports = 0;
  for_each_node(process, about, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    for_each_port(node, about, [&](PortIndex port) {
      process.restart_queue_marks(node, port);
      ++ports;
    });
  });
  const std::string place = !about.node  ? ""
                            : about.port ? port_name(process, *about.node, *about.port)
                                         : process.topology().nodes[*about.node].name;
  tell(context, false, "queues", place, "counted anew by the operator");
  return {{"ports", ports}};
}

Json events(const OperatorContext& context, const Json& request) {
  const uint64_t after = read_number(request, "after", UINT64_MAX).value_or(0);
  const uint64_t limit = read_number(request, "limit", kEventsPerAnswer).value_or(kEventsPerAnswer);
  Json rows = Json::array();
  for (const Event& event : context.journal->since(after, limit))
    rows.push_back({{"number", event.number},
                    {"at_ns", event.at_ns},
                    {"level", event.is_bad ? "warning" : "info"},
                    {"kind", event.kind},
                    {"place", event.place},
                    {"text", event.text}});
  return {{"last", context.journal->last_number()}, {"events", std::move(rows)}};
}

Outcome carry_out(const OperatorContext& context, const Json& request) {
  if (!request.is_object()) throw Refused("a request is a JSON object on one line");
  const std::string command = read_text(request, "command").value_or("");
  if (command == "show") return show(*context.process, request);
  Outcome outcome;
  if (command == "events")
    outcome.result = events(context, request);
  else if (command == "trace")
    outcome.result = trace(*context.process, request);
  else if (command == "link")
    outcome.result = change_link(context, request);
  else if (command == "node")
    outcome.result = change_node(context, request);
  else if (command == "clear")
    outcome.result = clear(context, request);
  else if (command == "version")
    outcome.result = {{"version", version_text("heddled")}};
  else
    throw Refused("command must be show, trace, events, link, node, clear or version");
  return outcome;
}

std::string line_of(const Json& reply) { return reply.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Of what may be refused, or can't be done.
std::string reply_to(const std::function<Json()>& what) {
  try {
    return line_of({{"ok", true}, {"result", what()}});
  } catch (const std::exception& error) {
    return line_of({{"ok", false}, {"error", error.what()}});
  }
}

}  // namespace

OperatorServer::Answer answer_request(const OperatorContext& context, std::string_view request) {
  OperatorServer::Answer answer;
  answer.reply = reply_to([&] {
    Outcome outcome = carry_out(context, Json::parse(request, nullptr, false));
    if (outcome.later != nullptr) {
      answer.after_ns = outcome.after_ns;
      answer.later = [later = std::move(outcome.later)] { return reply_to(later); };
    }
    return outcome.result;
  });
  return answer;
}

}  // namespace heddle
