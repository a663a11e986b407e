// SPDX-License-Identifier: Apache-2.0
// What one output port sends next: packets that have crossed and are not stamped yet, in queues by lane (X2) and,
// within a lane, by the input port that they came from, as fast as the port's rate goes (decision 6). Which class is
// next the shaper says (X4). Lanes of a class take turns by bytes (X5, deficit round robin), and so do the inputs in a
// lane, each as many times as flows wait there (X3, A10): so a link is shared by flows, not by who sends them. A turn
// goes on until its share is used up or there is nothing to send, and what its last packet took beyond the share is
// missing in the next one of its own. A byte is one on the wire: a packet counts as what the port sends. A value for
// edge and fabric ports alike: it knows no device, no credits, no host; whoever sends says which lanes may go and what
// becomes of a packet. Owned by the output's worker. Allocates in its constructor, and in set_shaper().
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "egress/shaper.h"
#include "flow/queue_mark.h"
#include "flow/token_bucket.h"
#include "topology/lanes.h"
#include "wire/drop_reason.h"
#include "wire/packet.h"
#include "wire/port_bytes.h"

namespace heddle {

class OutputScheduler {
 private:
  // Of one input, in one lane.
  struct Queue {
    PacketQueue packets;
    int32_t left_bytes = 0;  // of its share; below 0, what it took too much
    uint32_t waiting = 0;    // flows of the input that wait for room here (X3)
    PortIndex next = kNoPort;
    bool listed = false;
  };
  // Inputs stand in line as their packets come, so that who sends little waits for a turn of each that was there
  // before; all that have packets do, and perhaps some that have none any more.
  struct Lane {
    PortSet inputs = 0;  // those with packets
    PortIndex first = kNoPort, last = kNoPort;
    uint8_t channel = kLossyChannel;
    uint8_t of_class = 0;
    int32_t left_bytes = 0;  // as in Queue
    uint32_t most_waiting = 0;
    Nanos half_life_ns = 0;
  };
  // A class: its lanes, and the one whose turn it is; what is queued of it, and what ever was. One cache line.
  struct alignas(64) Class {
    LaneSet lanes = 0;
    LaneIndex lane = 0;
    uint8_t ftag = 0;
    uint32_t packets = 0;
    QueueMark queue;
    uint64_t pushed_bytes = 0;
  };

 public:
  // `overhead_bytes`: of a frame as the device gets it, on the wire.
  OutputScheduler(const Lanes& lanes, uint32_t inputs, PortBytes bytes, uint32_t overhead_bytes = kWireExtraBytes)
      : port_bytes_(bytes),
        overhead_bytes_(overhead_bytes),
        inputs_(inputs),
        queues_(inputs * lanes.count()),
        of_lane_(lanes.count()),
        shaper_(ShaperPolicy{}, kClassesMax, bytes.largest) {
    for (LaneIndex lane = 0; lane < lanes.count(); ++lane) {
      of_lane_[lane].channel = lanes.channel(lane);
      of_lane_[lane].of_class = static_cast<uint8_t>(lanes.of(lanes.ftag(lane), kLossyChannel));
      Class& of_class = classes_[of_lane_[lane].of_class];
      if (of_class.lanes == 0) of_class.lane = lane;
      of_class.ftag = lanes.ftag(lane);
      of_class.lanes |= LaneSet{1} << lane;
    }
  }
  // Of packets of a lossless class, which are to live so long in all.
  void set_life(LaneIndex lane, Nanos life_ns) { of_lane_[lane].half_life_ns = life_ns / 2; }
  // The port's rate, on the wire; without one it is as fast as its device. `late_max_ns`: packets go ahead of it by how
  // late fill() has been called of late, which the device sends meanwhile, but not by more than that.
  void set_pace(const TokenBucket& pace, Nanos late_max_ns = 0) {
    pace_ = pace;
    beside_ = pace.at_half();
    late_max_ns_ = late_max_ns;
    late_ns_ = 0;
    held_ = false;
  }
  // What its classes have of it, from now on; if that is configured, the port has a rate.
  void set_shaper(const ShaperPolicy& policy) { shaper_ = Shaper(policy, class_count(), port_bytes_.largest); }
  const Shaper& shaper() const { return shaper_; }

  void push(Packet* packet) {
    Lane& lane = of_lane_[packet->lane];
    Queue& queue = queue_at(packet->lane, packet->input.port);
    queue.packets.push(packet);
    if (!queue.listed) line_up(packet->lane, packet->input.port);
    lane.inputs |= PortSet{1} << packet->input.port;
    lanes_ |= LaneSet{1} << packet->lane;
    ++packets_;
    bytes_ += packet->payload;
    Class& of_class = classes_[lane.of_class];
    ++of_class.packets;
    of_class.queue.joined(packet->payload);
    of_class.pushed_bytes += packet->payload;
    if (lane.channel != kLossyChannel) buffers_[lane.channel] += packet->cost;
  }

