// SPDX-License-Identifier: Apache-2.0
// What `heddle show` shows, as JSON. Called by the control thread; each looks at a worker's tables only in that
// worker's thread, between its turns, and for a bounded time at once.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "io/switch_process.h"
#include "telemetry/json.h"

namespace heddle {

constexpr uint32_t kFlowsAtOnce = 1024;  // rows of one answer

struct ShowRequest {
  std::optional<uint16_t> node;   // index in the topology; none = all
  std::optional<PortIndex> port;  // only with a node
  uint32_t offset = 0;            // flows: paging, the busiest first
  uint32_t limit = 64;
  uint32_t interval_ms = 250;  // flows, applications, hosts, shapers: rates are measured over so long
  bool all = false;            // flows: those that rest, too
};

Json show_nodes(const SwitchProcess& process, const ShowRequest& request);
Json show_ports(const SwitchProcess& process, const ShowRequest& request);
Json show_links(const SwitchProcess& process, const ShowRequest& request);
Json show_congestion(const SwitchProcess& process, const ShowRequest& request);
Json show_tables(const SwitchProcess& process, const ShowRequest& request);
Json show_pauses(const SwitchProcess& process, const ShowRequest& request);
Json show_load(const SwitchProcess& process, const ShowRequest& request);
Json show_queues(const SwitchProcess& process, const ShowRequest& request);
Json show_drops(const SwitchProcess& process, const ShowRequest& request);
Json show_workers(const SwitchProcess& process, const ShowRequest& request);
Json show_stations(const SwitchProcess& process, const ShowRequest& request);
Json show_routes(const SwitchProcess& process, const ShowRequest& request);

// Rates: what is there now is remembered, and what is called after the interval tells what has come since.
std::function<Json()> show_flows(const SwitchProcess& process, const ShowRequest& request);
std::function<Json()> show_applications(const SwitchProcess& process, const ShowRequest& request);
std::function<Json()> show_shapers(const SwitchProcess& process, const ShowRequest& request);
std::function<Json()> show_hosts(const SwitchProcess& process, const ShowRequest& request);

// 02:00:00:00:00:0a
std::string mac_text(uint64_t mac);
// Of 4 or 16 bytes, as `layer3` is 4 or 6.
std::string address_text(const uint8_t* address, unsigned layer3);

}  // namespace heddle
