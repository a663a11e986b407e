// SPDX-License-Identifier: Apache-2.0
#include "traffic/stream.h"

#include <rte_mbuf.h>
#include <rte_prefetch.h>

#include <algorithm>

namespace heddle::traffic {

namespace {
// Frames take the flows in turn; what is so far ahead is fetched in time.
constexpr uint32_t kPrefetchFlows = 8;

void prepare_buffer(rte_mempool*, void*, void* object, unsigned) {
  auto* mbuf = static_cast<rte_mbuf*>(object);
  mbuf->data_off = RTE_PKTMBUF_HEADROOM;
  const uint32_t room = std::min<uint32_t>(mbuf->buf_len - RTE_PKTMBUF_HEADROOM, kFrameBytesMax);
  write_pattern(rte_pktmbuf_mtod(mbuf, uint8_t*), room);
}
}  // namespace

void write_patterns(BufferPool& buffers) { rte_mempool_obj_iter(buffers.get(), prepare_buffer, nullptr); }

Stream::Stream(const TrafficOptions& options, Direction direction, TrafficPort& from, TrafficPort& to,
               BufferPool& buffers)
    : direction_(direction),
      from_(from),
      to_(to),
      buffers_(buffers),
      burst_(options.burst),
      check_every_(options.check_every),
      frame_bytes_(options.frame_bytes),
      numbers_(options.flows),
      orders_(options.flows) {
  templates_.reserve(frame_bytes_.size() * options.flows);
  for (const uint16_t bytes : frame_bytes_)
    for (uint32_t flow = 0; flow < options.flows; ++flow)
      templates_.push_back(make_template(direction, flow, flow % options.stations, bytes));
}

Stream::~Stream() { rte_pktmbuf_free_bulk(waiting_.data() + waiting_first_, waiting_end_ - waiting_first_); }

uint32_t Stream::send(uint32_t frames, uint64_t now) {
  if (waiting_first_ != waiting_end_) flush();
  if (waiting_first_ != waiting_end_) return 0;
  frames = std::min<uint32_t>(frames, burst_);
  if (frames == 0 || rte_pktmbuf_alloc_bulk(buffers_.get(), waiting_.data(), frames) != 0) return 0;
  make(frames, now);
  flush();
  return frames;
}

// In locals what changes with each frame: the frames' bytes could be anything, for all the compiler knows.
void Stream::make(uint32_t frames, uint64_t now) {
  const auto flows = static_cast<uint32_t>(numbers_.size()), sizes = static_cast<uint32_t>(frame_bytes_.size());
  uint32_t* const numbers = numbers_.data();
  uint32_t flow = next_flow_, size = next_size_;
  uint64_t sent_bytes = 0;
  for (uint32_t i = 0; i < frames; ++i) {
    rte_mbuf* mbuf = waiting_[i];
    const FrameTemplate* from = &templates_[size_t{size} * flows + flow];
    rte_prefetch0(from + kPrefetchFlows);
    write_frame(rte_pktmbuf_mtod(mbuf, uint8_t*), *from, {.flow = flow, .number = numbers[flow]++, .stamp = now});
    const uint16_t bytes = frame_bytes_[size];
    mbuf->data_len = bytes;
    mbuf->pkt_len = bytes;
    sent_bytes += bytes;
    flow = flow + 1 == flows ? 0 : flow + 1;
    size = size + 1 == sizes ? 0 : size + 1;
  }
  next_flow_ = flow;
  next_size_ = size;
  waiting_first_ = 0;
  waiting_end_ = frames;
  counts_.sent_frames += frames;
  counts_.sent_bytes += sent_bytes;
}

void Stream::flush() {
  waiting_first_ +=
      from_.transmit(waiting_.data() + waiting_first_, static_cast<uint16_t>(waiting_end_ - waiting_first_));
  counts_.refusals += waiting_first_ != waiting_end_;
}

uint32_t Stream::receive(uint64_t now) {
  rte_mbuf* mbufs[kBurstMax];
  const uint16_t received = to_.receive(mbufs, burst_);
  if (received == 0) return 0;
  uint64_t stamp = 0, frames = 0;  // so many came with this stamp: bursts often stay together
  uint64_t bytes = 0, good = 0;
  for (uint16_t i = 0; i < received; ++i) {
    FrameFields fields;
    if (!take(*mbufs[i], fields)) continue;
    ++good;
    bytes += mbufs[i]->data_len;
    if (fields.stamp != stamp && frames != 0) {
      latency_.add(now - stamp, frames);
      frames = 0;
    }
    stamp = fields.stamp;
    ++frames;
  }
  if (frames != 0) latency_.add(now - stamp, frames);
  counts_.received_frames += good;
  counts_.received_bytes += bytes;
  rte_pktmbuf_free_bulk(mbufs, received);
  return received;
}

// Is it one of those that were sent, and as it was?
inline bool Stream::take(const rte_mbuf& mbuf, FrameFields& fields) {
  const auto* frame = rte_pktmbuf_mtod(&mbuf, const uint8_t*);
  const Verdict verdict = read_frame(frame, mbuf.data_len, direction_, fields);
  if (verdict == Verdict::foreign) {
    ++counts_.foreign_frames;
    return false;
  }
  // In several pieces it would be longer than the largest that was sent.
  bool intact = verdict == Verdict::good && fields.flow < orders_.size() && mbuf.nb_segs == 1;
  if (intact && ++unchecked_ >= check_every_) {
    unchecked_ = 0;
    intact = pattern_intact(frame, mbuf.data_len);
  }
  if (intact)
    orders_[fields.flow].take(fields.number, counts_.order);
  else
    ++counts_.corrupt_frames;
  return intact;
}

bool Stream::announce(uint32_t station) {
  rte_mbuf* mbuf = rte_pktmbuf_alloc(buffers_.get());
  if (mbuf == nullptr) return false;
  const FrameTemplate announcement = make_announcement(direction_, station);
  std::memcpy(rte_pktmbuf_mtod(mbuf, uint8_t*), announcement.bytes.data(), kAnnouncementBytes);
  mbuf->data_len = kAnnouncementBytes;
  mbuf->pkt_len = kAnnouncementBytes;
  if (to_.transmit(&mbuf, 1) == 1) return true;
  rte_pktmbuf_free(mbuf);
  return false;
}

uint64_t Stream::in_flight() const {
  const uint64_t done = counts_.received_frames - counts_.order.duplicates + counts_.order.missing;
  return counts_.sent_frames > done ? counts_.sent_frames - done : 0;
}

void Stream::give_up() {
  for (size_t flow = 0; flow < orders_.size(); ++flow) orders_[flow].settle(numbers_[flow], counts_.order);
}

void Stream::clear() {
  give_up();
  counts_ = {};
  latency_.clear();
}

}  // namespace heddle::traffic
