// SPDX-License-Identifier: Apache-2.0
// What waits at one input port, in queues of flows and of lossless frames without a flow, counted as the marks need it
// (A8, F10) and as operators ask for it: by class and by group of applications. What becomes of a packet its caller
// knows; here it only counts. Owned by the port's worker. Fabric ports have one group (A10).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "flow/queue_mark.h"
#include "wire/drop_reason.h"
#include "wire/packet.h"

namespace heddle {

class InputQueues {
 public:
  explicit InputQueues(uint32_t groups) : groups_(groups) {}

  // A packet waits in its flow's queue, and does no more.
  void joined(const Packet& packet, uint8_t group, bool lossless) {
    groups_[group].queue.joined(packet.payload);
    ++groups_[group].packets[lossless];
    count(packet, lossless);
  }
  void left(const Packet& packet, uint8_t group, bool lossless) {
    groups_[group].queue.left(packet.payload);
    --groups_[group].packets[lossless];
    uncount(packet, lossless);
  }
  // The same of a lossless packet without a flow, which has no group.
  void joined(const Packet& packet) { count(packet, true); }
  void left(const Packet& packet) { uncount(packet, true); }
  // A9: there are to be so many groups. All that waits of a flow is another group's now. After the last one,
  // end_regrouping(): while some flows are still to be moved, a group has more than ever waited, and there are those of
  // before, too.
  void begin_regrouping(uint32_t groups) { groups_.resize(std::max<size_t>(groups, groups_.size())); }
  void regrouped(uint8_t from, uint8_t to, uint32_t packets, uint32_t bytes, bool lossless) {
    groups_[from].queue.left(bytes);
    groups_[to].queue.bytes += bytes;
    groups_[from].packets[lossless] -= packets;
    groups_[to].packets[lossless] += packets;
  }
  // `anew`: those of before have nothing to do with these, nor has what was counted of them.
  void end_regrouping(uint32_t groups, bool anew) {
    groups_.resize(groups);
    for (Group& group : groups_) {
      group.queue.joined(0);
      if (anew) group.queue.restart();
    }
  }
  // Nothing waits any more, for the link's session has ended (K9).
  void empty() {
    packets_ = lossless_packets_ = 0;
    for (Group& group : groups_) group.packets[false] = group.packets[true] = group.queue.bytes = 0;
    for (Class& one : classes_) one.packets = one.queue.bytes = 0;
  }
  // A packet has been dropped here. Where that says nothing of queues it does not count.
  void dropped(uint8_t ftag, DropReason reason) {
    classes_[ftag & (kFtags - 1)].queue.dropped_frames += is_of_queues(reason);
  }
  void dropped_of_group(uint8_t group, DropReason reason) {
    groups_[group].queue.dropped_frames += is_of_queues(reason);
  }
  void restart_marks() {
    for (Group& group : groups_) group.queue.restart();
    for (Class& one : classes_) one.queue.restart();
  }

  uint32_t packets() const { return packets_; }
  uint32_t lossless_packets() const { return lossless_packets_; }  // of those
  uint32_t packets(uint8_t group, bool lossless) const { return groups_[group].packets[lossless]; }
  uint32_t packets_of_class(uint8_t ftag) const { return classes_[ftag & (kFtags - 1)].packets; }
  const QueueMark& of_class(uint8_t ftag) const { return classes_[ftag & (kFtags - 1)].queue; }
  const QueueMark& of_group(uint8_t group) const { return groups_[group].queue; }

 private:
  struct Group {
    QueueMark queue;
    uint32_t packets[2] = {};  // that wait: lossy, lossless
  };
  struct Class {
    QueueMark queue;
    uint32_t packets = 0;  // that wait
  };

  void count(const Packet& packet, bool lossless) {
    ++packets_;
    lossless_packets_ += lossless;
    Class& own = classes_[packet.ftag & (kFtags - 1)];
    ++own.packets;
    own.queue.joined(packet.payload);
  }
  void uncount(const Packet& packet, bool lossless) {
    --packets_;
    lossless_packets_ -= lossless;
    Class& own = classes_[packet.ftag & (kFtags - 1)];
    --own.packets;
    own.queue.left(packet.payload);
  }

  uint32_t packets_ = 0;
  uint32_t lossless_packets_ = 0;
  std::vector<Group> groups_;
  std::array<Class, kFtags> classes_{};
};

}  // namespace heddle