  // So many flows of the input wait for room in the lane. One that does not wait counts as one flow.
  void set_waiting(PortIndex input, LaneIndex lane, uint32_t flows) {
    Queue& queue = queue_at(lane, input);
    queue.waiting = flows;
    queue.left_bytes = std::min(queue.left_bytes, share_of(queue));  // of a turn that was given to more
    uint32_t& most = of_lane_[lane].most_waiting = 0;
    for (PortIndex other = 0; other < inputs_; ++other) most = std::max(most, waiting(other, lane));
  }
  uint32_t waiting(PortIndex input, LaneIndex lane) const { return of(lane, input).waiting; }
  uint32_t most_waiting(LaneIndex lane) const { return of_lane_[lane].most_waiting; }  // of one input

  LaneSet lanes() const { return lanes_; }  // those with packets
  bool empty() const { return lanes_ == 0; }
  uint32_t packets() const { return packets_; }
  uint32_t bytes() const { return bytes_; }                               // payload
  uint32_t buffers(uint32_t channel) const { return buffers_[channel]; }  // of a lossless channel
  // Of a class: what is queued, payload; and what has left since the port began, payload too.
  uint32_t packets_of(uint8_t of_class) const { return classes_[of_class].packets; }
  uint32_t bytes_of(uint8_t of_class) const { return classes_[of_class].queue.bytes; }
  uint64_t left_bytes(uint8_t of_class) const { return classes_[of_class].pushed_bytes - bytes_of(of_class); }
  const QueueMark& queue_of(uint8_t of_class) const { return classes_[of_class].queue; }
  // A packet of the lane has been dropped at this output. Where that says nothing of queues it does not count.
  void dropped(LaneIndex lane, DropReason reason) {
    classes_[class_of(lane)].queue.dropped_frames += is_of_queues(reason);
  }
  void restart_marks() {
    for (Class& one : classes_) one.queue.restart();
  }
  uint32_t class_count() const {
    return static_cast<uint32_t>(
        std::count_if(classes_.begin(), classes_.end(), [](const Class& one) { return one.lanes != 0; }));
  }
  uint8_t class_of(LaneIndex lane) const { return of_lane_[lane].of_class; }
  uint8_t ftag_of(uint8_t of_class) const { return classes_[of_class].ftag; }
  PortSet inputs(LaneIndex lane) const { return of_lane_[lane].inputs; }  // those with packets
  const PacketQueue& packets_of(LaneIndex lane, PortIndex input) const { return of(lane, input).packets; }
  // When the first packet at a queue's head has lived its life (K8).
  Nanos first_death() const {
    Nanos first = kNever;
    for (LaneSet rest = lanes_; rest != 0; rest &= rest - 1) {
      const auto lane = LaneIndex::of(std::countr_zero(rest));
      for (PortSet inputs = of_lane_[lane].inputs; inputs != 0; inputs &= inputs - 1)
        first = std::min(first, packets_of(lane, PortIndex::of(std::countr_zero(inputs))).head->dies_ns);
    }
    return first;
  }
  uint32_t lane_count() const { return static_cast<uint32_t>(of_lane_.size()); }

  bool has_rate() const { return pace_.limits(); }
  // Does the rate let a packet go? If not, when it will.
  bool may_send(Nanos now) const { return pace_.allows(now + late_ns_); }
  // When the first packet of the lanes may go that the rate, or a ceiling of its class, does not let go now; kNever if
  // there is none.
  Nanos ready_at(LaneSet lanes, Nanos now) const {
    if (lanes == 0) return kNever;
    return may_send(now) ? shaper_.ready_at(classes_of(lanes), now) : pace_ready_at();
  }
  Nanos pace_ready_at() const { return pace_.ready_at() - std::min(pace_.ready_at(), late_ns_); }
  // Lanes where packets may live to their end, for all that the device takes: a rate holds back, also while frames
  // beside the lanes have used it up.
  LaneSet slow_lanes(LaneSet paused) const { return lanes_ & (has_rate() ? ~LaneSet{0} : paused); }
  // A frame beside the lanes takes its part of the rate.
  void sent(const Packet& packet, Nanos now) {
    pace_.take(now, wire_bytes(packet));
    if (lanes_ != 0) beside_.take(now, wire_bytes(packet));
  }
  // May frames beside the lanes go that can wait for the rate, and merge meanwhile (ACKs)? While packets wait they have
  // half of it, so that neither of them starves.
  bool may_send_beside(Nanos now) const { return may_send(now) && (lanes_ == 0 || beside_.allows(now)); }
  Nanos beside_ready_at() const { return std::max(pace_ready_at(), lanes_ == 0 ? 0 : beside_.ready_at()); }

