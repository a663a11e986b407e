// SPDX-License-Identifier: Apache-2.0
#include "apps/fabric_of_file.h"

#include "config/lab_file.h"
#include "config/node_file.h"
#include "config/topology_file.h"
#include "sim/scenario/scenario.h"

namespace heddle {

std::optional<Topology> load_fabric(FileKind kind, const std::string& file, ConfigErrors& errors) {
  switch (kind) {
    case FileKind::node:
      if (const auto process = load_node_file(file, errors)) return process->topology;
      break;
    case FileKind::topology:
      return load_topology(file, errors);
    case FileKind::lab:
      if (const auto lab = load_lab(file, errors)) return lab->topology;
      break;
    case FileKind::scenario:
      if (const auto scenario = sim::load_scenario(file, errors)) return scenario->setup.topology;
      break;
  }
  return std::nullopt;
}

}  // namespace heddle
