// SPDX-License-Identifier: Apache-2.0
// What stands under a port (decision 1): a DPDK device, an in-process link or a simulated one. Moves bursts; one
// virtual call per burst. Used by the one worker that owns the port.
#pragma once

#include <cstdint>

#include "wire/packet.h"
#include "wire/types.h"

namespace heddle {

class Device {
 public:
  virtual ~Device() = default;
  // Up to `count` frames that have come in, oldest first; the caller owns them. data and length are set, all other
  // metadata is zero but kPacketChecksumPartial.
  virtual uint32_t receive(Packet** packets, uint32_t count, Nanos now) = 0;
  // After receive() has returned none: nothing waits there. False if frames wait for a buffer.
  virtual bool receive_queue_empty() const { return true; }
  // Takes all of them, in order, and says how many more it has room for, as far as is known and a burst at most: the
  // caller hands over no more than that the next time. With none it says so anew. 0: it has to be asked again soon,
  // since what it keeps goes out when it is asked.
  virtual uint32_t transmit(Packet** packets, uint32_t count, Nanos now) = 0;
  // The other end gets the packets themselves, not copies of their bytes: whoever wants to keep one copies it first.
  virtual bool passes_packets() const { return false; }
  // When the next frame that is already under way can be received, or kNever if none is known of.
  virtual Nanos next_arrival() const { return kNever; }
  // Frames that the receive queue can hold: a frame has come in after the one taken so many before it (K8).
  virtual uint32_t receive_room() const { return ~0u; }
};

}  // namespace heddle
