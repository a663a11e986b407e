// SPDX-License-Identifier: Apache-2.0
// Every field of traffic classes and of fabric settings, once. The readers of files, the keys that files may have, the
// hash that both ends of a link compare (K1), and the tests that hold schema and pages to the code go by these lists; a
// member that is in none of them does not compile.
#pragma once

#include <array>
#include <tuple>
#include <type_traits>

#include "heddle/frames.h"
#include "topology/field.h"

namespace heddle {

constexpr Nanos kLifeMinNs = HEDDLE_LIFE_UNIT_NS;

inline constexpr ChoiceSetKind::Choice kMatchChoices[] = {
    {"mac", 0},  // MACs always tell flows apart
    {"ip", kMatchIp}, {"ports", kMatchPorts}, {"flow_label", kMatchFlowLabel}, {"dscp", kMatchDscp},
};

inline constexpr std::string_view kPathPolicyNames[] = {"fixed",    "random",   "least-loaded",
                                                        "shortest", "adaptive", "valiant"};

template <typename Owner>
inline constexpr auto kFields = nullptr;

template <>
inline constexpr auto kFields<TrafficClass> = std::tuple{
    Field{"name", &TrafficClass::name, NameKind{31}},
    Field{"ftag", &TrafficClass::ftag, NumberKind{kClassesMax - 1}},
    Field{"match", &TrafficClass::match, ChoiceSetKind{kMatchChoices}},
    Field{"flow_channels", &TrafficClass::flow_channels, SwitchKind{}},
    Field{"lossless", &TrafficClass::lossless, SwitchKind{}},
    Field{"congestion_control", &TrafficClass::congestion_control, SwitchKind{}},
    Field{"ecn", &TrafficClass::ecn, SwitchKind{}},
    Field{"link_retry", &TrafficClass::link_retry, SwitchKind{.only_with = &TrafficClass::lossless}},
    Field{"flow_credits", &TrafficClass::flow_credits, SwitchKind{}},
    Field{"pcp", &TrafficClass::pcp_set, NumberSetKind{7}},
    Field{"dscp", &TrafficClass::dscp_set, NumberSetKind{63}},
    Field{"rewrite_dscp", &TrafficClass::rewrite_dscp, RewriteKind{63}},
    Field{"rewrite_pcp", &TrafficClass::rewrite_pcp, RewriteKind{7}},
    Field{"path", &TrafficClass::path, ChoiceKind{kPathPolicyNames}},
    Field{"life", &TrafficClass::life_ns, DurationKind{kLifeMinNs, kLifeMaxNs}},
    Field{"flow_queue", &TrafficClass::flow_queue_bytes, SizeKind{16 * 1024, 64 * 1024 * 1024}},
};

template <>
inline constexpr auto kFields<FabricSettings> = std::tuple{
    Field{"hello_interval", &FabricSettings::hello_interval_ns, DurationKind{100 * kMicrosecond, 10 * kSecond}},
    Field{"hellos_missed", &FabricSettings::hellos_missed, CountKind{2, 100}},
    Field{"probe_base", &FabricSettings::probe_base_ns, DurationKind{100 * kMicrosecond, 10 * kSecond}},
    Field{"credit_interval", &FabricSettings::credit_interval_ns, DurationKind{10 * kMicrosecond, 1 * kSecond}},
    Field{"station_age", &FabricSettings::station_age_ns, DurationKind{1 * kSecond, 86400 * kSecond}},
    Field{"flow_ids", &FabricSettings::flow_ids, CountKind{1, 65535}},
    Field{"link_credits", &FabricSettings::link_credits, CountKind{16, 65535}},
    Field{"lossless_credits", &FabricSettings::lossless_credits, CountKind{kLosslessCreditsMin, 65535}},
    Field{"input_drop_mark", &FabricSettings::input_drop_mark_packets, CountKind{8, 65534}},
    Field{"output_room", &FabricSettings::output_room_buffers, CountKind{1, 65535}},
    Field{"orphans_max", &FabricSettings::orphans_max, CountKind{1, 1'000'000}},
    Field{"pause_watchdog", &FabricSettings::pause_watchdog_ns, DurationKind{1 * kMillisecond, 10 * kSecond}},
    Field{"fgfc_timer", &FabricSettings::fgfc_timer_ns, DurationKind{1 * kMillisecond, 10 * kSecond}},
    Field{"ack_records", &FabricSettings::ack_records_max, CountKind{1, HEDDLE_ACK_RECORDS_MAX}},
    Field{"ack_idle", &FabricSettings::ack_idle_ns, DurationKind{0, 10 * kMillisecond}},
    Field{"ack_busy", &FabricSettings::ack_busy_ns, DurationKind{0, 10 * kMillisecond}},
    Field{"ack_hard", &FabricSettings::ack_hard_ns, DurationKind{0, 10 * kMillisecond}},
    Field{"life", &FabricSettings::life_ns, DurationKind{kLifeMinNs, kLifeMaxNs}},
};

template <typename Owner, typename Visitor>
constexpr void for_each_field(Visitor&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, kFields<Owner>);
}

template <typename Owner>
constexpr auto keys_of() {
  return std::apply([](const auto&... field) { return std::array{field.key...}; }, kFields<Owner>);
}

// False where a file may not give the field of this one, or has no way to.
template <typename Owner, typename Value, typename Kind>
constexpr bool is_meant_in(const Owner& owner, const Field<Owner, Value, Kind>& field) {
  if constexpr (std::is_same_v<Kind, SwitchKind>) {
    return field.kind.only_with == nullptr || owner.*field.kind.only_with;
  } else if constexpr (std::is_same_v<Kind, RewriteKind>) {
    return owner.*field.member != kAsSent;
  } else {
    return true;
  }
}

template <typename Owner>
constexpr bool no_member_twice() {
  bool once = true;
  for_each_field<Owner>([&](const auto& one) {
    int found = 0;
    for_each_field<Owner>([&](const auto& other) {
      if constexpr (std::is_same_v<decltype(one.member), decltype(other.member)>) found += one.member == other.member;
    });
    once = once && found == 1;
  });
  return once;
}

template <typename Owner>
constexpr bool kListsEveryMember =
    kHasMembers<Owner, std::tuple_size_v<decltype(kFields<Owner>)>>&& no_member_twice<Owner>();
static_assert(kListsEveryMember<TrafficClass>, "a member of TrafficClass is not in its list of fields, or twice");
static_assert(kListsEveryMember<FabricSettings>, "a member of FabricSettings is not in its list of fields, or twice");

}  // namespace heddle
