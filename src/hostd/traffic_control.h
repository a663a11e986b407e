// SPDX-License-Identifier: Apache-2.0
// The root qdisc of an interface while its flows are held back (G3): HTB, with a class for each flow that is; all
// others pass it by, in one queue as long as the interface's (txqueuelen). Only what is the kernel's own default is
// replaced, and that comes back by itself when ours goes. One thread. Errors are std::runtime_error and say what the
// kernel said.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "hostd/shared_maps.h"

struct nl_sock;

namespace heddle::hostd {

struct ClassState {
  uint64_t sent_bytes = 0;  // ever
  uint32_t waiting_bytes = 0;
  uint64_t dropped_packets = 0;
};

// Does the interface have filters in its qdisc clsact, on this side: TC_H_MIN_INGRESS or TC_H_MIN_EGRESS?
bool has_filters(int interface, uint32_t side);

class TrafficControl {
 public:
  // Throws if the root of the interface is not to be replaced; changes nothing.
  static void check(int interface, const std::string& name, bool replace_mq);
  // Puts it there. `replace_mq`: also instead of a root with a queue for each of the card's.
  TrafficControl(int interface, std::string name, bool replace_mq);
  // Takes it away.
  ~TrafficControl();
  TrafficControl(const TrafficControl&) = delete;

  // `minor`: 1 to HOSTD_CLASSES.
  void set_rate(uint16_t minor, uint64_t bytes_per_second);
  // By minor number; [0] is nobody's.
  std::array<ClassState, HOSTD_CLASSES + 1> classes() const;

 private:
  struct Close {
    void operator()(nl_sock* socket) const;
  };
  void add_root();
  void add_queue(uint16_t minor);
  void remove_root() const;

  const int interface_;
  const std::string name_;
  std::unique_ptr<nl_sock, Close> socket_;
};

}  // namespace heddle::hostd
