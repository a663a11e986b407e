// SPDX-License-Identifier: Apache-2.0
// The queues of one output port, a lane each (X2): packets that have crossed and are not stamped yet. Lanes take turns
// by bytes (X5, deficit round robin): the one whose turn it is goes on until its share is used up or it has nothing to
// send. Owned by the output's worker. Allocates in its constructor only.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "topology/lanes.h"
#include "wire/packet.h"

namespace heddle {

class OutputQueues {
 private:
  struct Queue {
    PacketQueue packets;
    uint8_t channel = kLossyChannel;
  };

 public:
  explicit OutputQueues(const Lanes& lanes) : queues_(lanes.count()) {
    for (LaneIndex lane = 0; lane < lanes.count(); ++lane) queues_[lane].channel = lanes.channel(lane);
  }

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

  // One lane's turn. While it lasts, counts and lanes() are those of its beginning.
  class Turn {
   public:
    LaneIndex lane() const { return lane_; }
    uint8_t channel() const { return queue_.channel; }
    Packet* head() const { return queue_.packets.head; }
    bool goes_on() const { return !queue_.packets.empty() && bytes_ < share_; }
    uint32_t bytes() const { return bytes_; }  // taken so far
    Packet* take() {
      Packet* packet = queue_.packets.pop();
      ++packets_;
      bytes_ += packet->payload;
      buffers_ += packet->cost;
      return packet;
    }
    // What it has taken is its share's.
    void end() {
      settle();
      all_.left_bytes_ -= static_cast<int32_t>(bytes_);
    }

   private:
    friend class OutputQueues;
    Turn(OutputQueues& all, LaneIndex lane) : all_(all), queue_(all.queues_[lane]), lane_(lane) {}
    void settle() {
      all_.packets_ -= packets_;
      all_.bytes_ -= bytes_;
      if (queue_.channel != kLossyChannel) all_.buffers_[queue_.channel] -= buffers_;
      if (queue_.packets.empty()) all_.lanes_ &= ~(LaneSet{1} << lane_);
    }

    OutputQueues& all_;
    Queue& queue_;
    LaneIndex lane_;
    uint32_t share_ = 0;
    uint32_t packets_ = 0, bytes_ = 0, buffers_ = 0;
  };

  // The first packet of a lane, which has one: outside of turns, of packets that go nowhere.
  Packet* take(LaneIndex lane) {
    Turn turn(*this, lane);
    Packet* packet = turn.take();
    turn.settle();
    return packet;
  }

  // Of one among `lanes`, which have packets; there is at least one.
  Turn begin_turn(LaneSet lanes) {
    if (!(lanes >> lane_ & 1) || left_bytes_ <= 0) {
      const LaneSet later = lanes & ~((LaneSet{2} << lane_) - 1);
      lane_ = LaneIndex::of(std::countr_zero(later != 0 ? later : lanes));
      left_bytes_ = std::min(left_bytes_, 0) + kQuantumBytes;
    }
    Turn turn(*this, lane_);
    turn.share_ = static_cast<uint32_t>(left_bytes_);
    return turn;
  }

 private:
  static constexpr int32_t kQuantumBytes = kBurst * 1500;

  std::vector<Queue> queues_;  // by lane
  LaneSet lanes_ = 0;
  LaneIndex lane_ = 0;      // whose turn it is
  int32_t left_bytes_ = 0;  // that it has left of it
  uint32_t packets_ = 0;
  uint32_t bytes_ = 0;
  std::array<uint32_t, kVirtualChannels> buffers_{};  // by channel
};

}  // namespace heddle
