// SPDX-License-Identifier: Apache-2.0
#include "config/settings_reader.h"

#include "config/field_reader.h"
#include "config/units.h"

namespace heddle {

namespace {

void check_settings(const YamlValue& value, const FabricSettings& settings) {
  if (settings.input_drop_mark_packets >= settings.link_credits) {
    // One of the two was given; name the one that stands in the file.
    if (value.has("input_drop_mark") || !value.has("link_credits")) {
      value["input_drop_mark"].problem(std::to_string(settings.input_drop_mark_packets),
                                       "less than link_credits, " + std::to_string(settings.link_credits));
    } else {
      value["link_credits"].problem(std::to_string(settings.link_credits),
                                    "more than input_drop_mark, " + std::to_string(settings.input_drop_mark_packets));
    }
  }
  if (settings.ack_idle_ns > settings.ack_busy_ns) {
    value["ack_idle"].problem(format_duration(settings.ack_idle_ns),
                              "up to ack_busy, " + format_duration(settings.ack_busy_ns));
  }
  if (settings.ack_busy_ns > settings.ack_hard_ns) {
    value["ack_busy"].problem(format_duration(settings.ack_busy_ns),
                              "up to ack_hard, " + format_duration(settings.ack_hard_ns));
  }
}

// The class at this position of the list.
TrafficClass read_class(const YamlValue& value, size_t position, Nanos life_ns, FieldReader& reader) {
  TrafficClass result;
  result.ftag = static_cast<uint8_t>(position);
  result.pcp_set = 0;
  result.life_ns = life_ns;
  if (!value.is(YamlNode::Kind::kMap)) {
    value.problem("a map");
    return result;
  }
  reader.read(value, result);
  for_each_field<TrafficClass>([&](const auto& field) {
    if (value.has(field.key) && !is_meant_in(result, field))
      value[field.key].problem("a class that is not lossless", "lossless: true beside it");
  });
  return result;
}

}  // namespace

void read_settings(const YamlValue& value, FabricSettings& settings) {
  const size_t errors_before = value.errors_so_far();
  FieldReader().read(value, settings);
  if (value.errors_so_far() == errors_before) check_settings(value, settings);
}

std::vector<TrafficClass> read_classes(const YamlValue& value, Nanos life_ns) {
  std::vector<TrafficClass> classes;
  FieldReader reader;
  uint16_t pcp_named = 0;
  if (value.present() && value.expect_list("classes")) {
    const std::vector<YamlValue> items = value.items();
    if (items.empty() || items.size() > kClassesMax) {
      value.problem(std::to_string(items.size()) + " classes", "1 to " + std::to_string(kClassesMax));
    }
    for (size_t i = 0; i < items.size() && i < kClassesMax; ++i) {
      classes.push_back(read_class(items[i], i, life_ns, reader));
      pcp_named |= classes.back().pcp_set;
    }
  }
  if (classes.empty()) {
    classes.emplace_back();
    classes[0].life_ns = life_ns;
  }
  classes[0].pcp_set = static_cast<uint16_t>(classes[0].pcp_set | (0xff & ~pcp_named));
  return classes;
}

const TrafficClass* find_class(const YamlValue& value, const std::vector<TrafficClass>& classes) {
  std::string name;
  if (!value.read_text(name)) return nullptr;
  std::vector<std::string_view> names;
  for (const TrafficClass& traffic_class : classes) {
    if (traffic_class.name == name) return &traffic_class;
    names.push_back(traffic_class.name);
  }
  value.problem("no class " + printable(name), suggested_name(value, name, names, joined(names)));
  return nullptr;
}

}  // namespace heddle