  // One lane's turn. While it lasts, counts, lanes() and inputs() are those of its beginning.
  class Turn {
   public:
    LaneIndex lane() const { return index_; }
    uint8_t channel() const { return lane_.channel; }
    // Of the input whose turn it is.
    Packet* head() const { return queue_->packets.head; }
    uint32_t bytes() const { return bytes_; }  // payload taken so far
    Packet* take() {
      Packet* packet = queue_->packets.pop();
      ++packets_;
      bytes_ += packet->payload;
      buffers_ += packet->cost;
      return packet;
    }
    // Its head can't go now, nor what is behind it: the turn is over, and it gets no other one in this burst.
    void hold() { held_ = true; }

   private:
    friend class OutputScheduler;
    Turn(OutputScheduler& all, LaneIndex lane, Nanos now) : all_(all), lane_(all.of_lane_[lane]), index_(lane) {
      begin_input(now);
    }
    // A packet that has been dropped takes no share.
    void goes(uint32_t bytes, Nanos now) {
      used_bytes_ += static_cast<int32_t>(bytes);
      all_.shaper_.took(bytes, now);
    }
    // With the same input, or the next one; false if there is none, or the class's or the lane's share is used up.
    bool go_on(Nanos now) {
      if (!all_.shaper_.goes_on(now)) return false;
      if (!queue_->packets.empty() && (used_bytes_ < share_bytes_ || is_urgent(queue_->left_bytes - used_bytes_, now)))
        return true;
      end_input();
      if (lane_.inputs == 0 || lane_.left_bytes <= 0) return false;
      begin_input(now);
      return true;
    }
    // K8: no lossless packet's life is to end here because the share of its input is small. One that has lived half of
    // it goes with its input's turn, until that has taken as much more as a turn may have at most: then it is the
    // others', whatever comes.
    bool is_urgent(int32_t left_bytes, Nanos now) const {
      return lane_.half_life_ns != 0 && left_bytes > -static_cast<int32_t>(all_.port_bytes_.turn_max) &&
             head()->dies_ns < now + lane_.half_life_ns;
    }
    void end_input() {
      lane_.left_bytes -= used_bytes_;
      queue_->left_bytes -= used_bytes_;
      used_bytes_ = 0;
      if (queue_->packets.empty()) lane_.inputs &= ~(PortSet{1} << lane_.first);
    }
    bool has_turn(Nanos now) const {
      return !queue_->packets.empty() && (queue_->left_bytes > 0 || is_urgent(queue_->left_bytes, now));
    }
    void begin_input(Nanos now) {
      for (queue_ = &first(); !has_turn(now); queue_ = &first()) {
        const PortIndex input = lane_.first;
        lane_.first = queue_->next;
        queue_->listed = false;
        if (!queue_->packets.empty()) all_.line_up(index_, input);
      }
      share_bytes_ = std::min(lane_.left_bytes, queue_->left_bytes);
    }
    Queue& first() { return all_.queue_at(index_, lane_.first); }
    void settle() {
      end_input();
      all_.packets_ -= packets_;
      all_.bytes_ -= bytes_;
      all_.classes_[lane_.of_class].packets -= packets_;
      all_.classes_[lane_.of_class].queue.left(bytes_);
      if (lane_.channel != kLossyChannel) all_.buffers_[lane_.channel] -= buffers_;
      if (lane_.inputs == 0) all_.lanes_ &= ~(LaneSet{1} << index_);
    }

    OutputScheduler& all_;
    Lane& lane_;
    Queue* queue_ = nullptr;
    LaneIndex index_;
    bool held_ = false;
    int32_t share_bytes_ = 0, used_bytes_ = 0;  // of the input whose turn it is
    uint32_t packets_ = 0, bytes_ = 0, buffers_ = 0;
  };

  // Adds to a burst that has `count` packets what may go of the lanes in `going`, up to `room` of them; returns how
  // many it has then. The sender is told of each turn, and makes each packet ready:
  //   void begin(const Turn&)
  //   Packet* take(Turn&)       what goes; nullptr if it has been dropped, or the turn is held
  template <typename Sender>
  uint32_t fill(Packet** burst, uint32_t count, uint32_t room, LaneSet going, Nanos now, Sender& sender) {
    const bool paced = has_rate();
    if (held_ && may_send(now)) note_lateness(now);
    while (count < room && (lanes_ & going) != 0 && (!paced || may_send(now))) {
      const uint8_t of_class = shaper_.next(classes_of(lanes_ & going), now);
      if (of_class == Shaper::kNobody) break;
      Turn turn(*this, next_lane(classes_[of_class], lanes_ & going), now);
      sender.begin(turn);
      do {
        Packet* packet = sender.take(turn);
        if (packet != nullptr) {
          const uint32_t bytes = wire_bytes(*packet);
          turn.goes(bytes, now);
          if (paced) pace_.take(now, bytes);
          burst[count++] = packet;
        } else if (turn.held_) {
          going &= ~(LaneSet{1} << turn.index_);
          break;
        }
      } while (count < room && turn.go_on(now) && (!paced || may_send(now)));
      turn.settle();
    }
    held_ = paced && (lanes_ & going) != 0 && !may_send(now);
    return count;
  }

