// SPDX-License-Identifier: Apache-2.0
// The root qdisc of an interface while its flows are held back (G3): HTB, with a class for each flow that is; all
// others pass it by, in one queue as long as the interface's (txqueuelen). Only what is the kernel's own default is
// replaced (root_qdisc.h), and that comes back by itself when ours goes. One thread. Errors are std::runtime_error and
// say what the kernel said.
#pragma once

#include <string>

#include "hostd/netlink.h"
#include "hostd/paced_classes.h"

namespace heddle::hostd {

// Does the interface have filters in its qdisc clsact, on this side: TC_H_MIN_INGRESS or TC_H_MIN_EGRESS?
bool has_filters(int interface, uint32_t side);

class TrafficControl : public PacedClasses {
 public:
  // Puts it there.
  TrafficControl(int interface, std::string name);
  // Takes it away.
  ~TrafficControl() override;
  TrafficControl(const TrafficControl&) = delete;

  void set_rate(uint16_t minor, uint64_t bytes_per_second) override;
  ClassStates look(uint64_t now_ns) override;

 private:
  void add_root();
  void add_queue(uint16_t minor);
  void remove_root() const;

  const int interface_;
  const std::string name_;
  netlink::Socket socket_;
};

}  // namespace heddle::hostd
