// SPDX-License-Identifier: Apache-2.0
#include "apps/topology_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/fabric_of_file.h"
#include "cli/text_table.h"
#include "sim/report/topology_drawing.h"
#include "topology/topology_report.h"

namespace heddle {

namespace {

Topology fabric_of(const std::string& file) {
  ConfigErrors errors;
  if (const std::optional<FileKind> kind = file_kind(file, errors))
    if (std::optional<Topology> topology = load_fabric(*kind, file, errors)) return std::move(*topology);
  std::fputs(errors.text().c_str(), stderr);
  throw CLI::RuntimeError(EXIT_FAILURE);
}

std::string range_text(const TopologyReport::Range& range) {
  char text[128];
  if (range.least == range.most)
    std::snprintf(text, sizeof text, "%.9g", range.least);
  else
    std::snprintf(text, sizeof text, "%.9g to %.9g, %.2f in the mean", range.least, range.most, range.mean);
  return text;
}

std::string failure_text(const TopologyReport::Failure& failure) {
  if (failure.cut_off == 0 && failure.longer == 0) return "nobody is cut off, and no path gets longer";
  std::string text =
      failure.cut_off == 0 ? std::string("nobody is cut off") : std::to_string(failure.cut_off) + " pairs are cut off";
  if (failure.longer != 0)
    text += ", paths of " + std::to_string(failure.longer) + " pairs cost up to " + std::to_string(failure.by_most) +
            " more";
  return text + ": " + failure.where;
}

std::string channels_text(const TopologyReport& report) {
  const auto text = [](uint32_t channels) {
    return channels > kLosslessChannelsMax ? "more than there are" : std::to_string(channels);
  };
  std::string found = text(report.channels.shortest) + " for shortest paths";
  if (report.pairs_with_detours != 0) found += ", " + text(report.channels.with_detours) + " with longer ones";
  return found + ", of " + std::to_string(kLosslessChannelsMax);
}

// Could the fabric have lossless classes?
bool sound(const TopologyReport& report) {
  return report.ring.empty() && report.channels.shortest <= kLosslessChannelsMax;
}

std::string report_text(const Topology& topology, const TopologyReport& report) {
  TextTable table({{topology.name}, {""}});
  table.add({"switches", std::to_string(report.switches) + ", with " + std::to_string(report.edge_ports) +
                             " edge ports and " + std::to_string(report.links) + " links"});
  table.add({"pairs", std::to_string(report.pairs) + " of switches with edge ports"});
  table.add({"links of a path", range_text(report.path_links)});
  table.add({"cost of a path", range_text(report.path_cost)});
  table.add({"shortest paths", range_text(report.paths)});
  table.add({"longer paths", report.pairs_with_detours == 0
                                 ? "none that would use other links"
                                 : "for " + std::to_string(report.pairs_with_detours) + " pairs"});
  table.add({"lossless channels", channels_text(report)});
  table.add({"ring of buffers", report.ring.empty() ? "none" : report.ring});
  table.add({"first half to second", std::to_string(report.half_links) + " links, " +
                                         scaled_bits_per_second(report.half_bps) + "; its hosts " +
                                         scaled_bits_per_second(report.half_hosts_bps)});
  table.add({"worst link down", failure_text(report.link)});
  table.add({"worst switch down", failure_text(report.node)});
  return table.text();
}

nlohmann::json range_json(const TopologyReport::Range& range) {
  return {{"least", range.least}, {"mean", range.mean}, {"most", range.most}};
}

nlohmann::json failure_json(const TopologyReport::Failure& failure) {
  return {
      {"where", failure.where}, {"cut_off", failure.cut_off}, {"longer", failure.longer}, {"by_most", failure.by_most}};
}

std::string report_json(const Topology& topology, const TopologyReport& report) {
  const nlohmann::json json{{"name", topology.name},
                            {"switches", report.switches},
                            {"edge_ports", report.edge_ports},
                            {"links", report.links},
                            {"pairs", report.pairs},
                            {"path_links", range_json(report.path_links)},
                            {"path_cost", range_json(report.path_cost)},
                            {"shortest_paths", range_json(report.paths)},
                            {"pairs_with_longer_paths", report.pairs_with_detours},
                            {"lossless_channels", report.channels.shortest},
                            {"lossless_channels_with_longer_paths", report.channels.with_detours},
                            {"lossless_channels_max", kLosslessChannelsMax},
                            {"ring", report.ring},
                            {"half_links", report.half_links},
                            {"half_bps", report.half_bps},
                            {"half_hosts_bps", report.half_hosts_bps},
                            {"worst_link", failure_json(report.link)},
                            {"worst_switch", failure_json(report.node)}};
  return json.dump(2) + "\n";
}

void check(const std::string& file) {
  const Topology topology = fabric_of(file);
  const TopologyReport report = report_topology(topology);
  if (sound(report)) {
    std::printf("%s: no ring of buffers, whatever paths frames take; lossless channels: %s\n", file.c_str(),
                channels_text(report).c_str());
    return;
  }
  std::fprintf(stderr, "%s: not for lossless classes: %s\n", file.c_str(),
               report.ring.empty() ? ("channels: " + channels_text(report)).c_str() : report.ring.c_str());
  throw CLI::RuntimeError(EXIT_FAILURE);
}

// Its edge ports stand for the hosts.
std::string svg(const Topology& topology) {
  sim::Scenario scenario;
  for (uint16_t node = 0; node < topology.nodes.size(); ++node)
    for (PortIndex port = 0; port < topology.nodes[node].ports.size(); ++port)
      if (!topology.nodes[node].ports[port].fabric) {
        sim::HostSetup& host = scenario.setup.hosts.emplace_back();
        host.name = topology.nodes[node].ports[port].name;
        host.port = {node, port};
      }
  scenario.setup.topology = topology;
  return sim::topology_svg(scenario);
}

}  // namespace

void add_topology_command(CLI::App& app) {
  struct Options {
    std::string file;
    bool json = false;
    bool svg = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("topology", "Say what the graph of a fabric gives");
  command->require_subcommand(1);
  const auto add = [&](const char* name, const char* what) {
    CLI::App* added = command->add_subcommand(name, what);
    added->add_option("file", options->file, "topology, lab, node or scenario file")->required();
    return added;
  };
  add("check", "could lossless frames wait for each other in a ring?")->callback([options] { check(options->file); });
  CLI::App* report = add("report", "paths, virtual channels, halves, and what a failure costs");
  report->add_flag("--json", options->json, "as JSON");
  report->callback([options] {
    const Topology topology = fabric_of(options->file);
    const TopologyReport found = report_topology(topology);
    std::fputs((options->json ? report_json(topology, found) : report_text(topology, found)).c_str(), stdout);
  });
  CLI::App* graph = add("graph", "a drawing: DOT, for Graphviz, or SVG");
  graph->add_flag("--svg", options->svg, "as SVG");
  graph->callback([options] {
    const Topology topology = fabric_of(options->file);
    std::fputs((options->svg ? svg(topology) : topology_dot(topology)).c_str(), stdout);
  });
}

}  // namespace heddle