  // The first packet of an input's in a lane, which has one: outside of turns, of packets that go nowhere.
  Packet* take(LaneIndex lane, PortIndex input) {
    Packet* packet = queue_at(lane, input).packets.pop();
    --packets_;
    bytes_ -= packet->payload;
    Lane& of_it = of_lane_[lane];
    --classes_[of_it.of_class].packets;
    classes_[of_it.of_class].queue.left(packet->payload);
    if (of_it.channel != kLossyChannel) buffers_[of_it.channel] -= packet->cost;
    if (!of(lane, input).packets.empty()) return packet;
    of_it.inputs &= ~(PortSet{1} << input);
    if (of_it.inputs == 0) lanes_ &= ~(LaneSet{1} << lane);
    return packet;
  }
  // Any packet; there is one.
  Packet* take_any() {
    const auto lane = LaneIndex::of(std::countr_zero(lanes_));
    return take(lane, PortIndex::of(std::countr_zero(of_lane_[lane].inputs)));
  }

 private:
  // The rate has held packets back, and lets them go: so long after it would have they are asked for.
  void note_lateness(Nanos now) {
    late_ns_ = std::min(late_max_ns_, std::max(now - pace_ready_at(), late_ns_ - late_ns_ / 16));
  }
  // Of a packet that is ready to go.
  uint32_t wire_bytes(const Packet& packet) const { return packet.length + overhead_bytes_; }
  Queue& queue_at(LaneIndex lane, PortIndex input) { return queues_[size_t{lane} * inputs_ + input]; }
  const Queue& of(LaneIndex lane, PortIndex input) const { return queues_[size_t{lane} * inputs_ + input]; }

  int32_t share_of(const Queue& queue) const {
    return static_cast<int32_t>(std::min(port_bytes_.largest * std::max(1u, queue.waiting), port_bytes_.turn_max));
  }
  // Behind the others, with a share. One that still has flows waiting for room has only run empty for a moment: what
  // was left of its share stays its own.
  void line_up(LaneIndex lane_index, PortIndex input) {
    Lane& lane = of_lane_[lane_index];
    Queue& queue = queue_at(lane_index, input);
    const int32_t share = share_of(queue);
    queue.left_bytes = begin_share(queue.left_bytes, share, queue.waiting != 0 ? share : 0);
    queue.next = kNoPort;
    queue.listed = true;
    (lane.first == kNoPort ? lane.first : queue_at(lane_index, lane.last).next) = input;
    lane.last = input;
  }

  ClassSet classes_of(LaneSet lanes) const {
    ClassSet classes = 0;
    for (LaneSet rest = lanes; rest != 0;) {
      const uint8_t of_class = of_lane_[static_cast<size_t>(std::countr_zero(rest))].of_class;
      classes = static_cast<ClassSet>(classes | 1u << of_class);
      rest &= ~classes_[of_class].lanes;
    }
    return classes;
  }
  // The class's, among `lanes`, which have packets; there is at least one.
  LaneIndex next_lane(Class& of_class, LaneSet lanes) {
    lanes &= of_class.lanes;
    if (!(lanes >> of_class.lane & 1) || of_lane_[of_class.lane].left_bytes <= 0) {
      const LaneSet later = lanes & ~((LaneSet{2} << of_class.lane) - 1);
      of_class.lane = LaneIndex::of(std::countr_zero(later != 0 ? later : lanes));
      Lane& lane = of_lane_[of_class.lane];
      lane.left_bytes = begin_share(lane.left_bytes, static_cast<int32_t>(2 * port_bytes_.largest));
    }
    return of_class.lane;
  }

  const PortBytes port_bytes_;
  const uint32_t overhead_bytes_;
  const uint32_t inputs_;
  std::vector<Queue> queues_;  // by lane and input port
  std::vector<Lane> of_lane_;
  LaneSet lanes_ = 0;
  uint32_t packets_ = 0;
  uint32_t bytes_ = 0;
  std::array<uint32_t, kVirtualChannels> buffers_{};  // by channel
  TokenBucket pace_, beside_;
  Nanos late_max_ns_ = 0, late_ns_ = 0;
  bool held_ = false;  // by the rate, when fill() was called last
  Shaper shaper_;
  std::array<Class, kClassesMax> classes_{};  // by position in the topology
};

}  // namespace heddle
