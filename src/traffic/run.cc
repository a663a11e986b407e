// SPDX-License-Identifier: Apache-2.0
#include "traffic/run.h"

#include <rte_cycles.h>
#include <rte_mbuf.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace heddle::traffic {

namespace {

constexpr uint32_t kBuffers = 16384;
constexpr uint32_t kRoomBytesMin = 2048;  // memif copies frames with less work if all fit into one buffer
constexpr uint32_t kRoundsBetweenDiscards = 64;
constexpr double kSettleSeconds = 0.1;  // for announcements under way, and switches that wait after flooding
constexpr double kDrainPatiences = 4;   // waited at most, from a device that never ends to give frames

uint32_t room_bytes(const TrafficOptions& options) { return std::max<uint32_t>(kRoomBytesMin, largest_frame(options)); }

}  // namespace

Run::Run(const TrafficOptions& options, const std::atomic<bool>& stop)
    : options_(options),
      stop_(stop),
      ticks_per_second_(static_cast<double>(rte_get_tsc_hz())),
      sent_("sent", kBuffers - 1, room_bytes(options)),
      received_("received", kBuffers - 1, room_bytes(options)) {
  write_patterns(sent_);
  const PortOptions ports{.frame_bytes_max = largest_frame(options),
                          .descriptors = options.descriptors,
                          .receive_queues = options.receive_queues,
                          .start_patience_seconds = options.link_wait_seconds,
                          .stop = &stop};
  for (size_t port = 0; port < ports_.size(); ++port)
    ports_[port] = std::make_unique<TrafficPort>(options.devices[port], ports, received_);
  wait_for_links();
  const Pacer pacer(options.burst, options.window, options.rate / ticks_per_second_);
  const auto add = [&](Direction direction, TrafficPort& from, TrafficPort& to) {
    lanes_.push_back({.stream = std::make_unique<Stream>(options_, direction, from, to, sent_), .pacer = pacer});
  };
  add(Direction::forth, *ports_[0], *ports_[1]);
  if (options.both)
    add(Direction::back, *ports_[1], *ports_[0]);
  else
    only_sending_.push_back(ports_[0].get());
}

void Run::wait_for_links() const {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(options_.link_wait_seconds);
  for (const auto& port : ports_) {
    while (!port->link_up() && !stop_) {
      if (Clock::now() > end)
        throw std::runtime_error("device " + port->device() + ": no link; is its other end there?");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  }
}

std::vector<StreamResult> Run::measure() {
  announce();
  drive(options_.warm_up_seconds);
  drain();
  for (Lane& lane : lanes_) {
    lane.stream->clear();
    lane.pacer.clear();
  }
  const uint64_t begin = rte_rdtsc();
  drive(options_.seconds);
  const double seconds = static_cast<double>(rte_rdtsc() - begin) / ticks_per_second_;
  std::vector<StreamResult> results;
  for (const Lane& lane : lanes_) {
    const StreamCounts& counts = lane.stream->counts();
    results.push_back({.from = lane.stream->from().device(),
                       .to = lane.stream->to().device(),
                       .counts = {},
                       .timely_frames = counts.received_frames,
                       .timely_bytes = counts.received_bytes,
                       .skipped_frames = lane.pacer.skipped(),
                       .seconds = seconds,
                       .ticks_per_ns = ticks_per_second_ / 1e9,
                       .latency = {}});
  }
  drain();
  for (size_t i = 0; i < lanes_.size(); ++i) {
    lanes_[i].stream->give_up();
    results[i].counts = lanes_[i].stream->counts();
    results[i].latency = lanes_[i].stream->latency();
  }
  return results;
}

// From the receiving ends, so that a switch between knows where to send; what it floods is taken off the other ports.
void Run::announce() {
  const uint64_t begin = rte_rdtsc();
  for (uint32_t station = 0; station < options_.stations && !stop_; ++station) {
    for (Lane& lane : lanes_) {
      while (!lane.stream->announce(station) && !stop_) discard_at_senders();
      lane.stream->receive(rte_rdtsc());
    }
    do discard_at_senders();
    while (rte_rdtsc() - begin < ticks((station + 1) / options_.announce_rate) && !stop_);
  }
  for (const uint64_t end = rte_rdtsc() + ticks(kSettleSeconds); rte_rdtsc() < end && !stop_;) {
    for (Lane& lane : lanes_) lane.stream->receive(rte_rdtsc());
    discard_at_senders();
  }
}

void Run::drive(double seconds) {
  uint64_t now = rte_rdtsc();
  const uint64_t end = now + ticks(seconds);
  for (Lane& lane : lanes_) {
    lane.heard = now;
    lane.pacer.start(now);
  }
  for (uint32_t round = 0; now < end && !stop_.load(std::memory_order_relaxed); ++round) {
    for (Lane& lane : lanes_) serve(lane, now);
    if (round % kRoundsBetweenDiscards == 0) discard_at_senders();
    now = rte_rdtsc();
  }
}

void Run::serve(Lane& lane, uint64_t now) {
  Stream& stream = *lane.stream;
  if (stream.receive(now) != 0) lane.heard = now;
  const uint32_t allowance = lane.pacer.allowance(now, stream.in_flight());
  if (allowance != 0)
    lane.pacer.made(stream.send(allowance, now));
  else if (lane.pacer.closed() && now - lane.heard > ticks(options_.patience_seconds))
    stream.give_up();
}

// Until all is back, or nothing has come for as long as one is patient.
void Run::drain() {
  uint64_t heard = rte_rdtsc();
  const uint64_t patience = ticks(options_.patience_seconds);
  const uint64_t end = heard + ticks(kDrainPatiences * options_.patience_seconds);
  for (uint64_t now = heard; now - heard <= patience && now < end && !stop_; now = rte_rdtsc()) {
    uint64_t in_flight = 0;
    for (Lane& lane : lanes_) {
      lane.stream->send(0, now);
      if (lane.stream->receive(now) != 0) heard = now;
      in_flight += lane.stream->in_flight();
    }
    discard_at_senders();
    if (in_flight == 0) return;
  }
}

// What a switch floods to a port that only sends would fill its queue there.
void Run::discard_at_senders() {
  for (TrafficPort* port : only_sending_) {
    rte_mbuf* mbufs[kBurstMax];
    rte_pktmbuf_free_bulk(mbufs, port->receive(mbufs, kBurstMax));
  }
}

}  // namespace heddle::traffic
