// SPDX-License-Identifier: Apache-2.0
// Every key of the scenario file, by the map it stands in; the rest is the topology file's.
#pragma once

#include <array>
#include <string_view>

namespace heddle::sim::scenario_keys {

inline constexpr auto kScenario = std::to_array<std::string_view>(
    {"name", "about", "edge_mtu", "settings", "classes", "fabric", "nodes", "links", "stations", "hosts", "workloads",
     "faults", "measure", "expect", "seed", "duration", "costs"});
inline constexpr auto kNode =
    std::to_array<std::string_view>({"address", "workers", "ports", "applications", "shapers"});
inline constexpr auto kFabric =
    std::to_array<std::string_view>({"kind", "leaves", "spines", "hosts", "radix", "groups", "routers", "globals",
                                     "dimensions", "rate", "mtu", "delay", "host_rate", "host_delay", "workers"});
inline constexpr auto kLink = std::to_array<std::string_view>(
    {"ends", "rate", "overhead", "mtu", "cost", "delay", "loss", "duplicate", "reorder", "reorder_by", "corrupt"});
inline constexpr auto kHost =
    std::to_array<std::string_view>({"port", "rate", "delay", "mac", "silent", "fgfc", "fgfc_lost_every"});
inline constexpr auto kWorkload = std::to_array<std::string_view>(
    {"name",   "from",   "to",      "pattern",  "flows", "rate",    "interval",  "burst",
     "window", "length", "message", "transfer", "on",    "off",     "congestor", "ecn",
     "frames", "vlan",   "dscp",    "start",    "stop",  "hostile", "sources"});
inline constexpr auto kFault =
    std::to_array<std::string_view>({"at", "do", "link", "node", "worker", "for", "loss", "delay", "applications"});
inline constexpr auto kMeasure = std::to_array<std::string_view>({"from", "to", "interval", "windows"});
inline constexpr auto kWindow = std::to_array<std::string_view>({"name", "from", "to"});
inline constexpr auto kCosts = std::to_array<std::string_view>({"turn", "packet", "crossing"});
inline constexpr auto kExpect = std::to_array<std::string_view>({"workload",
                                                                 "window",
                                                                 "gap_at_most",
                                                                 "delivered_at_least",
                                                                 "throughput_at_least",
                                                                 "throughput_at_most",
                                                                 "share_at_least",
                                                                 "fairness_at_least",
                                                                 "latency_p50_at_most",
                                                                 "latency_p99_at_most",
                                                                 "completion_p99_at_most",
                                                                 "throughput_of_alone_at_least",
                                                                 "mean_of_alone_at_most",
                                                                 "p99_of_alone_at_most",
                                                                 "steady_fairness_at_least",
                                                                 "steady_throughput_at_least",
                                                                 "steady_throughput_at_most",
                                                                 "transfer_spread_at_most",
                                                                 "buffers_at_most",
                                                                 "injected_at_most",
                                                                 "held_flows_at_most",
                                                                 "held_flows_at_least",
                                                                 "beyond_credit_at_most",
                                                                 "late_frames_at_most",
                                                                 "lost_frames_at_most",
                                                                 "drops_at_most"});

}  // namespace heddle::sim::scenario_keys
