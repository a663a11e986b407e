// SPDX-License-Identifier: Apache-2.0
// heddle-hostd while it runs (G3): the interfaces of one network namespace whose flows it holds back. Programs in the
// kernel take what switches say; here rates are set, addresses announced, and what is over is taken out. An interface
// that goes away is let go, and held again when one of its name comes back; the others go on.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "hostd/announcer.h"
#include "hostd/paced_classes.h"
#include "hostd/pacing.h"
#include "hostd/programs.h"
#include "hostd/root_qdisc.h"

namespace heddle::hostd {

struct AgentOptions {
  std::vector<std::string> interfaces;
  bool replace_mq = false;
};

class Agent {
 public:
  static constexpr uint64_t kTickNs = HOSTD_TICK_NS;  // between calls of tick()

  // All of them have to be there, though not up yet. Throws std::runtime_error; then everything is as it was.
  explicit Agent(const AgentOptions& options);
  ~Agent();

  // `now_ns`: of CLOCK_MONOTONIC. What happens to interfaces is told on stderr.
  void tick(uint64_t now_ns);
  // Interfaces, flows that are held back, and counts: what `heddle-hostd show` shows.
  nlohmann::json status(uint64_t now_ns) const;

 private:
  struct Interface {
    std::string name;
    int index = 0;  // 0: it is let go
    bool held_before = false;
    std::string trouble{};  // why it is, though there is one of this name
    PacedBy paced_by = PacedBy::classes;
    std::unique_ptr<PacedClasses> classes{};
    std::unique_ptr<Announcer> announcer{};
    // Each by class.
    std::array<Pacing, HOSTD_CLASSES + 1> pacing{};
    ClassStates states{};                             // at the last tick with flows that are held
    std::array<bool, HOSTD_CLASSES + 1> open{};       // of which nothing is held any more, since a tick at least
    std::array<uint64_t, HOSTD_CLASSES + 1> rates{};  // bytes a second, as set
  };
  void hold(Interface& interface, int index);
  void let_go(Interface& interface);
  void look_for_interfaces();
  std::string changed(const Interface& interface) const;
  void pace(Interface& interface, uint64_t now_ns);
  void forget_what_is_over(const Interface& interface, uint64_t now_ns);
  void set_rate(Interface& interface, uint16_t minor, uint64_t bytes_per_second);
  void announce(uint64_t now_ns);

  const bool replace_mq_;
  Programs programs_;
  std::vector<Interface> interfaces_;
  std::vector<HeldFlow> held_;  // at the last tick
  uint64_t evicted_ = 0;        // flows that were held back until there was no room for them
  uint64_t next_look_ns_ = 0;   // whether interfaces are there
  uint64_t next_announcement_ns_ = 0;
};

}  // namespace heddle::hostd
