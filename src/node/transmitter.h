// SPDX-License-Identifier: Apache-2.0
// What a port hands to its device, and for how many frames that has room: whoever sends looks first, so that nothing is
// refused and nothing that was settled has to be taken back. Of one port; used by the stages that send (departure.h,
// delivery_at_once.h), which own the frames until then.
#pragma once

#include "node/device.h"

namespace heddle {

class Transmitter {
 public:
  // `device` outlives it. It has no room before it has been looked at.
  void attach(Device& device) {
    device_ = &device;
    room_ = 0;
  }
  uint32_t room() const { return room_; }  // frames, kBurst at most
  // More than when it was asked last?
  void look(Nanos now) {
    if (room_ < kBurst) room_ = device_->transmit(nullptr, 0, now);
  }
  // So many as there is room for at most.
  void send(Packet** packets, uint32_t count, Nanos now) { room_ = device_->transmit(packets, count, now); }
  // A device that is full is asked again soon, also for what it keeps.
  Nanos next_wake(Nanos now) const { return room_ == 0 ? now + kMicrosecond : kNever; }

 private:
  Device* device_ = nullptr;
  uint32_t room_ = 0;
};

}  // namespace heddle
