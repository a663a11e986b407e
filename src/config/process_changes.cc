// SPDX-License-Identifier: Apache-2.0
#include "config/process_changes.h"

#include <algorithm>

#include "config/units.h"
#include "topology/topology_hash.h"

namespace heddle {

namespace {

struct Setting {
  const char* key;
  bool live;
  std::string (*text)(const ProcessConfig&);
};

std::string size_text(const ProcessConfig& process) { return format_size(uint64_t{process.memory_mb} * 1024 * 1024); }

constexpr Setting kSettings[] = {
    {"log_level", true, [](const ProcessConfig& process) { return process.log_level; }},
    {"socket_group", true,
     [](const ProcessConfig& process) { return process.socket_group.empty() ? "none" : process.socket_group; }},
    {"socket", false, [](const ProcessConfig& process) { return process.socket; }},
    {"threads", false, [](const ProcessConfig& process) { return std::to_string(process.threads); }},
    {"idle", false, [](const ProcessConfig& process) { return std::string(process.poll ? "poll" : "sleep"); }},
    {"huge_pages", false,
     [](const ProcessConfig& process) { return std::string(process.huge_pages ? "true" : "false"); }},
    {"memory", false, size_text},
    {"buffers", false, [](const ProcessConfig& process) { return std::to_string(process.buffers); }},
    {"receive_descriptors", false,
     [](const ProcessConfig& process) { return std::to_string(process.receive_descriptors); }},
    {"transmit_descriptors", false,
     [](const ProcessConfig& process) { return std::to_string(process.transmit_descriptors); }},
    {"match_entries", false, [](const ProcessConfig& process) { return std::to_string(process.match_entries); }},
    {"station_entries", false, [](const ProcessConfig& process) { return std::to_string(process.station_entries); }},
};

void compare(const std::string& key, const std::string& before, const std::string& after,
             std::vector<std::string>& changes) {
  if (before != after) changes.push_back(key + ": " + before + ", now " + after);
}

std::string device_text(const PortDevice& port) {
  std::string text = port.device.empty() ? "none" : port.device;
  if (port.impairment.delay_ns != 0) text += " delay " + format_duration(port.impairment.delay_ns);
  if (port.impairment.loss_ppm != 0) text += " loss " + std::to_string(port.impairment.loss_ppm) + "ppm";
  return text + (port.complete_checksums ? " complete_checksums" : "");
}

void compare_node(const ProcessConfig& running, const ProcessConfig& file, size_t position, ProcessChanges& all) {
  const NodeProcess &before = running.nodes[position], &after = file.nodes[position];
  const TopologyNode& node = running.topology.nodes[before.node_index];
  std::vector<std::string>& changes = all.restart;
  compare(node.name + ".workers", std::to_string(before.workers), std::to_string(after.workers), changes);
  if (before.applications != after.applications) {
    all.live.push_back(node.name + ".applications");
    all.applications.push_back(position);
  }
  if (before.shapers != after.shapers) {
    all.live.push_back(node.name + ".shapers");
    all.shapers.push_back(position);
  }
  for (size_t port = 0; port < before.ports.size(); ++port)
    compare(node.name + ":" + node.ports[port].name, device_text(before.ports[port]), device_text(after.ports[port]),
            changes);
}

}  // namespace

ProcessChanges process_changes(const ProcessConfig& running, const ProcessConfig& file) {
  ProcessChanges changes;
  for (const Setting& setting : kSettings)
    compare(setting.key, setting.text(running), setting.text(file), setting.live ? changes.live : changes.restart);
  if (topology_hash(running.topology) != topology_hash(file.topology)) {
    changes.restart.push_back("the topology, on every node of the fabric");
    return changes;  // nodes and ports may mean others now
  }
  const auto same = [](const NodeProcess& a, const NodeProcess& b) { return a.node_index == b.node_index; };
  if (!std::equal(running.nodes.begin(), running.nodes.end(), file.nodes.begin(), file.nodes.end(), same)) {
    changes.restart.push_back("the nodes of the process");
    return changes;
  }
  for (size_t i = 0; i < running.nodes.size(); ++i) compare_node(running, file, i, changes);
  return changes;
}

void take_live_changes(ProcessConfig& running, const ProcessConfig& file) {
  running.log_level = file.log_level;
  running.socket_group = file.socket_group;
  const ProcessChanges changes = process_changes(running, file);
  for (const size_t position : changes.applications)
    running.nodes[position].applications = file.nodes[position].applications;
  for (const size_t position : changes.shapers) running.nodes[position].shapers = file.nodes[position].shapers;
}

}  // namespace heddle
