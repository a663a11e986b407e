// SPDX-License-Identifier: Apache-2.0
// Faults on purpose. FaultInjector does random ones over a stretch of time, each drawn from the seed; Forger rewrites
// frames on a link as a broken neighbour would, with a right check.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/engine/fabric.h"
#include "wire/random.h"

namespace heddle::sim {

// X(name): faults that happen at a moment; those that ride on a link all the time are in MemoryLinkOptions.
// clang-format off
#define HEDDLE_FAULT_KINDS(X) \
  X(link_flap)                \
  X(one_way)                  \
  X(crash)                    \
  X(crash_neighbours)         \
  X(pause_short) X(pause_long) X(pause_and_reset) X(delay_change) X(burst_loss) X(host_stalls) X(forgery) \
  X(unplugged)                \
  X(small_mtu)                \
  X(regroup)                  \
  X(reshape)
// clang-format on

enum class FaultKind : uint8_t {
#define HEDDLE_X(name) name,
  HEDDLE_FAULT_KINDS(HEDDLE_X)
#undef HEDDLE_X
      count,
};
constexpr unsigned kFaultKinds = static_cast<unsigned>(FaultKind::count);
constexpr std::string_view kFaultKindNames[] = {
#define HEDDLE_X(name) #name,
    HEDDLE_FAULT_KINDS(HEDDLE_X)
#undef HEDDLE_X
};

struct FaultPlan {
  uint32_t kinds = 0;  // bit per FaultKind
  Nanos mean_interval_ns = 10 * kMillisecond;
  Nanos restart_least_ns = 60 * kMillisecond;     // a node that crashed is away at least so long
  Nanos pause_max_ns = 50 * kMillisecond;         // of long pauses
  std::vector<ApplicationPolicy> policies;        // for regroup (A9); the first closes nobody
  std::vector<std::vector<PortShapers>> shapers;  // for reshape, by node: which it may get (X4)
};

class FaultInjector {
 public:
  // `tell` is called with each fault as it is done, and with its link for forgeries.
  using Tell = std::function<void(FaultKind kind, const std::string& text, uint32_t link)>;
  FaultInjector(Fabric& fabric, const FaultPlan& plan, uint64_t seed, Tell tell);

  void run(Nanos from, Nanos until);
  // Links are without faults again, no application is closed, and nothing new is broken. Nodes that crashed start when
  // their time has come, and the last pause ends then:
  void heal();
  Nanos pauses_end_ns() const { return pauses_end_ns_; }

 private:
  void next(Nanos now);
  void do_one(Nanos now);
  void flap(Nanos now);
  void unplug(Nanos now);
  void narrow(Nanos now);
  void one_way(Nanos now);
  void crash(uint16_t node, Nanos now);
  void crash_neighbours(Nanos now);
  void pause(Nanos now, bool is_long);
  void pause_worker(uint16_t node, WorkerIndex worker, Nanos length, Nanos now);
  void pause_and_reset(Nanos now);
  void lie_in_wait(uint32_t link, unsigned direction, Nanos now, Nanos patience);
  void reset_behind_pause(uint32_t link, unsigned direction, WorkerIndex worker, Nanos now);
  void change_delay();
  void burst_loss(Nanos now);
  void stall_host(Nanos now);
  void regroup();
  void reshape();
  void forge();
  uint32_t some_link() { return static_cast<uint32_t>(random_.below(fabric_.links())); }
  uint16_t some_node() { return static_cast<uint16_t>(random_.below(fabric_.topology().nodes.size())); }
  Nanos between(Nanos low, Nanos high) { return low + random_.below(high - low + 1); }

  Fabric& fabric_;
  FaultPlan plan_;
  Random random_;
  Tell tell_;
  Nanos until_ = 0;
  Nanos pauses_end_ns_ = 0;
};

// X(name): what the forger does to a frame.
// clang-format off
#define HEDDLE_FORGERIES(X)                                                                                 \
  X(no_hops)                                                                                                \
  X(no_life)                                                                                                \
  X(wrong_vlan)                                                                                             \
  X(no_such_port)                                                                                           \
  X(position_far)                                                                                           \
  X(position_back)                                                                                          \
  X(flow_id_high)                                                                                           \
  X(ack_beyond)                                                                                             \
  X(lost_beyond) X(limit_beyond) X(total_beyond) X(probe_far) X(other_channel) X(bad_kind) X(other_version) \
      X(other_topology) X(other_cable) X(late_hello) X(load_frame) X(strange_notice) X(stale_tag)                     \
      X(strange_class) X(strange_channel) X(limit_behind) X(severe) X(retry_ahead) X(retry_behind)
// clang-format on

enum class Forgery : uint8_t {
#define HEDDLE_X(name) name,
  HEDDLE_FORGERIES(HEDDLE_X)
#undef HEDDLE_X
      count,
};
constexpr unsigned kForgeries = static_cast<unsigned>(Forgery::count);
constexpr std::string_view kForgeryNames[] = {
#define HEDDLE_X(name) #name,
    HEDDLE_FORGERIES(HEDDLE_X)
#undef HEDDLE_X
};

// Rewrites the frame if it is of the kind that the forgery needs; false if not.
bool forge_frame(Forgery forgery, Packet& packet, Random& random);

}  // namespace heddle::sim
