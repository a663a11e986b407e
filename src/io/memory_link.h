// SPDX-License-Identifier: Apache-2.0
// A point-to-point link in memory, as two Devices: between two switches of one process, and every link of the
// simulator. Each direction has a rate, a delay and faults of its own, all drawn from one seed.
//
// Each end is used by one thread, and the two may differ: a direction is one single-producer single-consumer ring.
// Counters and options may be read and changed by a third thread where that is said. Owns the frames under way; those
// that are lost go back to the pool.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "io/waker.h"
#include "node/crossbar.h"
#include "node/device.h"
#include "wire/packet.h"
#include "wire/random.h"

namespace heddle {

constexpr Nanos kLinkDelayMax = 10 * kSecond;  // that anybody may ask for

// Of one direction. Faults are frames per million.
struct MemoryLinkOptions {
  uint64_t rate_bps = 0;  // bits per second; 0 = a frame takes no time on the wire
  Nanos delay_ns = 0;
  uint32_t loss_ppm = 0;
  uint32_t duplicate_ppm = 0;
  uint32_t reorder_ppm = 0;  // these take up to reorder_max_ns longer, so that others overtake them
  uint32_t corrupt_ppm = 0;  // one to three bits of the frame flip
  Nanos reorder_max_ns = 0;
  uint32_t transmit_frames = 64;    // with a rate: frames handed over and not yet on the wire
  uint32_t receive_frames = 2048;   // frames that have come in and wait for receive(); more are lost
  uint32_t capacity_frames = 4096;  // under way; then there is no room for more
};

enum class LinkFrameEvent : uint8_t {
  sent,        // handed over by the sender, as it stands
  lost,        // on the way, by loss or because the link is or was down
  corrupted,   // bits of it have flipped
  duplicated,  // this copy of it travels too
  under_way,   // will arrive at the time given
  ring_full,   // arrived while the receive ring was full, and is lost
  delivered,   // taken by the receiver
};
constexpr unsigned kLinkFrameEvents = 7;

class MemoryLink;

// Sees every frame; for checkers and for the simulator's scheduling. Called in the thread of the end concerned.
class LinkObserver {
 public:
  virtual ~LinkObserver() = default;
  // Direction d leaves end d. `packet` is as the sender left it up to `sent`, later without metadata.
  virtual void on_frame(MemoryLink& link, unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) = 0;
};

class MemoryLink {
 public:
  // `zero_to_one` leaves end 0. `pool` outlives the link; duplicates come from it.
  MemoryLink(PacketPool& pool, const MemoryLinkOptions& zero_to_one, const MemoryLinkOptions& one_to_zero,
             uint64_t seed);
  ~MemoryLink();
  MemoryLink(const MemoryLink&) = delete;
  MemoryLink& operator=(const MemoryLink&) = delete;

  Device& end(unsigned side) { return ends_[side]; }
  // Of the thread that receives at that end; nullptr = it looks by itself. Before the first frame.
  void set_waker(unsigned side, Waker* waker) { wakers_[side] = waker; }

  // --- from any thread ---
  // Down: frames under way and frames handed over are lost.
  void set_up(bool up);
  bool up() const { return generation_.load(std::memory_order_relaxed) % 2 == 0; }
  void set_loss(unsigned direction, uint32_t ppm) { directions_[direction]->loss_ppm.store(ppm); }
  void set_delay(unsigned direction, Nanos delay_ns) { directions_[direction]->delay_ns.store(delay_ns); }
  // Longer frames are lost, as on a path with too small an MTU; kNoLimit = none is too long.
  static constexpr uint32_t kNoLimit = ~0u;
  void set_longest(unsigned direction, uint32_t bytes) { directions_[direction]->longest_bytes.store(bytes); }

