// SPDX-License-Identifier: Apache-2.0
#include "telemetry/trace_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include "cli/text_table.h"
#include "config/units.h"
#include "telemetry/fleet_options.h"
#include "telemetry/row_text.h"
#include "telemetry/show_merge.h"

namespace heddle {

namespace {

constexpr size_t kHopsMax = 64;  // more than any hop limit allows

struct TraceOptions {
  std::string at, to, from, hex;
  std::vector<std::string> ip;
  std::vector<uint16_t> tcp, udp;
  uint32_t vlan = 0, pcp = 0, dscp = 0, bytes = 0, flow = 0;
  FleetOptions heddleds;
  bool json = false;
  const CLI::App* command = nullptr;
  bool given(const char* name) const { return command->count(name) != 0; }
};

// The answer of the heddled that has the node; what the others say of that is left out.
Json ask_one(OperatorFleet& fleet, const Json& request) {
  std::string error = "nobody has answered";
  for (const FleetAnswer& answer : fleet.ask(request)) {
    if (answer.stranger) continue;
    if (answer.error.empty()) return answer.result;
    if (error == "nobody has answered" || error.starts_with("no node ")) error = answer.error;
  }
  throw std::runtime_error(error);
}

// A host's port, as in leaf1:p1, by that name or that of the host of a lab behind it.
std::string port_of(OperatorFleet& fleet, const std::string& name) {
  std::string found;
  for (const FleetAnswer& answer : fleet.ask({{"command", "show"}, {"what", "hosts"}, {"interval_ms", 0}})) {
    if (!answer.error.empty() || answer.stranger) continue;
    for (const Json& row : answer.result.at("hosts")) {
      const std::string host = row_text::text(row, "host"), port = row_text::place(row);
      if (port != name && host != name && !host.starts_with(name + ":")) continue;
      if (!found.empty()) throw std::runtime_error("there are several of " + name + "; say which by --lab or --socket");
      found = port;
    }
  }
  if (found.empty()) throw std::runtime_error("no host's port " + name + "; `heddle show hosts` has them");
  return found;
}

// Of the host there, as its switch has learned it.
std::string station_at(OperatorFleet& fleet, const std::string& port) {
  const std::string node = port.substr(0, port.find(':'));
  const Json stations = ask_one(fleet, {{"command", "show"}, {"what", "stations"}, {"node", node}});
  for (const Json& row : stations.at("stations"))
    if (row.at("at") == port) return row.at("mac");
  throw std::runtime_error("no station is known at " + port + "; give its MAC address, or let it send something");
}

Json frame_of(const TraceOptions& options, OperatorFleet& fleet) {
  if (!options.hex.empty()) return {{"hex", options.hex}};
  if (options.to.empty()) throw std::runtime_error("where to? Give a port or a MAC address, --flow or --hex");
  const auto mac = [&fleet](const std::string& text) {
    return parse_mac(text) ? text : station_at(fleet, port_of(fleet, text));
  };
  Json frame{{"to", mac(options.to)}, {"from", mac(options.from.empty() ? options.at : options.from)}};
  if (options.given("--vlan")) frame["vlan"] = options.vlan;
  if (options.given("--pcp")) frame["pcp"] = options.pcp;
  if (options.given("--dscp")) frame["dscp"] = options.dscp;
  if (options.given("--bytes")) frame["bytes"] = options.bytes;
  if (options.given("--ip")) frame.update({{"ip_from", options.ip[0]}, {"ip_to", options.ip[1]}});
  const std::vector<uint16_t>& ports = options.given("--tcp") ? options.tcp : options.udp;
  if (!ports.empty())
    frame.update(
        {{"protocol", options.given("--tcp") ? "tcp" : "udp"}, {"port_from", ports[0]}, {"port_to", ports[1]}});
  return frame;
}

std::string hops_text(const Json& hops) {
  TextTable table({{"AT"}, {"STAGE"}, {"DECISION"}, {"WHY"}});
  for (const Json& hop : hops) {
    std::string at = row_text::place(hop);
    for (const Json& step : hop.at("steps")) {
      table.add({at, row_text::text(step, "stage"), row_text::text(step, "decision"), row_text::text(step, "why")});
      at.clear();
    }
  }
  return table.text();
}

void trace_all(const TraceOptions& options) {
  OperatorFleet fleet = options.heddleds.fleet();
  Json request{{"command", "trace"}, {"port", port_of(fleet, options.at)}};
  if (options.given("--flow"))
    request["flow_id"] = options.flow;
  else
    request["frame"] = frame_of(options, fleet);
  Json hops = Json::array();
  std::string lost;  // why the way beyond is not known
  while (hops.size() < kHopsMax) {
    try {
      hops.push_back(ask_one(fleet, request));
    } catch (const std::runtime_error& error) {
      if (hops.empty()) throw;
      lost = request.at("port").get<std::string>() + ": " + error.what();
      break;
    }
    if (!hops.back().contains("next")) break;
    Json hop = hops.back().at("next");
    request = {{"command", "trace"}, {"port", hop.at("port")}};
    hop.erase("port");
    request["hop"] = std::move(hop);
  }
  std::fputs(options.json ? (hops.dump(2) + "\n").c_str() : hops_text(hops).c_str(), stdout);
  if (lost.empty()) return;
  std::fprintf(stderr, "heddle: %s\n", lost.c_str());
  throw CLI::RuntimeError(EXIT_FAILURE);
}

}  // namespace

void add_trace_command(CLI::App& app) {
  auto options = std::make_shared<TraceOptions>();
  CLI::App* command = app.add_subcommand("trace", "Tell what becomes of a frame, or stands of a flow, at every hop");
  options->command = command;
  command->add_option("at", options->at, "host's port that it comes in by, as in leaf1:p1, or a lab's host")
      ->required();
  CLI::Option* to =
      command->add_option("to", options->to, "its destination: a MAC address, the host's port, or a lab's host");
  command->add_option("--from", options->from, "its source, instead of the station at its port");
  command->add_option("--vlan", options->vlan, "VLAN of its tag")->check(CLI::Range(0, 4094));
  command->add_option("--pcp", options->pcp, "priority of its tag")->check(CLI::Range(0, 7));
  CLI::Option* ip =
      command->add_option("--ip", options->ip, "its IP addresses, source and destination")->expected(2)->delimiter(',');
  command->add_option("--dscp", options->dscp, "its DSCP")->check(CLI::Range(0, 63))->needs(ip);
  CLI::Option* tcp =
      command->add_option("--tcp", options->tcp, "its TCP ports, source and destination")->expected(2)->delimiter(',');
  CLI::Option* udp =
      command->add_option("--udp", options->udp, "its UDP ports, source and destination")->expected(2)->delimiter(',');
  tcp->needs(ip)->excludes(udp);
  udp->needs(ip);
  command->add_option("--bytes", options->bytes, "its length")->check(CLI::Range(60, 9018));
  CLI::Option* hex = command->add_option("--hex", options->hex, "the whole frame, in hexadecimal digits");
  CLI::Option* flow = command->add_option("--flow", options->flow, "a flow that is there, by its ID of `show flows`")
                          ->check(CLI::Range(1, 65535));
  hex->excludes(to)->excludes(flow);
  flow->excludes(to);
  command->add_flag("--json", options->json, "as JSON");
  options->heddleds.add_to(*command);
  command->callback([options] { trace_all(*options); });
}

}  // namespace heddle
