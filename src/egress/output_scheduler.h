// SPDX-License-Identifier: Apache-2.0
// What one output port sends next: packets that have crossed and are not stamped yet, a queue for each lane (X2), as
// fast as the port's rate goes (decision 6). Lanes take turns by bytes (X5, deficit round robin): the one whose turn it
// is goes on until its share is used up or it has nothing to send, and what its last packet took beyond the share is
// missing in its own next turn.
// A value for edge and fabric ports alike: it knows no device, no credits, no host; whoever sends says which lanes may
// go and what becomes of a packet. Owned by the output's worker. Allocates in its constructor only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "flow/token_bucket.h"
#include "topology/lanes.h"
#include "wire/packet.h"

namespace heddle {

class OutputScheduler {
 private:
  struct Queue {
    PacketQueue packets;
    int32_t left_bytes = 0;  // of its share; below 0, what it took too much
    uint8_t channel = kLossyChannel;
  };

 public:
  explicit OutputScheduler(const Lanes& lanes) : queues_(lanes.count()) {
    for (LaneIndex lane = 0; lane < lanes.count(); ++lane) queues_[lane].channel = lanes.channel(lane);
  }
  // The port's rate, on the wire; without one it is as fast as its device.
  void set_pace(const TokenBucket& pace) { pace_ = pace; }

  void push(Packet* packet) {
    Queue& queue = queues_[packet->lane];
    queue.packets.push(packet);
    lanes_ |= LaneSet{1} << packet->lane;
    ++packets_;
    bytes_ += packet->payload;
    if (queue.channel != kLossyChannel) buffers_[queue.channel] += packet->cost;
  }

  LaneSet lanes() const { return lanes_; }  // those with packets
  bool empty() const { return lanes_ == 0; }
  uint32_t packets() const { return packets_; }
  uint32_t bytes() const { return bytes_; }                               // payload
  uint32_t buffers(uint32_t channel) const { return buffers_[channel]; }  // of a lossless channel
  const PacketQueue& of(LaneIndex lane) const { return queues_[lane].packets; }
  // When the first packet at a lane's head has lived its life (K8).
  Nanos first_death() const {
    Nanos first = kNever;
    for (LaneSet rest = lanes_; rest != 0; rest &= rest - 1)
      first = std::min(first, of(LaneIndex::of(std::countr_zero(rest))).head->dies_ns);
    return first;
  }
  uint32_t lane_count() const { return static_cast<uint32_t>(queues_.size()); }

  bool has_rate() const { return pace_.limits(); }
  // Does the rate let a packet go? If not, when it will.
  bool may_send(Nanos now) const { return pace_.allows(now); }
  Nanos ready_at() const { return pace_.ready_at(); }
  // A frame beside the lanes takes its part of the rate.
  void sent(const Packet& packet, Nanos now) { pace_.take(now, packet.length + kWireExtraBytes); }

  // One lane's turn. While it lasts, counts and lanes() are those of its beginning.
  class Turn {
   public:
    LaneIndex lane() const { return lane_; }
    uint8_t channel() const { return queue_.channel; }
    Packet* head() const { return queue_.packets.head; }
    uint32_t bytes() const { return bytes_; }  // taken so far
    Packet* take() {
      Packet* packet = queue_.packets.pop();
      ++packets_;
      bytes_ += packet->payload;
      buffers_ += packet->cost;
      return packet;
    }
    // Its head can't go now, nor what is behind it: the turn is over, and it gets no other one in this burst.
    void hold() { held_ = true; }

   private:
    friend class OutputScheduler;
    Turn(OutputScheduler& all, LaneIndex lane) : all_(all), queue_(all.queues_[lane]), lane_(lane) {}
    bool goes_on() const { return !queue_.packets.empty() && bytes_ < share_; }
    void settle() {
      all_.packets_ -= packets_;
      all_.bytes_ -= bytes_;
      if (queue_.channel != kLossyChannel) all_.buffers_[queue_.channel] -= buffers_;
      if (queue_.packets.empty()) all_.lanes_ &= ~(LaneSet{1} << lane_);
    }

    OutputScheduler& all_;
    Queue& queue_;
    LaneIndex lane_;
    bool held_ = false;
    uint32_t share_ = 0;
    uint32_t packets_ = 0, bytes_ = 0, buffers_ = 0;
  };

  // Adds to a burst that has `count` packets what may go of the lanes in `going`; returns how many it has then. The
  // sender is told of each turn, and makes each packet ready:
  //   void begin(const Turn&)
  //   Packet* take(Turn&)       what goes; nullptr if it has been dropped, or the turn is held
  template <typename Sender>
  uint32_t fill(Packet** burst, uint32_t count, LaneSet going, Nanos now, Sender& sender) {
    const bool paced = has_rate();
    while (count < kBurst && (lanes_ & going) != 0 && (!paced || may_send(now))) {
      Turn turn = begin_turn(lanes_ & going);
      sender.begin(turn);
      do {
        Packet* packet = sender.take(turn);
        if (packet != nullptr) {
          if (paced) sent(*packet, now);
          burst[count++] = packet;
        } else if (turn.held_) {
          going &= ~(LaneSet{1} << turn.lane_);
          break;
        }
      } while (count < kBurst && turn.goes_on() && (!paced || may_send(now)));
      turn.settle();
      turn.queue_.left_bytes -= static_cast<int32_t>(turn.bytes_);
    }
    return count;
  }

  // The first packet of a lane, which has one: outside of turns, of packets that go nowhere.
  Packet* take(LaneIndex lane) {
    Turn turn(*this, lane);
    Packet* packet = turn.take();
    turn.settle();
    return packet;
  }

 private:
  static constexpr int32_t kQuantumBytes = kBurst * 1500;

  // Of one among `lanes`, which have packets; there is at least one.
  Turn begin_turn(LaneSet lanes) {
    if (!(lanes >> lane_ & 1) || queues_[lane_].left_bytes <= 0) {
      const LaneSet later = lanes & ~((LaneSet{2} << lane_) - 1);
      lane_ = LaneIndex::of(std::countr_zero(later != 0 ? later : lanes));
      queues_[lane_].left_bytes = std::min(queues_[lane_].left_bytes, 0) + kQuantumBytes;
    }
    Turn turn(*this, lane_);
    turn.share_ = static_cast<uint32_t>(turn.queue_.left_bytes);
    return turn;
  }

  std::vector<Queue> queues_;  // by lane
  LaneSet lanes_ = 0;
  LaneIndex lane_ = 0;  // whose turn it is
  uint32_t packets_ = 0;
  uint32_t bytes_ = 0;
  std::array<uint32_t, kVirtualChannels> buffers_{};  // by channel
  TokenBucket pace_;
};

}  // namespace heddle
