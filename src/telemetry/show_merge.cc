// SPDX-License-Identifier: Apache-2.0
#include "telemetry/show_merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace heddle {

namespace {

// Added up where several processes say it.
const std::set<std::string> kCounts{
    "buffers", "buffers_in_use", "control_buffers", "control_buffers_in_use", "known", "moving", "held"};

std::string text_of(const Json& row, const char* key) { return row.contains(key) ? row[key].get<std::string>() : ""; }

// The same link, seen from the other end's process.
void join_link(Json& link, const Json& other) {
  for (const char* end : {"a_end", "b_end"})
    if (link[end].is_null()) link[end] = other[end];
  const bool both_up = link["up"].get<bool>() && other["up"].get<bool>();
  // The end that hears something knows more than the one that hears nothing.
  const bool other_knows = link["up"].get<bool>() || link["reason"] == "no hello" || link["reason"] == "no carrier";
  if (!other["up"].get<bool>() && other_knows)
    for (const char* key : {"reason", "last_reason", "for_ns"}) link[key] = other[key];
  link["up"] = both_up;
}

void add_rows(Json& merged, const std::string& key, const Json& rows, const Json& fabric, bool several) {
  for (Json row : rows) {
    if (several && row.is_object()) row["fabric"] = fabric;
    if (key == "links") {
      bool known = false;
      for (Json& link : merged[key]) {
        known = link["a"] == row["a"] && link["b"] == row["b"] && (!several || link["fabric"] == fabric);
        if (!known) continue;
        join_link(link, row);
        break;
      }
      if (known) continue;
    }
    merged[key].push_back(std::move(row));
  }
}

}  // namespace

Json merge_replies(const std::vector<Json>& replies) {
  std::set<std::string> fabrics;
  for (const Json& reply : replies) fabrics.insert(text_of(reply, "fabric"));
  Json merged = Json::object();
  merged["processes"] = Json::array();
  for (const Json& reply : replies) {
    Json process = Json::object();
    for (const auto& [key, value] : reply.items()) {
      if (value.is_array()) {
        if (!merged.contains(key)) merged[key] = Json::array();
        add_rows(merged, key, value, reply.value("fabric", Json()), fabrics.size() > 1);
        continue;
      }
      process[key] = value;
      if (!merged.contains(key))
        merged[key] = value;
      else if (kCounts.contains(key) && value.is_number() && merged[key].is_number())
        merged[key] = merged[key].get<uint64_t>() + value.get<uint64_t>();
    }
    merged["processes"].push_back(std::move(process));
  }
  return merged;
}

void cut_flows(Json& merged, uint32_t offset, uint32_t limit) {
  if (!merged.contains("flows")) return;
  std::vector<Json> flows = merged["flows"];
  std::stable_sort(flows.begin(), flows.end(),
                   [](const Json& a, const Json& b) { return a["offered_bps"] > b["offered_bps"]; });
  const size_t first = std::min<size_t>(offset, flows.size());
  const size_t last = std::min<size_t>(first + limit, flows.size());
  merged["offset"] = offset;
  merged["flows"] = Json::array();
  for (size_t i = first; i < last; ++i) merged["flows"].push_back(std::move(flows[i]));
}

Json with_fabric_names(const Json& merged) {
  Json shown = merged;
  for (auto& [key, rows] : shown.items()) {
    if (!rows.is_array() || key == "processes") continue;
    for (Json& row : rows) {
      const std::string fabric = row.is_object() ? text_of(row, "fabric") : "";
      for (const char* name : {"node", "a", "b"})
        if (!fabric.empty() && row.contains(name)) row[name] = fabric + "/" + text_of(row, name);
    }
  }
  return shown;
}

void add_paths(Json& merged) {
  if (!merged.contains("flows") || !merged.contains("transit")) return;
  std::map<std::string, const Json*> hops;  // by "fabric leaf1:p1 7": where a flow comes in
  const auto key = [](const Json& row, const std::string& port, const Json& flow) {
    return text_of(row, "fabric") + " " + port + " " + flow.dump();
  };
  for (const Json& row : merged["transit"])
    hops[key(row, text_of(row, "node") + ":" + text_of(row, "port"), row["flow_id"])] = &row;
  for (Json& flow : merged["flows"]) {
    Json path = Json::array({flow["node"]});
    const Json* at = &flow;
    while (at->contains("next") && path.size() <= hops.size() + 1) {
      const std::string next = text_of(*at, "next");
      path.push_back(next.substr(0, next.find(':')));
      const auto hop = hops.find(key(flow, next, (*at)["by_flow_id"]));
      if (hop == hops.end()) break;
      at = hop->second;
    }
    if (path.size() > 1) flow["path"] = std::move(path);
  }
}

}  // namespace heddle
