// SPDX-License-Identifier: Apache-2.0
#include "config/settings_reader.h"

#include <array>

#include "config/config_keys.h"
#include "config/units.h"
#include "heddle/frames.h"

namespace heddle {

namespace {

struct DurationSetting {
  std::string_view key;
  Nanos FabricSettings::*member;
  Nanos min;
  Nanos max;
};

struct CountSetting {
  std::string_view key;
  uint32_t FabricSettings::*member;
  uint64_t min;
  uint64_t max;
};

constexpr DurationSetting kDurationSettings[] = {
    {"hello_interval", &FabricSettings::hello_interval_ns, 100 * kMicrosecond, 10 * kSecond},
    {"probe_base", &FabricSettings::probe_base_ns, 100 * kMicrosecond, 10 * kSecond},
    {"credit_interval", &FabricSettings::credit_interval_ns, 10 * kMicrosecond, 1 * kSecond},
    {"station_age", &FabricSettings::station_age_ns, 1 * kSecond, 86400 * kSecond},
    {"pause_watchdog", &FabricSettings::pause_watchdog_ns, 1 * kMillisecond, 10 * kSecond},
    {"ack_idle", &FabricSettings::ack_idle_ns, 0, 10 * kMillisecond},
    {"ack_busy", &FabricSettings::ack_busy_ns, 0, 10 * kMillisecond},
    {"ack_hard", &FabricSettings::ack_hard_ns, 0, 10 * kMillisecond},
};

constexpr CountSetting kCountSettings[] = {
    {"hellos_missed", &FabricSettings::hellos_missed, 2, 100},
    {"flow_ids", &FabricSettings::flow_ids, 1, 65535},
    {"link_credits", &FabricSettings::link_credits, 16, 65535},
    {"lossless_credits", &FabricSettings::lossless_credits, kLosslessCreditsMin, 65535},
    {"input_drop_mark", &FabricSettings::input_drop_mark_packets, 8, 65534},
    {"output_room", &FabricSettings::output_room_buffers, 1, 65535},
    {"orphans_max", &FabricSettings::orphans_max, 1, 1'000'000},
    {"ack_records", &FabricSettings::ack_records_max, 1, HEDDLE_ACK_RECORDS_MAX},
};

constexpr Nanos kLifeMin = HEDDLE_LIFE_UNIT_NS;
constexpr size_t kClassNameBytes = 31;

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

// Classes already read, to tell what is taken.
struct Taken {
  std::array<std::string, 8> pcp;  // name of the class that has it; empty = none yet
  std::array<std::string, 64> dscp;
  std::array<std::string, kClassesMax> ftag;
  uint16_t pcp_named = 0;
};

// A list of numbers below Values as bits, each of which only one class may have.
template <size_t Values>
uint64_t read_value_set(const YamlValue& value, const std::string& class_name,
                        std::array<std::string, Values>& owners) {
  uint64_t set = 0;
  if (!value.expect_list("numbers")) return set;
  for (const YamlValue& item : value.items()) {
    uint32_t number = 0;
    if (!item.read_integer(number, 0, Values - 1)) continue;
    if (!owners[number].empty()) {
      item.problem("one that no class has yet (class " + owners[number] + ")");
      continue;
    }
    owners[number] = class_name;
    set |= uint64_t{1} << number;
  }
  return set;
}

uint8_t read_match(const YamlValue& value, uint8_t otherwise) {
  static constexpr auto kNames = std::to_array<std::string_view>({"mac", "ip", "ports", "flow_label"});
  static constexpr uint8_t kFields[] = {0, kMatchIp, kMatchPorts, kMatchFlowLabel};  // MACs always tell flows apart
  if (!value.present() || !value.expect_list(joined(kNames))) return otherwise;
  uint8_t match = 0;
  for (const YamlValue& item : value.items()) {
    size_t field = 0;
    if (item.read_choice(field, kNames)) match |= kFields[field];
  }
  return match;
}

void read_class_name(const YamlValue& value, const std::vector<TrafficClass>& others, std::string& out) {
  const std::string allowed = "a name of letters, digits, - and _, at most 31";
  if (!value.require(allowed)) return;
  if (!is_name(value.text(), kClassNameBytes)) return value.problem(allowed);
  out = value.text();
  for (const TrafficClass& other : others) {
    if (other.name == out) value.problem(out + " a second time", "a name that no other class has");
  }
}

TrafficClass read_class(const YamlValue& value, const std::vector<TrafficClass>& others, Nanos life_ns, Taken& taken) {
  TrafficClass result;
  result.life_ns = life_ns;
  result.pcp_set = 0;
  if (!value.is(YamlNode::Kind::kMap)) {
    value.problem("a map");
    return result;
  }
  value.expect_map(config_keys::kClass);
  read_class_name(value["name"], others, result.name);
  result.ftag = static_cast<uint8_t>(others.size());
  const YamlValue ftag = value["ftag"];
  ftag.read_integer(result.ftag, 0, kClassesMax - 1);
  if (!taken.ftag[result.ftag].empty()) {
    ftag.problem(std::to_string(result.ftag) + ", the FTAG of class " + taken.ftag[result.ftag],
                 "one that no class has yet");
  }
  taken.ftag[result.ftag] = result.name;
  result.match = read_match(value["match"], result.match);
  value["flow_channels"].read_bool(result.flow_channels);
  value["lossless"].read_bool(result.lossless);
  value["congestion_control"].read_bool(result.congestion_control);
  value["flow_credits"].read_bool(result.flow_credits);
  value["ecn"].read_bool(result.ecn);
  if (value["link_retry"].read_bool(result.link_retry) && !result.lossless)
    value["link_retry"].problem("a class that is not lossless", "lossless: true beside it");
  result.pcp_set = static_cast<uint16_t>(read_value_set(value["pcp"], result.name, taken.pcp));
  taken.pcp_named |= result.pcp_set;
  result.dscp_set = read_value_set(value["dscp"], result.name, taken.dscp);
  value["life"].read_duration(result.life_ns, kLifeMin, kLifeMaxNs);
  uint64_t queue_bytes = result.flow_queue_bytes;
  value["flow_queue"].read_size(queue_bytes, 16 * 1024, 64 * 1024 * 1024);
  result.flow_queue_bytes = static_cast<uint32_t>(queue_bytes);
  return result;
}

}  // namespace

void read_settings(const YamlValue& value, FabricSettings& settings, Nanos& life_ns) {
  const size_t errors_before = value.errors_so_far();
  value.expect_map(config_keys::kSettings);
  for (const DurationSetting& setting : kDurationSettings) {
    value[setting.key].read_duration(settings.*setting.member, setting.min, setting.max);
  }
  for (const CountSetting& setting : kCountSettings) {
    value[setting.key].read_integer(settings.*setting.member, setting.min, setting.max);
  }
  value["life"].read_duration(life_ns, kLifeMin, kLifeMaxNs);
  if (value.errors_so_far() == errors_before) check_settings(value, settings);
}

std::vector<TrafficClass> read_classes(const YamlValue& value, Nanos life_ns) {
  std::vector<TrafficClass> classes;
  Taken taken;
  if (value.present() && value.expect_list("classes")) {
    const std::vector<YamlValue> items = value.items();
    if (items.empty() || items.size() > kClassesMax) {
      value.problem(std::to_string(items.size()) + " classes", "1 to " + std::to_string(kClassesMax));
    }
    for (size_t i = 0; i < items.size() && i < kClassesMax; ++i) {
      classes.push_back(read_class(items[i], classes, life_ns, taken));
    }
  }
  if (classes.empty()) {
    classes.emplace_back();
    classes[0].life_ns = life_ns;
  }
  classes[0].pcp_set = static_cast<uint16_t>(classes[0].pcp_set | (0xff & ~taken.pcp_named));
  return classes;
}

}  // namespace heddle
