// SPDX-License-Identifier: Apache-2.0
// What heddled says to the service manager that started it, and what it is asked for; nothing where there is none.
#pragma once

#include "io/switch_process.h"

namespace heddle {

// To systemd (Type=notify): READY=1 and the like.
void tell_service_manager(const char* state);

// A worker that hangs is a dead node: the service manager hears of the process only while every thread goes round.
class ServiceWatchdog {
 public:
  explicit ServiceWatchdog(const SwitchProcess& process);
  // Some ten times a second.
  void tick(Nanos now);

 private:
  const SwitchProcess& process_;
  Nanos interval_ns_ = 0;  // 0 = nobody waits for it
  Nanos next_ns_ = 0;
};

}  // namespace heddle
