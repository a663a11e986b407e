// SPDX-License-Identifier: Apache-2.0
#include "config/node_file.h"

#include <grp.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "config/application_reader.h"
#include "config/budget.h"
#include "config/config_keys.h"
#include "config/device_string.h"
#include "config/node_check.h"
#include "config/run_folders.h"
#include "config/shaper_reader.h"
#include "config/topology_file.h"
#include "config/yaml_value.h"

namespace heddle {

namespace {

constexpr size_t kSocketPathBytes = 107;  // sun_path with its end

class NodeFileReader {
 public:
  NodeFileReader(const YamlValue& root, const TopologyLoader& load) : root_(root), load_(load) {}

  std::optional<ProcessConfig> read(const std::string& file_name, ConfigErrors& errors);

 private:
  void read_process();
  void read_socket();
  bool read_topology(const std::string& file_name, ConfigErrors& errors);
  void read_nodes();
  void read_node(const YamlValue& name_value, const std::string& name, const YamlValue& value);
  void read_device(const YamlValue& value, PortDevice& device, bool fabric) const;
  bool checksums_by_default(const PortDevice& device, bool fabric) const;

  YamlValue root_;
  const TopologyLoader& load_;
  ProcessConfig process_;
  std::optional<bool> complete_checksums_;
  NodeFileSources sources_;
};

void NodeFileReader::read_process() {
  static constexpr auto kIdle = std::to_array<std::string_view>({"sleep", "poll"});
  static constexpr auto kLevels = std::to_array<std::string_view>({"trace", "debug", "info", "warning", "error"});
  root_["threads"].read_integer(process_.threads, 1, kThreadsMax);
  size_t idle = 0;
  root_["idle"].read_choice(idle, kIdle);
  process_.poll = idle == 1;
  root_["huge_pages"].read_bool(process_.huge_pages);
  constexpr uint64_t kMebibyte = 1024 * 1024;
  uint64_t memory_bytes = process_.memory_mb * kMebibyte;
  root_["memory"].read_size(memory_bytes, 32 * kMebibyte, 1024 * 1024 * kMebibyte);
  process_.memory_mb = static_cast<uint32_t>(memory_bytes / kMebibyte);
  root_["buffers"].read_integer(process_.buffers, 1024, 64 * 1024 * 1024);
  root_["receive_descriptors"].read_integer(process_.receive_descriptors, 64, 32768);
  root_["transmit_descriptors"].read_integer(process_.transmit_descriptors, 64, 32768);
  root_["match_entries"].read_integer(process_.match_entries, 1024, 16 * 1024 * 1024);
  root_["station_entries"].read_integer(process_.station_entries, 1024, 16 * 1024 * 1024);
  size_t level = 2;
  root_["log_level"].read_choice(level, kLevels);
  process_.log_level = kLevels[level];
  bool complete_checksums = false;
  if (root_["complete_checksums"].read_bool(complete_checksums)) complete_checksums_ = complete_checksums;
}

void NodeFileReader::read_socket() {
  const YamlValue socket = root_["socket"];
  if (socket.read_text(process_.socket, kSocketPathBytes) && process_.socket[0] != '/') {
    socket.problem("an absolute path, at most 107 bytes");
  }
  const YamlValue group = root_["socket_group"];
  if (group.read_text(process_.socket_group, 31) && getgrnam(process_.socket_group.c_str()) == nullptr)
    group.problem("a group of this machine, made by: groupadd --system " + printable(process_.socket_group));
}

bool NodeFileReader::read_topology(const std::string& file_name, ConfigErrors& errors) {
  const YamlValue value = root_["topology"];
  std::string name;
  if (!value.require("the path of a topology file") || !value.read_text(name)) return false;
  process_.topology_file = (std::filesystem::path(file_name).parent_path() / name).string();
  auto topology = load_(process_.topology_file, errors);
  if (!topology) return false;
  process_.topology = std::move(*topology);
  return true;
}

void NodeFileReader::read_nodes() {
  const YamlValue one = root_["node"];
  const YamlValue several = root_["nodes"];
  if (one.present() && several.present()) return one.problem_at_key("both node and nodes", "one of them");
  if (!several.present()) {
    std::string name;
    if (!one.require("a node of the topology, or nodes") || !one.read_text(name)) return;
    return read_node(one, name, root_);
  }
  for (std::string_view key : config_keys::kNodeProcess) {
    if (root_.has(key)) root_[key].problem_at_key("the key beside nodes", "the key in each of nodes");
  }
  if (!several.expect_free_map("nodes")) return;
  if (several.entries().empty()) several.problem("no nodes", "1 or more");
  for (const YamlValue& entry : several.entries()) {
    if (entry.expect_map(config_keys::kNodeProcess)) read_node(entry, entry.key(), entry);
  }
}

// `name_value` is where the node is named; `value` holds its workers and devices.
void NodeFileReader::read_node(const YamlValue& name_value, const std::string& name, const YamlValue& value) {
  const int node_index = process_.topology.find_node(name);
  if (node_index < 0) {
    std::vector<std::string_view> names;
    for (const TopologyNode& node : process_.topology.nodes) names.push_back(node.name);
    return name_value.problem_at_key("no node " + printable(name),
                                     suggested_name(name_value, name, names, "a node of " + process_.topology_file));
  }
  NodeProcess node;
  node.node_index = static_cast<uint16_t>(node_index);
  const std::vector<TopologyPort>& ports = process_.topology.nodes[node.node_index].ports;
  value["workers"].read_integer(node.workers, 1, ports.size());
  node.applications = read_applications(value["applications"], process_.topology, node.node_index);
  node.shapers = read_shapers(value["shapers"], process_.topology, node.node_index);
  const YamlValue devices = value["devices"];
  if (devices.present() && !devices.is(YamlNode::Kind::kNull) && !devices.expect_free_map("devices")) return;
  std::vector<std::string_view> names;
  for (const TopologyPort& port : ports) names.push_back(port.name);
  for (const YamlValue& device : devices.entries()) {
    if (std::find(names.begin(), names.end(), device.key()) != names.end()) continue;
    device.problem_at_key("no port " + device.key() + " on " + name, joined(names));
  }
  NodeSource source{name_value, value, devices, {}};
  for (PortIndex port = 0; port < ports.size(); ++port) {
    PortDevice device;
    device.port = port;
    const YamlValue device_value = devices[ports[port].name];
    read_device(device_value, device, ports[port].fabric);
    node.ports.push_back(device);
    source.devices_by_port.push_back(device_value);
  }
  process_.nodes.push_back(std::move(node));
  sources_.nodes.push_back(std::move(source));
}

void read_device_string(const YamlValue& value, std::string& out) {
  if (!value.read_text(out)) return;
  if (const std::string allowed = device_problem(out); !allowed.empty()) value.problem(allowed);
}

bool NodeFileReader::checksums_by_default(const PortDevice& device, bool fabric) const {
  if (fabric) return false;
  return complete_checksums_.value_or(device_uses(device.device, "net_af_packet") ||
                                      device_uses(device.device, "net_af_xdp"));
}

void NodeFileReader::read_device(const YamlValue& value, PortDevice& device, bool fabric) const {
  if (!value.present()) return;
  if (value.is(YamlNode::Kind::kScalar)) {
    read_device_string(value, device.device);
    device.complete_checksums = checksums_by_default(device, fabric);
    return;
  }
  if (!value.is(YamlNode::Kind::kMap)) return value.problem("a device string or a map");
  value.expect_map(config_keys::kDevice);
  read_device_string(value["device"], device.device);
  device.complete_checksums = checksums_by_default(device, fabric);
  value["complete_checksums"].read_bool(device.complete_checksums);
  value["delay"].read_duration(device.impairment.delay_ns, 0, 10 * kSecond);
  value["loss"].read_loss(device.impairment.loss_ppm);
  for (std::string_view key : {"delay", "loss"}) {
    if (device.device.empty() || !value.has(key)) continue;
    value[key].problem_at_key("the key on a device", "the key on in-process links");
  }
}

std::optional<ProcessConfig> NodeFileReader::read(const std::string& file_name, ConfigErrors& errors) {
  const size_t errors_before = errors.size();
  if (!root_.is(YamlNode::Kind::kMap)) {
    root_.problem("a map with topology, node and devices");
    return std::nullopt;
  }
  root_.expect_map(config_keys::kNodeFile);
  read_process();
  read_socket();
  if (read_topology(file_name, errors)) {
    read_nodes();
    // A part that is missing because it was wrong would be reported a second time as something else.
    if (errors.size() == errors_before) check_process(process_, root_, sources_);
  }
  if (errors.size() != errors_before) {
    errors.sort();
    return std::nullopt;
  }
  if (process_.socket.empty()) {
    process_.socket =
        std::string(kNodeRunFolder) + "/" + process_.topology.nodes[process_.nodes[0].node_index].name + ".sock";
  }
  return std::move(process_);
}

std::optional<ProcessConfig> read_node_file(const YamlDocument* document, const std::string& file_name,
                                            const TopologyLoader& load, ConfigErrors& errors) {
  if (document == nullptr) return std::nullopt;
  return NodeFileReader(YamlValue(*document, errors), load).read(file_name, errors);
}

}  // namespace

std::optional<ProcessConfig> load_node_file(const std::string& path, ConfigErrors& errors) {
  return read_node_file(YamlDocument::load(path, errors).get(), path, load_topology, errors);
}

std::optional<ProcessConfig> parse_node_file(const std::string& text, const std::string& file_name,
                                             const TopologyLoader& load, ConfigErrors& errors) {
  return read_node_file(YamlDocument::parse(text, file_name, errors).get(), file_name, load, errors);
}

}  // namespace heddle
