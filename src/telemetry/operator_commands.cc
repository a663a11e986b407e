// SPDX-License-Identifier: Apache-2.0
#include "telemetry/operator_commands.h"

#include <spdlog/spdlog.h>

#include <array>
#include <stdexcept>

#include "config/units.h"
#include "telemetry/show.h"

namespace heddle {

namespace {

constexpr uint32_t kFlowsAtOnce = 1024;
constexpr uint32_t kIntervalMsMax = 2000;
constexpr uint32_t kLossMaxPpm = 1'000'000;
constexpr Nanos kDelayMax = 10 * kSecond;

struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A field that may be left out.
std::optional<std::string> read_text(const Json& request, const char* key) {
  if (!request.contains(key)) return std::nullopt;
  if (!request[key].is_string()) throw Refused(std::string(key) + " must be text");
  return request[key].get<std::string>();
}

std::optional<bool> read_bool(const Json& request, const char* key) {
  if (!request.contains(key)) return std::nullopt;
  if (!request[key].is_boolean()) throw Refused(std::string(key) + " must be true or false");
  return request[key].get<bool>();
}

std::optional<uint64_t> read_number(const Json& request, const char* key, uint64_t most) {
  if (!request.contains(key)) return std::nullopt;
  if (!request[key].is_number_unsigned() || request[key].get<uint64_t>() > most)
    throw Refused(std::string(key) + " must be a whole number from 0 to " + std::to_string(most));
  return request[key].get<uint64_t>();
}

uint16_t find_node(const SwitchProcess& process, const std::string& name) {
  for (const ProcessNode& node : process.nodes())
    if (process.topology().nodes[node.settings.node_index].name == name) return node.settings.node_index;
  throw Refused("no node " + name + " in this process");
}

PortIndex find_port(const SwitchProcess& process, uint16_t node, const std::string& name) {
  const int port = process.topology().find_port(node, name);
  if (port < 0) throw Refused("node " + process.topology().nodes[node].name + " has no port " + name);
  return static_cast<PortIndex>(port);
}

// leaf1:p3
LinkEnd find_end(const SwitchProcess& process, const std::string& name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) throw Refused("port must be as in leaf1:p1");
  const uint16_t node = find_node(process, name.substr(0, colon));
  return {node, find_port(process, node, name.substr(colon + 1))};
}

ShowRequest read_show(const SwitchProcess& process, const Json& request, int stop_fd) {
  ShowRequest show;
  show.stop_fd = stop_fd;
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

Json show(const SwitchProcess& process, const Json& request, int stop_fd) {
  struct Table {
    std::string_view name;
    Json (*show)(const SwitchProcess&, const ShowRequest&);
  };
  static constexpr std::array<Table, 8> kTables = {{{"nodes", show_nodes},
                                                    {"ports", show_ports},
                                                    {"links", show_links},
                                                    {"flows", show_flows},
                                                    {"congestion", show_congestion},
                                                    {"tables", show_tables},
                                                    {"drops", show_drops},
                                                    {"workers", show_workers}}};
  const std::string what = read_text(request, "what").value_or("");
  for (const Table& table : kTables)
    if (table.name == what) return table.show(process, read_show(process, request, stop_fd));
  throw Refused("what must be nodes, ports, links, flows, congestion, tables, drops or workers");
}

// Not the request itself, which may hold anything.
std::string change_text(const SwitchProcess::LinkChange& change) {
  std::string text;
  if (change.up) text += *change.up ? " up" : " down";
  if (change.loss_ppm) text += " loss " + std::to_string(*change.loss_ppm) + "ppm";
  if (change.delay_ns) text += " delay " + format_duration(*change.delay_ns);
  return text;
}

Json change_link(SwitchProcess& process, const Json& request) {
  const std::string name = read_text(request, "port").value_or("");
  SwitchProcess::LinkChange change;
  change.up = read_bool(request, "up");
  if (const auto loss = read_number(request, "loss_ppm", kLossMaxPpm)) change.loss_ppm = static_cast<uint32_t>(*loss);
  if (const auto delay = read_number(request, "delay_ns", kDelayMax)) change.delay_ns = *delay;
  process.change_link(find_end(process, name), change);
  spdlog::info("operator: link {}{}", name, change_text(change));
  return Json::object();
}

Json change_node(SwitchProcess& process, const Json& request) {
  const std::string name = read_text(request, "node").value_or("");
  const std::optional<bool> up = read_bool(request, "up");
  if (!up) throw Refused("up must be true or false");
  process.set_node_up(find_node(process, name), *up);
  spdlog::info("operator: node {} {}", name, *up ? "up" : "down");
  return Json::object();
}

Json carry_out(SwitchProcess& process, const Json& request, int stop_fd) {
  if (!request.is_object()) throw Refused("a request is a JSON object on one line");
  const std::string command = read_text(request, "command").value_or("");
  if (command == "show") return show(process, request, stop_fd);
  if (command == "link") return change_link(process, request);
  if (command == "node") return change_node(process, request);
  if (command == "version") return {{"version", HEDDLE_VERSION_TEXT}};
  throw Refused("command must be show, link, node or version");
}

}  // namespace

std::string answer_request(SwitchProcess& process, std::string_view request, int stop_fd) {
  Json reply;
  try {
    reply = {{"ok", true}, {"result", carry_out(process, Json::parse(request, nullptr, false), stop_fd)}};
  } catch (const std::exception& error) {  // refused, or what was asked for could not be done
    reply = {{"ok", false}, {"error", error.what()}};
  }
  return reply.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace heddle
