// SPDX-License-Identifier: Apache-2.0
#include "topology/topology_report.h"

#include <algorithm>
#include <bit>
#include <iomanip>
#include <sstream>
#include <utility>

#include "topology/graph.h"
#include "topology/longer_ways.h"
#include "topology/max_flow.h"

namespace heddle {

namespace {

bool has_hosts(const TopologyNode& node) {
  return std::any_of(node.ports.begin(), node.ports.end(), [](const TopologyPort& port) { return !port.fabric; });
}

std::string end_name(const Topology& topology, const LinkEnd& end) {
  const TopologyNode& node = topology.nodes[end.node_index];
  return node.name + ":" + node.ports[end.port].name;
}

// One value after the other.
class Summary {
 public:
  void add(double value) {
    range_.least = count_ == 0 ? value : std::min(range_.least, value);
    range_.most = std::max(range_.most, value);
    sum_ += value;
    ++count_;
  }
  TopologyReport::Range range() const {
    TopologyReport::Range range = range_;
    range.mean = count_ == 0 ? 0 : sum_ / count_;
    return range;
  }

 private:
  TopologyReport::Range range_;
  double sum_ = 0;
  uint32_t count_ = 0;
};

class Reporter {
 public:
  explicit Reporter(const Topology& topology) : topology_(topology), all_(all_fabric_ports(topology)) {
    for (uint16_t node = 0; node < topology.nodes.size(); ++node)
      if (has_hosts(topology.nodes[node])) with_hosts_.push_back(node);
    for (const uint16_t from : with_hosts_) distances_.push_back(distances_from(topology, from, all_));
  }

  TopologyReport report() {
    count_parts();
    look_at_paths();
    report_.channels = lossless_channels_needed(topology_);
    report_.ring = find_buffer_ring(topology_, std::min<uint32_t>(kLosslessChannelsMax, report_.channels.with_detours));
    cut_in_halves();
    fail_links();
    fail_nodes();
    return report_;
  }

 private:
  void count_parts();
  void look_at_paths();
  void cut_in_halves();
  void fail_links();
  void fail_nodes();
  // Over what is left: `without` is a switch that is down, or none.
  TopologyReport::Failure compare(const std::vector<PortSet>& ports_up, uint16_t without) const;
  static void keep_worst(TopologyReport::Failure& worst, TopologyReport::Failure other, const std::string& where) {
    if (std::pair(other.cut_off, other.longer) <= std::pair(worst.cut_off, worst.longer) && !worst.where.empty())
      return;
    worst = std::move(other);
    worst.where = where;
  }

