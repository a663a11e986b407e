// SPDX-License-Identifier: Apache-2.0
// Plays a scenario and tells what came of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "node/counters.h"
#include "sim/scenario/scenario.h"

namespace heddle::sim {

struct TransferResult {
  std::string flow;
  std::optional<Nanos> completion_ns;  // from its start to its last delivery; empty: not all of it has come
};

// Of one workload, over one window. Frames, latencies and messages count by when they were sent, whenever they came;
// throughput, fairness and gaps by when frames came. Transfers are of the whole run.
struct WorkloadResult {
  std::string name;
  size_t window = 0;
  uint32_t flows = 0;
  uint64_t sent_frames = 0, delivered_frames = 0, late_frames = 0, lost_frames = 0;
  uint64_t throughput_bps = 0;  // delivered, with what a frame costs on a wire
  std::optional<uint32_t>
      least_share_ppm;                   // of what is offered, of the flow that got least; of those that offer a rate
  std::optional<uint32_t> fairness_ppm;  // Jain's index of what flows got; of two and more
  std::optional<uint32_t> steady_fairness_ppm;  // the same in the interval where it is least
  std::vector<TransferResult> transfers;        // since the start, if its flows send so much and no more; by flow
  LatencyHistogram transfer_completion;         // of those that are done
  std::optional<uint32_t> transfer_spread_ppm;  // slowest over fastest, once all are done
  Nanos longest_gap_ns = 0, gap_at_ns = 0;      // between two deliveries of any flow; from the start
  std::string gap_flow;
  LatencyHistogram latency, completion;
  uint64_t messages_done = 0, messages_broken = 0;
  uint64_t marked_frames = 0;  // over the whole run

  // Of messages where there are any, else of transfers.
  const LatencyHistogram& completions() const { return completion.count() != 0 ? completion : transfer_completion; }
  // Which of its times say how long it takes: of messages where there are any, of transfers, else of frames.
  using Times = LatencyHistogram WorkloadResult::*;
  Times times() const {
    if (completion.count() != 0) return &WorkloadResult::completion;
    return transfer_completion.count() != 0 ? &WorkloadResult::transfer_completion : &WorkloadResult::latency;
  }
};

struct QueueSample {
  Nanos at_ns;              // from the start
  uint32_t edge_bytes;      // in the longest queue of an edge port
  uint32_t buffers_ppm;     // of a link's channel, where and when it was fullest since the last one
  uint64_t injected_bytes;  // of the edge port that had most in the fabric (A6), since the last one
  uint32_t held_flows;      // that hosts are told how much to send of (G1)
  uint64_t beyond_credit;   // bytes that a host has sent of one of them beyond that, the most since the last one
};

struct ScenarioSample {  // of one workload in one interval
  Nanos at_ns;           // its end, from the start
  uint32_t workload;
  uint64_t sent_bps, delivered_bps;
};

struct ExpectationResult {
  Expectation expectation;
  std::optional<uint64_t> value;  // empty: there was no frame to measure, and it is not met
  bool met = false;
};

struct ScenarioResult {
  std::vector<WorkloadResult> workloads;
  std::vector<ScenarioSample> samples;
  std::vector<QueueSample> queues;
  std::vector<std::vector<uint64_t>> flow_bps;  // by interval and flow, if it was asked for
  std::vector<ExpectationResult> expectations;
  PortCounters total;
  uint64_t packet_hops = 0, turns = 0, checks = 0;
  double seconds = 0;  // of processor time
  std::string broken;  // the checker's word, if it was asked and something was
  bool passed() const;
};

struct ScenarioOptions {
  bool check = false;                         // with all checkers, slower
  bool keep_flows = false;                    // fills ScenarioResult::flow_bps
  std::function<void(double)> progress = {};  // told which share of the time to play has passed; may be empty
};

// The EAL is up. Plays it once more, before, without its congestors, if an expectation compares with that.
ScenarioResult run_scenario(const Scenario& scenario, const ScenarioOptions& options = {});

// scenario_judge.cc: what became of the expectations; `alone` is the same without congestors, empty if none compares.
void judge(const Scenario& scenario, const ScenarioResult& alone, ScenarioResult& result);

// As reports write times.
inline double milliseconds(Nanos time) { return static_cast<double>(time) / 1e6; }

// scenario_report.cc
std::string report_json(const Scenario& scenario, const ScenarioResult& result);
std::string report_csv(const Scenario& scenario, const ScenarioResult& result);
std::string report_text(const Scenario& scenario, const ScenarioResult& result);
// "all in after throughput_at_least 9.7G", and what came out: "is 10.0 Gb/s".
std::string expectation_text(const Scenario& scenario, const Expectation& expectation);
std::string value_text(const ExpectationResult& result);

}  // namespace heddle::sim
