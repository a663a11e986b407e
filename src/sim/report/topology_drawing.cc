// SPDX-License-Identifier: Apache-2.0
#include "sim/report/topology_drawing.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <sstream>

#include "sim/report/line_chart.h"

namespace heddle::sim {

namespace {

constexpr double kDrawingWidth = 1060, kRow = 84, kMargin = 40, kBox = 11;
constexpr double kDrawingLetter = 6.2;  // width, about
constexpr const char* kDrawingStyle =
    ".topology text{font:11px sans-serif;fill:#222;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:3}"
    ".topology .switch{fill:#0072b2}.topology text.host{fill:#666}.topology .link{stroke:#888}"
    ".topology .broken{stroke:#b00020;fill:#b00020}";

struct Place {
  double x = 0, y = 0;
};

struct Drawing {
  const Scenario& scenario;
  const Topology& topology = scenario.setup.topology;
  std::vector<std::vector<uint16_t>> neighbours{topology.nodes.size()};
  std::vector<std::vector<std::string>> hosts{topology.nodes.size()};
  std::vector<Place> places{topology.nodes.size()};
  double width = kDrawingWidth, height = 0;
  double between = kDrawingWidth;  // two switches of the fullest row
};

void gather(Drawing& drawing) {
  for (const TopologyLink& link : drawing.topology.links) {
    drawing.neighbours[link.ends[0].node_index].push_back(link.ends[1].node_index);
    drawing.neighbours[link.ends[1].node_index].push_back(link.ends[0].node_index);
  }
  for (const HostSetup& host : drawing.scenario.setup.hosts) drawing.hosts[host.port.node_index].push_back(host.name);
}

// Steps from the nearest switch that has hosts.
std::vector<uint32_t> distances(const Drawing& drawing) {
  constexpr uint32_t kUnknown = ~0u;
  std::vector<uint32_t> distance(drawing.topology.nodes.size(), kUnknown);
  std::vector<uint16_t> queue;
  for (uint16_t node = 0; node < distance.size(); ++node) {
    if (drawing.hosts[node].empty()) continue;
    distance[node] = 0;
    queue.push_back(node);
  }
  for (size_t at = 0; at < queue.size(); ++at) {
    for (const uint16_t next : drawing.neighbours[queue[at]]) {
      if (distance[next] != kUnknown) continue;
      distance[next] = distance[queue[at]] + 1;
      queue.push_back(next);
    }
  }
  for (uint32_t& one : distance)
    if (one == kUnknown) one = 0;
  return distance;
}

// In one row, links between switches that don't stand side by side would lie over each other.
bool is_chain(const Drawing& drawing) {
  return std::all_of(drawing.topology.links.begin(), drawing.topology.links.end(), [](const TopologyLink& link) {
    return std::abs(link.ends[0].node_index - link.ends[1].node_index) == 1;
  });
}

void place_in_circle(Drawing& drawing) {
  const auto count = static_cast<double>(drawing.places.size());
  const double radius = std::clamp(count * 18, 70.0, 260.0);
  drawing.height = 2 * radius + 2 * kMargin + kRow / 2;
  for (size_t i = 0; i < drawing.places.size(); ++i) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(i) / count - std::numbers::pi / 2;
    drawing.places[i] = {kDrawingWidth / 2 + 1.6 * radius * std::cos(angle),
                         kMargin + radius + radius * std::sin(angle)};
  }
  drawing.between = 2 * std::numbers::pi * radius / count;
}

void place_in_rows(Drawing& drawing, const std::vector<uint32_t>& distance) {
  const uint32_t rows = *std::max_element(distance.begin(), distance.end()) + 1;
  drawing.height = kMargin + rows * kRow;
  for (uint32_t row = 0; row < rows; ++row) {
    const auto count = static_cast<double>(std::count(distance.begin(), distance.end(), row));
    double number = 0.5;
    for (size_t i = 0; i < distance.size(); ++i)
      if (distance[i] == row) drawing.places[i] = {kDrawingWidth * number++ / count, kMargin + (rows - 1 - row) * kRow};
    drawing.between = std::min(drawing.between, kDrawingWidth / count);
  }
}

bool meets(const Drawing& drawing, bool link, uint32_t which) {
  return std::any_of(drawing.scenario.faults.begin(), drawing.scenario.faults.end(), [&](const ScenarioFault& fault) {
    const bool of_node = fault.action == FaultAction::node_crash || fault.action == FaultAction::node_start ||
                         fault.action == FaultAction::worker_pause || fault.action == FaultAction::regroup;
    return of_node != link && (link ? fault.link : fault.node) == which;
  });
}

// Those that fit by name, else how many.
std::string hosts_text(const std::vector<std::string>& hosts, double room) {
  std::string names;
  for (const std::string& host : hosts) names += (names.empty() ? "" : " ") + host;
  if (kDrawingLetter * static_cast<double>(names.size()) < room) return names;
  const std::string count = std::to_string(hosts.size());
  return kDrawingLetter * static_cast<double>(count.size() + 6) < room ? count + " hosts" : count;
}

void draw_switches(std::ostringstream& out, const Drawing& drawing) {
  for (uint16_t i = 0; i < drawing.places.size(); ++i) {
    const auto& [x, y] = drawing.places[i];
    const std::string& name = drawing.topology.nodes[i].name;
    out << "<rect class=\"" << (meets(drawing, false, i) ? "broken" : "switch") << "\" x=\"" << x - kBox << "\" y=\""
        << y - kBox / 2 << "\" width=\"" << 2 * kBox << "\" height=\"" << kBox << "\"><title>" << html_text(name)
        << "</title></rect>";
    if (kDrawingLetter * static_cast<double>(name.size()) < drawing.between)
      out << "<text x=\"" << x << "\" y=\"" << y - kBox << "\">" << html_text(name) << "</text>";
    if (drawing.hosts[i].empty()) continue;
    out << "<text class=\"host\" x=\"" << x << "\" y=\"" << y + 24 << "\">"
        << html_text(hosts_text(drawing.hosts[i], drawing.between)) << "</text>";
  }
}

}  // namespace

std::string topology_svg(const Scenario& scenario) {
  Drawing drawing{.scenario = scenario};
  gather(drawing);
  const std::vector<uint32_t> distance = distances(drawing);
  const bool flat = std::all_of(distance.begin(), distance.end(), [](uint32_t one) { return one == 0; });
  if (flat && !is_chain(drawing))
    place_in_circle(drawing);
  else
    place_in_rows(drawing, distance);
  std::ostringstream out;
  out << "<svg class=\"topology\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kDrawingWidth << ' '
      << drawing.height << "\"><style>" << kDrawingStyle << "</style>";
  for (uint32_t i = 0; i < drawing.topology.links.size(); ++i) {
    const LinkEnd* ends = drawing.topology.links[i].ends;
    const Place &from = drawing.places[ends[0].node_index], &to = drawing.places[ends[1].node_index];
    out << "<line class=\"" << (meets(drawing, true, i) ? "broken" : "link") << "\" x1=\"" << from.x << "\" y1=\""
        << from.y << "\" x2=\"" << to.x << "\" y2=\"" << to.y << "\"/>";
  }
  draw_switches(out, drawing);
  out << "</svg>\n";
  return out.str();
}

}  // namespace heddle::sim
