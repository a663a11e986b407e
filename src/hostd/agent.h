// SPDX-License-Identifier: Apache-2.0
// heddle-hostd while it runs (G3): the interfaces of one network namespace whose flows it holds back. Programs in the
// kernel take what switches say; here rates are set, addresses announced, and what is over is taken out.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hostd/announcer.h"
#include "hostd/pacing.h"
#include "hostd/programs.h"
#include "hostd/traffic_control.h"

namespace heddle::hostd {

struct AgentOptions {
  std::vector<std::string> interfaces;
  bool replace_mq = false;
};

class Agent {
 public:
  static constexpr uint64_t kTickNs = 10'000'000;  // between calls of tick()

  // Throws std::runtime_error; then everything is as it was.
  explicit Agent(const AgentOptions& options);
  ~Agent();

  // `now_ns`: of CLOCK_MONOTONIC.
  void tick(uint64_t now_ns);
  // Interfaces, flows that are held back, and counts: what `heddle-hostd show` shows.
  nlohmann::json status(uint64_t now_ns) const;

 private:
  struct Interface {
    int index;
    std::string name;
    std::unique_ptr<TrafficControl> classes;
    std::unique_ptr<Announcer> announcer;
    std::array<Pacing, HOSTD_CLASSES + 1> pacing;  // by class
    std::array<bool, HOSTD_CLASSES + 1> open{};    // classes of which nothing is held any more, since a tick at least
    std::array<uint64_t, HOSTD_CLASSES + 1> rates{};  // bytes a second, as set
  };
  void pace(Interface& interface, uint64_t now_ns);
  void forget_what_is_over(Interface& interface, const std::array<ClassState, HOSTD_CLASSES + 1>& states,
                           uint64_t now_ns);
  void set_rate(Interface& interface, uint16_t minor, uint64_t bytes_per_second);
  void announce(uint64_t now_ns);

  Programs programs_;
  std::vector<Interface> interfaces_;
  std::vector<HeldFlow> held_;  // at the last tick
  uint64_t next_announcement_ns_ = 0;
};

}  // namespace heddle::hostd
