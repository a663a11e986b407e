// SPDX-License-Identifier: Apache-2.0
// What waits in the queues of each port, the most that did, and what they have dropped: by traffic class, and where
// hosts send by group of applications.
#include "telemetry/inspect.h"

namespace heddle {

namespace {

void add_mark(Json& row, const std::string& prefix, const QueueMark& queue) {
  row[prefix + "bytes"] = queue.bytes;
  row[prefix + "most_bytes"] = queue.most_bytes;
  row[prefix + "dropped_frames"] = queue.dropped_frames;
}

// Of a port, at one moment.
struct PortMarks {
  std::array<QueueMark, kClassesMax> in, out;  // by position of the class
  std::array<QueueMark, kGroups> groups;       // none at fabric ports

  void take(const Port& port, const std::vector<TrafficClass>& classes) {
    for (uint8_t position = 0; position < classes.size(); ++position) {
      in[position] = port.input.queues.of_class(classes[position].ftag);
      out[position] = port.output.scheduler.queue_of(position);
    }
    for (uint8_t group = 0; !port.is_fabric() && group < port.input.arbiter.groups(); ++group)
      groups[group] = port.input.queues.of_group(group);
  }
};

void add_classes(const SwitchProcess& process, const PortMarks& marks, const Json& place, Json& rows) {
  const std::vector<TrafficClass>& classes = process.topology().classes;
  for (uint8_t position = 0; position < classes.size(); ++position) {
    Json row = place;
    row["class"] = classes[position].name;
    add_mark(row, "in_", marks.in[position]);
    add_mark(row, "out_", marks.out[position]);
    rows.push_back(std::move(row));
  }
}

// Those that anything is to be told of.
void add_groups(const ApplicationPolicy& policy, const PortMarks& marks, const Json& place, Json& rows) {
  for (uint8_t group = 0; group < kGroups; ++group) {
    const QueueMark& queue = marks.groups[group];
    if (queue.most_bytes == 0 && queue.dropped_frames == 0) continue;
    Json row = place;
    row["group"] = group;
    if (!policy.groups[group].name.empty()) row["name"] = policy.groups[group].name;
    add_mark(row, "", queue);
    rows.push_back(std::move(row));
  }
}

}  // namespace

Json show_queues(const SwitchProcess& process, const ShowRequest& request) {
  Json classes = Json::array(), groups = Json::array();
  for_each_node(process, request, [&](const ProcessNode& node) {
    if (node.node == nullptr) return;
    const TopologyNode& about = description(process, node);
    for_each_port(node, request, [&](PortIndex index) {
      const Json place{{"node", about.name}, {"port", about.ports[index].name}};
      PortMarks marks{};
      look_at_port(process, node, index, [&](const Port& port) { marks.take(port, process.topology().classes); });
      add_classes(process, marks, place, classes);
      if (node.settings.applications.configured) add_groups(node.settings.applications, marks, place, groups);
    });
  });
  return {{"classes", std::move(classes)}, {"groups", std::move(groups)}};
}

}  // namespace heddle