  static constexpr uint16_t kNobody = 0xffff;
  const Topology& topology_;
  const std::vector<PortSet> all_;
  std::vector<uint16_t> with_hosts_;
  std::vector<std::vector<uint16_t>> distances_;  // from each of these
  TopologyReport report_;
};

void Reporter::count_parts() {
  report_.switches = static_cast<uint32_t>(topology_.nodes.size());
  report_.links = static_cast<uint32_t>(topology_.links.size());
  for (const TopologyNode& node : topology_.nodes)
    for (const TopologyPort& port : node.ports) report_.edge_ports += !port.fabric;
}

// Nodes nearest first: links and number of paths of a node follow from those of its neighbours that are nearer.
void Reporter::look_at_paths() {
  Summary links, cost, paths;
  for (size_t i = 0; i < with_hosts_.size(); ++i) {
    const std::vector<uint16_t>& distance = distances_[i];
    std::vector<uint16_t> order;
    for (uint16_t node = 0; node < distance.size(); ++node)
      if (distance[node] != kNoDistance) order.push_back(node);
    std::stable_sort(order.begin(), order.end(), [&](uint16_t a, uint16_t b) { return distance[a] < distance[b]; });
    std::vector<double> links_to(distance.size(), 1e9), paths_to(distance.size(), 0);
    links_to[with_hosts_[i]] = 0;
    paths_to[with_hosts_[i]] = 1;
    for (const uint16_t node : order)
      for (PortSet rest = ports_towards(topology_, all_, distance, node); rest != 0; rest &= rest - 1) {
        const uint16_t next = topology_.nodes[node].ports[static_cast<size_t>(std::countr_zero(rest))].peer.node_index;
        links_to[node] = std::min(links_to[node], links_to[next] + 1);
        paths_to[node] += paths_to[next];
      }
    for (size_t j = 0; j < with_hosts_.size(); ++j) {
      const uint16_t to = with_hosts_[j];
      if (j == i || distance[to] == kNoDistance) continue;
      ++report_.pairs;
      links.add(links_to[to]);
      cost.add(distance[to]);
      paths.add(paths_to[to]);
      const LongerWay way{with_hosts_[i], to, distance, distances_[j]};
      bool longer = false;
      for (uint16_t via = 0; via < distance.size() && !longer; ++via)
        longer = leads_by(topology_, all_, way, via, topology_.longer_way_cost_most);
      report_.pairs_with_detours += longer;
    }
  }
  report_.path_links = links.range();
  report_.path_cost = cost.range();
  report_.paths = paths.range();
}

void Reporter::cut_in_halves() {
  const auto nodes = static_cast<uint32_t>(topology_.nodes.size());
  const auto flow = [&](bool rates) {
    MaxFlow graph(nodes + 2);
    for (const TopologyLink& link : topology_.links) {
      const TopologyPort& port = topology_.nodes[link.ends[0].node_index].ports[link.ends[0].port];
      graph.add_link(link.ends[0].node_index, link.ends[1].node_index,
                     rates ? static_cast<double>(shared_rate_bps(port)) : 1);
    }
    constexpr double kPlenty = 1e18;
    for (size_t i = 0; i < with_hosts_.size(); ++i)
      graph.add_link(2 * i < with_hosts_.size() ? nodes : nodes + 1, with_hosts_[i], kPlenty);
    return with_hosts_.size() < 2 ? 0 : graph.between(nodes, nodes + 1);
  };
  report_.half_links = static_cast<uint32_t>(flow(false));
  report_.half_bps = flow(true);
  for (size_t i = 0; 2 * i < with_hosts_.size(); ++i)
    for (const TopologyPort& port : topology_.nodes[with_hosts_[i]].ports)
      if (!port.fabric) report_.half_hosts_bps += static_cast<double>(shared_rate_bps(port));
}

TopologyReport::Failure Reporter::compare(const std::vector<PortSet>& ports_up, uint16_t without) const {
  TopologyReport::Failure failure;
  for (size_t i = 0; i < with_hosts_.size(); ++i) {
    if (with_hosts_[i] == without) continue;
    const std::vector<uint16_t> distance = distances_from(topology_, with_hosts_[i], ports_up);
    for (const uint16_t to : with_hosts_) {
      const uint16_t before = distances_[i][to];
      if (to == without || before == kNoDistance || distance[to] == before) continue;
      failure.cut_off += distance[to] == kNoDistance;
      if (distance[to] == kNoDistance) continue;
      ++failure.longer;
      failure.by_most = std::max<uint32_t>(failure.by_most, distance[to] - before);
    }
  }
  return failure;
}

void Reporter::fail_links() {
  std::vector<PortSet> ports_up = all_;
  for (const TopologyLink& link : topology_.links) {
    PortSet& ports = ports_up[link.ends[0].node_index];
    ports &= ~(PortSet{1} << link.ends[0].port);
    keep_worst(report_.link, compare(ports_up, kNobody),
               end_name(topology_, link.ends[0]) + " - " + end_name(topology_, link.ends[1]));
    ports |= PortSet{1} << link.ends[0].port;
  }
}

void Reporter::fail_nodes() {
  std::vector<PortSet> ports_up = all_;
  for (uint16_t node = 0; node < topology_.nodes.size(); ++node) {
    const PortSet ports = std::exchange(ports_up[node], 0);
    keep_worst(report_.node, compare(ports_up, node), topology_.nodes[node].name);
    ports_up[node] = ports;
  }
}

}  // namespace

TopologyReport report_topology(const Topology& topology) { return Reporter(topology).report(); }

std::string topology_dot(const Topology& topology) {
  std::ostringstream out;
  out << "graph " << std::quoted(topology.name) << " {\n  node [shape=box];\n";
  for (const TopologyNode& node : topology.nodes) {
    const auto hosts =
        std::count_if(node.ports.begin(), node.ports.end(), [](const auto& port) { return !port.fabric; });
    out << "  \"" << node.name << "\"";
    if (hosts != 0)
      out << " [label=\"" << node.name << "\\n" << hosts << (hosts == 1 ? " edge port" : " edge ports") << "\"]";
    out << ";\n";
  }
  for (const TopologyLink& link : topology.links) {
    const auto port_of = [&](int side) -> const TopologyPort& {
      return topology.nodes[link.ends[side].node_index].ports[link.ends[side].port];
    };
    out << "  \"" << topology.nodes[link.ends[0].node_index].name << "\" -- \""
        << topology.nodes[link.ends[1].node_index].name << "\" [taillabel=\"" << port_of(0).name << "\", headlabel=\""
        << port_of(1).name << "\"";
    if (port_of(0).rate_bps != 0) out << ", label=\"" << static_cast<double>(port_of(0).rate_bps) / 1e9 << " Gb/s\"";
    if (port_of(0).cost != 1) out << ", weight=0, style=dashed";
    out << "];\n";
  }
  out << "}\n";
  return out.str();
}

}  // namespace heddle
