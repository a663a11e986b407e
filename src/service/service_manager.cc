// SPDX-License-Identifier: Apache-2.0
#include "service/service_manager.h"

#include <systemd/sd-daemon.h>

namespace heddle {

void tell_service_manager(const char* state) { sd_notify(0, state); }

ServiceWatchdog::ServiceWatchdog(const SwitchProcess& process) : process_(process) {
  uint64_t microseconds = 0;
  if (sd_watchdog_enabled(0, &microseconds) > 0) interval_ns_ = microseconds * kMicrosecond;
}

void ServiceWatchdog::tick(Nanos now) {
  if (interval_ns_ == 0 || now < next_ns_) return;
  next_ns_ = now + interval_ns_ / 4;
  for (size_t runner = 0; runner < process_.runners(); ++runner)
    if (now > process_.last_round_ns(runner) + interval_ns_ / 2) return;
  tell_service_manager("WATCHDOG=1");
}

}  // namespace heddle
