// SPDX-License-Identifier: Apache-2.0
// A scenario: a fabric, what its hosts send, what breaks when, what is measured and what must come out.
// docs/simulator.md tells the keys of its file.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config_errors.h"
#include "sim/engine/setup.h"
#include "sim/hosts/hostile.h"
#include "sim/hosts/traffic.h"

namespace heddle::sim {

struct Workload {
  std::string name;
  std::vector<uint16_t> flows;  // ids
  bool congestor = false;       // not there when others are measured alone
  uint64_t offered_bps = 0;     // of each flow, 0 = as fast as it can
};

struct HostileWorkload {
  std::string name;
  std::vector<uint16_t> hosts;
  HostileOptions options;
};

enum class FaultAction : uint8_t {
  link_down,
  link_up,
  node_crash,
  node_start,
  worker_pause,
  link_loss,
  link_delay,
  regroup
};

struct ScenarioFault {
  Nanos at_ns = 0;  // from the start
  FaultAction action = FaultAction::link_down;
  uint32_t link = 0;
  uint16_t node = 0;
  WorkerIndex worker = 0;
  Nanos for_ns = 0;  // link_down, node_crash: whole again after it; 0 = it stays so. worker_pause: how long
  uint32_t loss_ppm = 0;
  Nanos delay_ns = 0;
  ApplicationPolicy applications;  // regroup: the node's, from then on (A9)
};

// What an expectation looks at; `limit` is in the unit of its kind.
enum class Measure : uint8_t {
  gap_at_most,          // ns, longest between two deliveries of any flow
  delivered_at_least,   // ppm of the frames sent
  throughput_at_least,  // bits per second, all flows together
  throughput_at_most,
  share_at_least,          // ppm of what is offered, every flow
  fairness_at_least,       // ppm: Jain's index of what the flows got
  latency_p50_at_most,     // ns
  latency_p99_at_most,     // ns
  completion_p99_at_most,  // ns, of messages
  // Of what it is in the same window without the congestors, ppm; latency is of messages where there are any.
  throughput_of_alone_at_least,
  mean_of_alone_at_most,
  p99_of_alone_at_most,
  steady_fairness_at_least,    // ppm: Jain's index in the interval where it is least
  steady_throughput_at_least,  // bits per second, all flows together, in the interval where it is least
  steady_throughput_at_most,   // and in the one where it is most
  transfer_spread_at_most,     // ppm: slowest over fastest of the flows' transfers
  buffers_at_most,             // ppm of the buffers of a link and channel, at the fullest, whatever the workload
  injected_at_most,            // bytes of an edge port's applications in the fabric (A6), where they were most
  held_flows_at_most,          // that hosts are told how much to send of (G1), at the end of any interval
  held_flows_at_least,
  beyond_credit_at_most,  // bytes that a host sends of one beyond that, once it has heard of it
  late_frames_at_most,    // delivered behind a later one
  lost_frames_at_most,
  drops_at_most,  // of the whole fabric, in all
};
constexpr std::string_view kMeasureNames[] = {"gap_at_most",
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
                                              "drops_at_most"};
// A larger value is the better one.
bool is_lower_bound(Measure measure);
// Of the intervals that lie in the window.
inline bool is_of_intervals(Measure measure) {
  return kMeasureNames[static_cast<size_t>(measure)].starts_with("steady_");
}
// Compared with the same workload without the congestors.
bool is_of_alone(Measure measure);

struct Expectation {
  std::string workload;  // empty = all flows
  size_t window = 0;
  Measure measure = Measure::gap_at_most;
  uint64_t limit = 0;
  std::string text;  // of the limit, as it stands in the file
};

struct Window {
  std::string name;                   // empty if the file names none
  Nanos from_ns = 0, to_ns = kNever;  // from the start; read: from < to <= duration
};

// The same switch with parts switched off, as its configuration could say; overrules the classes of a file.
enum class Baseline : uint8_t {
  none,
  drop_tail,
  credits_only,
  pause_only,
  no_groups,
  no_limits,
  no_shapers,
  fixed_paths,
  random_paths,
  no_redirects,
  shortest_paths,
  valiant,
  no_fgfc
};
constexpr std::array<std::string_view, 13> kBaselineNames = {
    "none",        "drop-tail",    "credits-only", "pause-only",     "no-groups", "no-limits", "no-shapers",
    "fixed-paths", "random-paths", "no-redirects", "shortest-paths", "valiant",   "no-fgfc"};

struct ScenarioVariant {
  Baseline baseline = Baseline::none;
  uint32_t slower = 1;                // all rates are divided by it, all delays and times multiplied
  uint32_t workers = 0;               // of each node, as far as it has ports; 0 = as the file says
  std::optional<uint64_t> seed = {};  // in place of the file's
};

struct Scenario {
  std::string name;
  std::string about;  // what it shows, for people; may be empty
  Nanos duration_ns = 100 * kMillisecond;
  std::vector<Window> windows;           // at least one; in order, none overlaps another
  Nanos interval_ns = 1 * kMillisecond;  // of samples
  SimSetup setup;
  std::vector<std::vector<uint16_t>> host_vlans;
  std::vector<HostFlow> flows;
  std::vector<Workload> workloads;
  std::vector<HostileWorkload> hostile;
  std::vector<ScenarioFault> faults;
  std::vector<Expectation> expectations;
  ScenarioVariant variant;
};

// Both: nullopt if anything is wrong; then `errors` has grown by every problem found, in the order of the file.
std::optional<Scenario> load_scenario(const std::string& path, ConfigErrors& errors,
                                      const ScenarioVariant& variant = {});
std::optional<Scenario> parse_scenario(const std::string& text, const std::string& file_name, ConfigErrors& errors,
                                       const ScenarioVariant& variant = {});

}  // namespace heddle::sim
