// SPDX-License-Identifier: Apache-2.0
#include "sim/report/topology_drawing.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <set>
#include <sstream>

#include "sim/report/line_chart.h"

namespace heddle::sim {

namespace {

constexpr double kDrawingWidth = 1060, kRow = 84, kMargin = 40, kBox = 11;
constexpr double kDrawingLetter = 6.2;  // width, about
constexpr const char* kDrawingStyle =
    ".topology text{font:11px sans-serif;fill:#222;text-anchor:middle;paint-order:stroke;stroke:#fff;stroke-width:3}"
    ".topology .switch{fill:#0072b2}.topology text.host{fill:#666}.topology .link{stroke:#888;fill:none}"
    ".topology .broken{stroke:#b00020}.topology rect.broken{fill:#b00020}.topology path.broken{fill:none}";
constexpr double kCellMax = 150, kArc = 14, kArcMore = 6,
                 kArcMax = 60;  // of a lattice; how far a link bends that passes others by

struct Place {
  double x = 0, y = 0;
};

struct GridPlace {
  uint32_t row = 0, column = 0;
  auto operator<=>(const GridPlace&) const = default;
};

struct Drawing {
  const Scenario& scenario;
  const Topology& topology = scenario.setup.topology;
  std::vector<std::vector<uint16_t>> neighbours{topology.nodes.size()};
  std::vector<std::vector<std::string>> hosts{topology.nodes.size()};
  std::vector<Place> places{topology.nodes.size()};
  std::vector<GridPlace> grid = {};  // of a lattice of two dimensions, else empty
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

// What a name ends in, as s2-3: row and column, from 1.
std::optional<GridPlace> grid_place(const std::string& name) {
  const size_t digits = name.find_first_of("0123456789"), dash = name.find('-');
  if (digits == std::string::npos || dash == std::string::npos) return std::nullopt;
  GridPlace place;
  const char* const end = name.data() + name.size();
  const auto row = std::from_chars(name.data() + digits, end, place.row);
  if (row.ec != std::errc() || row.ptr != name.data() + dash) return std::nullopt;
  const auto column = std::from_chars(name.data() + dash + 1, end, place.column);
  return column.ec == std::errc() && column.ptr == end && place.row > 0 && place.column > 0 ? std::optional(place)
                                                                                            : std::nullopt;
}

// Rows and columns that are all full, and links along them: else none.
std::vector<GridPlace> find_grid(const Topology& topology) {
  std::vector<GridPlace> grid;
  uint32_t rows = 0, columns = 0;
  for (const TopologyNode& node : topology.nodes) {
    const std::optional<GridPlace> place = grid_place(node.name);
    if (!place) return {};
    rows = std::max(rows, place->row);
    columns = std::max(columns, place->column);
    grid.push_back(*place);
  }
  const bool full = uint64_t{rows} * columns == grid.size() && std::set(grid.begin(), grid.end()).size() == grid.size();
  const bool along = std::all_of(topology.links.begin(), topology.links.end(), [&grid](const TopologyLink& link) {
    const GridPlace &from = grid[link.ends[0].node_index], &to = grid[link.ends[1].node_index];
    return (from.row == to.row) != (from.column == to.column);
  });
  return full && along && rows > 1 && columns > 1 ? grid : std::vector<GridPlace>{};
}

void place_in_grid(Drawing& drawing) {
  const GridPlace last = *std::max_element(drawing.grid.begin(), drawing.grid.end());
  const double cell = std::min(kCellMax, kDrawingWidth / last.column);
  const double left = (kDrawingWidth - cell * last.column) / 2;
  for (size_t i = 0; i < drawing.grid.size(); ++i)
    drawing.places[i] = {left + cell * (drawing.grid[i].column - 0.5), kMargin + kRow * (drawing.grid[i].row - 0.5)};
  drawing.height = 2 * kMargin + kRow * last.row;
  drawing.between = cell;
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

// In a lattice a link that passes others by bends, up or to the right.
void draw_link(std::ostringstream& out, const Drawing& drawing, uint32_t index) {
  const LinkEnd* ends = drawing.topology.links[index].ends;
  const Place &from = drawing.places[ends[0].node_index], &to = drawing.places[ends[1].node_index];
  const char* const look = meets(drawing, true, index) ? "broken" : "link";
  uint32_t steps = 1;
  if (!drawing.grid.empty()) {
    const auto distance = [](uint32_t a, uint32_t b) { return std::max(a, b) - std::min(a, b); };
    const GridPlace &a = drawing.grid[ends[0].node_index], &b = drawing.grid[ends[1].node_index];
    steps = distance(a.row, b.row) + distance(a.column, b.column);
  }
  if (steps == 1) {
    out << "<line class=\"" << look << "\" x1=\"" << from.x << "\" y1=\"" << from.y << "\" x2=\"" << to.x << "\" y2=\""
        << to.y << "\"/>";
    return;
  }
  const double bend = std::min(kArc + kArcMore * steps, kArcMax);
  const bool in_row = from.y == to.y;
  out << "<path class=\"" << look << "\" d=\"M" << from.x << ' ' << from.y << 'Q'
      << (from.x + to.x) / 2 + (in_row ? 0 : bend) << ' ' << (from.y + to.y) / 2 - (in_row ? bend : 0) << ' ' << to.x
      << ' ' << to.y << "\"/>";
}

}  // namespace

std::string topology_svg(const Scenario& scenario) {
  Drawing drawing{.scenario = scenario};
  gather(drawing);
  const std::vector<uint32_t> distance = distances(drawing);
  const bool flat = std::all_of(distance.begin(), distance.end(), [](uint32_t one) { return one == 0; });
  drawing.grid = find_grid(drawing.topology);
  if (!drawing.grid.empty())
    place_in_grid(drawing);
  else if (flat && !is_chain(drawing))
    place_in_circle(drawing);
  else
    place_in_rows(drawing, distance);
  std::ostringstream out;
  out << "<svg class=\"topology\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << kDrawingWidth << ' '
      << drawing.height << "\"><style>" << kDrawingStyle << "</style>";
  for (uint32_t i = 0; i < drawing.topology.links.size(); ++i) draw_link(out, drawing, i);
  draw_switches(out, drawing);
  out << "</svg>\n";
  return out.str();
}

}  // namespace heddle::sim
