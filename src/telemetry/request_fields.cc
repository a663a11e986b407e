// SPDX-License-Identifier: Apache-2.0
#include "telemetry/request_fields.h"

namespace heddle {

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
  return PortIndex::of(port);
}

LinkEnd find_end(const SwitchProcess& process, const std::string& name) {
  const size_t colon = name.find(':');
  if (colon == std::string::npos) throw Refused("port must be as in leaf1:p1");
  const uint16_t node = find_node(process, name.substr(0, colon));
  return {node, find_port(process, node, name.substr(colon + 1))};
}

}  // namespace heddle
