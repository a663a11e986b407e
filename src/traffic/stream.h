// SPDX-License-Identifier: Apache-2.0
// One direction of traffic: who makes and sends its frames, and who receives and judges them. One thread runs both.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "traffic/flow_order.h"
#include "traffic/frame.h"
#include "traffic/histogram.h"
#include "traffic/options.h"
#include "traffic/port.h"

namespace heddle::traffic {

inline constexpr uint16_t kBurstMax = 64;

struct StreamCounts {
  uint64_t sent_frames = 0, sent_bytes = 0;
  uint64_t received_frames = 0, received_bytes = 0;
  uint64_t corrupt_frames = 0;  // whose headers, length or pattern are not what was sent
  uint64_t foreign_frames = 0;  // not of this direction: flooded ones, announcements, what other hosts say
  uint64_t refusals = 0;        // bursts of which the device did not take everything at once
  OrderCounts order;
};

// What is sent from these buffers has the pattern for good: devices copy frames or hand them on unchanged.
void write_patterns(BufferPool& buffers);

class Stream {
 public:
  // `buffers` have their patterns. All streams share them: devices are promised that what they send has one pool.
  Stream(const TrafficOptions& options, Direction direction, TrafficPort& from, TrafficPort& to, BufferPool& buffers);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Makes and sends up to `frames` frames, at most a burst; none before the device has taken those made earlier.
  // Returns how many it made.
  uint32_t send(uint32_t frames, uint64_t now);
  // Returns how many frames came, of any kind.
  uint32_t receive(uint64_t now);

  // A broadcast from that station, the other way. False if the device has no room for it now.
  bool announce(uint32_t station);

  // Sent, and neither received nor known to be missing. A corrupt frame is missing once a later one of its flow comes.
  uint64_t in_flight() const;
  // What is in flight is missing.
  void give_up();
  // Counts from zero again; nothing may be in flight.
  void clear();

  const StreamCounts& counts() const { return counts_; }
  const Histogram& latency() const { return latency_; }
  TrafficPort& from() { return from_; }
  TrafficPort& to() { return to_; }

 private:
  void make(uint32_t frames, uint64_t now);
  void flush();
  bool take(const rte_mbuf& mbuf, FrameFields& fields);

  Direction direction_;
  TrafficPort& from_;
  TrafficPort& to_;
  BufferPool& buffers_;
  uint16_t burst_;
  uint32_t check_every_;
  // --- sending ---
  std::vector<uint16_t> frame_bytes_;
  std::vector<FrameTemplate> templates_;  // of each size, those of all flows
  std::vector<uint32_t> numbers_;         // next one of each flow
  uint32_t next_flow_ = 0;
  uint32_t next_size_ = 0;
  std::array<rte_mbuf*, kBurstMax> waiting_{};  // made, and not yet taken by the device
  uint32_t waiting_first_ = 0, waiting_end_ = 0;
  // --- receiving ---
  std::vector<FlowOrder> orders_;
  uint32_t unchecked_ = 0;  // frames since a pattern was looked at
  StreamCounts counts_;
  Histogram latency_;  // TSC ticks
};

}  // namespace heddle::traffic
