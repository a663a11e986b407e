// SPDX-License-Identifier: Apache-2.0
// The hosts of a lab: their interfaces, addresses and commands.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/lab_file.h"
#include "config/topology_builder.h"
#include "config/yaml_value.h"

namespace heddle {

class LabHostReader {
 public:
  explicit LabHostReader(const YamlValue& root) : root_(root) {}

  // The defaults of all hosts; before add().
  void read_kind(const YamlValue& value);
  void add(const YamlValue& value);
  // One of a planned fabric, without keys of its own; add() with a value of this name gives it some.
  void add_planned(const std::string& name, const YamlValue& plan);
  bool has(const std::string& name) const { return indices_.contains(name); }

  // The interface that `end` names is plugged into this port of a switch.
  void plug(const YamlValue& end_value, const PortReference& end, LinkEnd port);

  // After all links and port settings: addresses and the rest of the interfaces' keys.
  std::vector<LabHost> finish(const TopologyBuilder& builder);

 private:
  struct Source {
    LabHost host;
    YamlValue value;
    std::vector<YamlValue> plugs;  // by interface: the end of the link
  };

  void read_interfaces(Source& source, const TopologyBuilder& builder);
  void read_interface(const YamlValue& value, const YamlValue& plug, const TopologyBuilder& builder,
                      LabInterface& interface);
  void read_addresses(const YamlValue& value, const YamlValue& plug, bool has_ipv6, LabInterface& interface);
  void read_exec(const YamlValue& value, std::vector<std::string>& exec) const;
  void check_unique(const YamlValue& at, const std::string& text);

  YamlValue root_;
  std::vector<std::string> kind_exec_;
  bool kind_hostd_ = false;
  std::vector<Source> sources_;
  std::map<std::string, size_t, std::less<>> indices_;
  std::map<std::string, std::string> taken_;  // address or MAC -> where it stands
  uint32_t interfaces_met_ = 0;
  bool automatic_ = true;
  bool too_many_told_ = false;
};

}  // namespace heddle
