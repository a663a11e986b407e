// SPDX-License-Identifier: Apache-2.0
// Every key of the three files, by the map it stands in. The loaders accept these and no others; a test holds
// the JSON Schemas and docs/configuration.md to the same lists.
#pragma once

#include <array>
#include <string_view>

namespace heddle::config_keys {

// Fabrics that a few numbers describe; `kind` says which.
inline constexpr auto kLeafSpine = std::to_array<std::string_view>({"leaves", "spines", "hosts"});
inline constexpr auto kFatTree = std::to_array<std::string_view>({"radix", "hosts"});
inline constexpr auto kDragonfly = std::to_array<std::string_view>({"groups", "routers", "globals", "hosts"});
inline constexpr auto kLattice = std::to_array<std::string_view>({"dimensions", "hosts"});
// All of them, and those of their links; a lab's have what else a lab's links have.
inline constexpr auto kFabric =
    std::to_array<std::string_view>({"kind", "leaves", "spines", "hosts", "radix", "groups", "routers", "globals",
                                     "dimensions", "rate", "mtu", "host_rate"});
inline constexpr auto kLabFabric =
    std::to_array<std::string_view>({"kind", "leaves", "spines", "hosts", "radix", "groups", "routers", "globals",
                                     "dimensions", "rate", "mtu", "host_rate", "delay", "loss"});

// Topology file; settings and classes have the keys of their fields (topology/fields.h).
inline constexpr auto kTopology = std::to_array<std::string_view>(
    {"name", "edge_mtu", "settings", "classes", "fabric", "nodes", "links", "stations"});
inline constexpr auto kNode = std::to_array<std::string_view>({"address", "ports"});
inline constexpr auto kPort = std::to_array<std::string_view>(
    {"vlan", "trunk", "native", "rate", "overhead", "mtu", "forward_reserved", "flood_rate", "stations_max",
     "flow_control", "class", "classes", "police", "police_burst"});
inline constexpr auto kLink = std::to_array<std::string_view>({"ends", "rate", "overhead", "mtu", "cost"});
inline constexpr auto kStation = std::to_array<std::string_view>({"mac", "vlan", "port"});

// Node file.
inline constexpr auto kNodeFile = std::to_array<std::string_view>({"topology",
                                                                   "node",
                                                                   "nodes",
                                                                   "workers",
                                                                   "devices",
                                                                   "threads",
                                                                   "idle",
                                                                   "huge_pages",
                                                                   "memory",
                                                                   "buffers",
                                                                   "receive_descriptors",
                                                                   "transmit_descriptors",
                                                                   "match_entries",
                                                                   "station_entries",
                                                                   "socket",
                                                                   "socket_group",
                                                                   "log_level",
                                                                   "complete_checksums",
                                                                   "applications",
                                                                   "shapers"});
inline constexpr auto kNodeProcess = std::to_array<std::string_view>({"workers", "devices", "applications", "shapers"});
inline constexpr auto kDevice = std::to_array<std::string_view>({"device", "complete_checksums", "delay", "loss"});

// Applications of a node, in its file, of a switch in a lab file, and of a node in a scenario.
inline constexpr auto kApplications =
    std::to_array<std::string_view>({"classes", "groups", "limits", "injection_limit"});
inline constexpr auto kApplicationClass = std::to_array<std::string_view>({"base", "bits", "index"});
inline constexpr auto kApplicationGroup = std::to_array<std::string_view>(
    {"group", "weight", "limit", "class", "vlan", "port", "dscp", "source", "destination"});
inline constexpr auto kApplicationLimit = std::to_array<std::string_view>({"weight", "injection_limit"});

// Shapers of a node's ports, in the same places.
inline constexpr auto kShaper = std::to_array<std::string_view>({"maximum", "branches", "classes"});
inline constexpr auto kShaperBranch = std::to_array<std::string_view>({"minimum", "maximum", "priority"});
inline constexpr auto kShaperClass =
    std::to_array<std::string_view>({"minimum", "maximum", "priority", "weight", "branch"});

// Lab file; settings, classes, stations and ports as in the topology file.
inline constexpr auto kLab = std::to_array<std::string_view>(
    {"name", "edge_mtu", "settings", "classes", "stations", "addresses", "driver", "threads", "topology"});
inline constexpr auto kLabTopology = std::to_array<std::string_view>({"kinds", "fabric", "nodes", "links"});
inline constexpr auto kLabKinds = std::to_array<std::string_view>({"switch", "host"});
inline constexpr auto kLabSwitchKind = std::to_array<std::string_view>({"workers"});
inline constexpr auto kLabHostKind = std::to_array<std::string_view>({"exec", "hostd"});
inline constexpr auto kLabSwitch =
    std::to_array<std::string_view>({"kind", "address", "workers", "ports", "applications", "shapers"});
inline constexpr auto kLabHost =
    std::to_array<std::string_view>({"kind", "ipv4", "ipv6", "mac", "vlan", "interfaces", "exec", "hostd"});
inline constexpr auto kLabInterface = std::to_array<std::string_view>({"ipv4", "ipv6", "mac", "vlan"});
inline constexpr auto kLabLink =
    std::to_array<std::string_view>({"endpoints", "rate", "overhead", "delay", "loss", "mtu", "cost"});

}  // namespace heddle::config_keys
