// SPDX-License-Identifier: Apache-2.0
// A device that reaches out of the process: what an operator wants to know of it beside its frames. Started, stopped
// and asked by the control thread; receive and transmit are the port's worker's alone, while it is started.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "node/device.h"

namespace heddle {

// What the driver itself has counted. Frames missed, without buffer, unusable or refused are lost; the switch's own
// counters have not seen the first three, and have the last ones as sent.
struct DriverCounters {
  uint64_t received_frames = 0, sent_frames = 0;
  uint64_t missed_frames = 0;     // came in and found no room in the receive ring
  uint64_t no_buffer_frames = 0;  // came in and found no buffer
  uint64_t unusable_frames = 0;   // came in damaged, cut, or can't be had in one piece
  uint64_t send_errors = 0;       // taken for sending and not sent: too long, or the interface is down
  uint64_t refused_frames = 0;    // taken for sending, and found no room however often they were offered
  uint64_t delayed_frames = 0;    // found no buffer and waited in the ring for one
};

// What the device stands on is not there, and may come: an interface, the process at the other end.
struct DeviceAbsent : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class OutwardDevice : public Device {
 public:
  // Until stop(). Throws DeviceAbsent if it is worth trying again, else std::runtime_error.
  virtual void start() = 0;
  // No worker uses it any more. It may be started again; its counters go on.
  virtual void stop() = 0;
  // Started, it is good for nothing any more until it is stopped and started: what it stood on has gone. Empty if it is
  // well. To be asked about once a second.
  virtual std::string lost() = 0;

  // As in the configuration.
  virtual const std::string& device() const = 0;
  virtual const std::string& driver() const = 0;
  // What an operator should know of it: one line for each thing asked of the driver that it did not do.
  virtual const std::vector<std::string>& notes() const = 0;
  virtual DriverCounters driver_counters() const = 0;
  virtual bool carrier() const = 0;
  // Can be read while frames wait in the receive queue; -1 if the device has no such thing and must be looked at.
  virtual int readable_fd() const { return -1; }
  virtual uint64_t link_speed_bps() const = 0;  // 0 = unknown
};

}  // namespace heddle