  // --- from the threads of both ends, or when they rest ---
  // The rate of loss and the delay are set too; ring sizes stay.
  void set_options(unsigned direction, const MemoryLinkOptions& options);
  const MemoryLinkOptions& options(unsigned direction) const { return directions_[direction]->options; }
  // `wanted`: bit per LinkFrameEvent.
  void observe(LinkObserver* observer, uint32_t wanted);
  uint64_t tag = 0;  // the observer's own

  // --- from the thread of the end that a direction leaves ---
  // When its transmit ring has room for so many frames, at most all it holds; 0 without a rate: there is no ring.
  Nanos transmit_room_at(unsigned direction, uint32_t frames) const {
    const Direction& way = *directions_[direction];
    return way.transmit_done[(way.transmit_next + frames - 1) % way.transmit_done.size()];
  }

  // Frames under way in a direction; when both ends rest.
  uint64_t under_way(unsigned direction) const;
  uint64_t events(unsigned direction, LinkFrameEvent event) const {
    return directions_[direction]->events[static_cast<unsigned>(event)].load(std::memory_order_relaxed);
  }

 private:
  struct Entry {
    Packet* packet;
    Nanos arrives_ns;
    uint32_t generation;  // of the link when it was sent
    uint32_t unused;
  };

  struct Direction {
    Direction(const MemoryLinkOptions& settings, uint64_t seed);

    // sender
    MemoryLinkOptions options;
    std::atomic<uint32_t> loss_ppm;
    std::atomic<Nanos> delay_ns;
    std::atomic<uint32_t> longest_bytes{kNoLimit};
    Random random;
    Nanos wire_free_ns = 0;
    Nanos last_arrival_ns = 0;         // of frames that were not held back
    std::vector<Nanos> transmit_done;  // when the transmit ring's entries leave it
    uint32_t transmit_next = 0;
    uint32_t room_told = 0;  // frames that may be handed over
    // between them
    Ring<Entry> ring;
    // receiver: sorted by arrival, a circle
    Entry& waiting_at(uint32_t place) { return waiting[place & mask]; }
    std::vector<Entry> waiting;
    uint32_t mask;  // of its places: there are a power of two
    uint32_t head = 0, count = 0;

    std::array<std::atomic<uint64_t>, kLinkFrameEvents> events{};
  };

  class End : public Device {
   public:
    uint32_t receive(Packet** packets, uint32_t count, Nanos now) override {
      return link->receive(1 - side, packets, count, now);
    }
    uint32_t transmit(Packet** packets, uint32_t count, Nanos now) override {
      return link->transmit(side, packets, count, now);
    }
    bool passes_packets() const override { return true; }
    Nanos next_arrival() const override { return link->next_arrival(1 - side); }

    MemoryLink* link = nullptr;
    unsigned side = 0;
  };

  uint32_t transmit(unsigned direction, Packet** packets, uint32_t count, Nanos now);
  uint32_t room(const Direction& way, Nanos now) const;
  uint32_t receive(unsigned direction, Packet** packets, uint32_t count, Nanos now);
  Nanos next_arrival(unsigned direction);
  struct Burst;
  void send(unsigned direction, Packet* packet, Nanos now, Burst& burst);
  void send_with_faults(unsigned direction, Packet* packet, Nanos arrives_ns, Burst& burst);
  void add(unsigned direction, Packet* packet, Nanos arrives_ns, Burst& burst);
  void lose(unsigned direction, LinkFrameEvent event, Packet* packet, Nanos at);
  void corrupt(Direction& way, Packet& packet);
  void take_in(Direction& way);
  void drop_overflow(unsigned direction, Nanos now);
  void tell(unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at);
  void show(unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at);
  void count_events(unsigned direction, LinkFrameEvent event, uint32_t frames);

  PacketPool& pool_;
  Waker* wakers_[2] = {};
  std::atomic<uint32_t> generation_{0};  // odd = down
  LinkObserver* observer_ = nullptr;
  uint32_t wanted_ = 0;
  std::unique_ptr<Direction> directions_[2];
  End ends_[2];
};

}  // namespace heddle
