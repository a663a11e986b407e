// SPDX-License-Identifier: Apache-2.0
#include "io/memory_link.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

#include "topology/topology.h"

namespace heddle {

namespace {
constexpr uint32_t kMillion = 1'000'000;
}  // namespace

MemoryLink::Direction::Direction(const MemoryLinkOptions& settings, uint64_t seed)
    : options(settings),
      loss_ppm(settings.loss_ppm),
      delay_ns(settings.delay_ns),
      random(seed),
      transmit_done(std::max<uint32_t>(1, settings.transmit_frames)),
      ring(settings.capacity_frames),
      waiting(std::bit_ceil(settings.capacity_frames + 1)),
      mask(static_cast<uint32_t>(waiting.size()) - 1) {}

MemoryLink::MemoryLink(PacketPool& pool, const MemoryLinkOptions& zero_to_one, const MemoryLinkOptions& one_to_zero,
                       uint64_t seed)
    : pool_(pool) {
  directions_[0] = std::make_unique<Direction>(zero_to_one, seed * 2 + 1);
  directions_[1] = std::make_unique<Direction>(one_to_zero, seed * 2 + 2);
  for (unsigned side = 0; side < 2; ++side) {
    ends_[side].link = this;
    ends_[side].side = side;
  }
}

MemoryLink::~MemoryLink() {
  for (const auto& way : directions_) {
    do {
      take_in(*way);
      for (; way->count > 0; --way->count, ++way->head) pool_.release(&way->waiting_at(way->head).packet, 1);
    } while (!way->ring.empty());
  }
}

void MemoryLink::set_up(bool up) {
  if (up == this->up()) return;
  generation_.fetch_add(1, std::memory_order_relaxed);
}

void MemoryLink::set_options(unsigned direction, const MemoryLinkOptions& options) {
  Direction& way = *directions_[direction];
  const MemoryLinkOptions before = way.options;
  way.options = options;
  way.options.transmit_frames = before.transmit_frames;
  way.options.receive_frames = before.receive_frames;
  way.options.capacity_frames = before.capacity_frames;
  set_loss(direction, options.loss_ppm);
  set_delay(direction, options.delay_ns);
}

void MemoryLink::observe(LinkObserver* observer, uint32_t wanted) {
  observer_ = observer;
  wanted_ = observer == nullptr ? 0 : wanted;
}

uint64_t MemoryLink::under_way(unsigned direction) const {
  const Direction& way = *directions_[direction];
  return way.count + way.ring.used();
}

void MemoryLink::tell(unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) {
  count_events(direction, event, 1);
  show(direction, event, packet, at);
}

void MemoryLink::show(unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) {
  if (wanted_ >> static_cast<unsigned>(event) & 1) observer_->on_frame(*this, direction, event, packet, at);
}

void MemoryLink::count_events(unsigned direction, LinkFrameEvent event, uint32_t frames) {
  std::atomic<uint64_t>& counter = directions_[direction]->events[static_cast<unsigned>(event)];
  if (event == LinkFrameEvent::lost)  // the only one that both ends count
    counter.fetch_add(frames, std::memory_order_relaxed);
  else
    counter.store(counter.load(std::memory_order_relaxed) + frames, std::memory_order_relaxed);
}

// --- sender ---

// What goes into the ring at once.
struct MemoryLink::Burst {
  std::array<Entry, 2 * kBurst> entries;  // a frame may be doubled
  uint32_t count = 0;
  uint32_t generation = 0;
};

uint32_t MemoryLink::transmit(unsigned direction, Packet** packets, uint32_t count, Nanos now) {
  Direction& way = *directions_[direction];
  if (count == 0) return way.room_told = room(way, now);
  assert(count <= way.room_told);
  Burst burst;
  burst.generation = generation_.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (way.options.rate_bps != 0) {
      const uint64_t bits = (packets[i]->length + kWireExtraBytes) * uint64_t{8};
      way.wire_free_ns = std::max(way.wire_free_ns, now) + bits * kSecond / way.options.rate_bps;
      way.transmit_done[way.transmit_next] = way.wire_free_ns;
      way.transmit_next = way.transmit_next + 1 == way.transmit_done.size() ? 0 : way.transmit_next + 1;
    }
    send(direction, packets[i], now, burst);
  }
  count_events(direction, LinkFrameEvent::sent, count);
  count_events(direction, LinkFrameEvent::under_way, burst.count);
  [[maybe_unused]] const uint32_t pushed = way.ring.push(burst.entries.data(), burst.count);
  assert(pushed == burst.count);  // there was room
  if (Waker* waker = wakers_[1 - direction]; waker != nullptr && burst.count != 0) waker->notify();
  return way.room_told = room(way, now);
}

// A frame may be doubled, and so take two places; the entries of the transmit ring are free in their order.
uint32_t MemoryLink::room(const Direction& way, Nanos now) const {
  const uint32_t used = way.ring.used();
  const uint32_t places = way.options.capacity_frames > used ? way.options.capacity_frames - used : 0;
  uint32_t most = std::min(places / 2, kBurst);
  if (way.options.rate_bps == 0) return most;
  most = std::min(most, static_cast<uint32_t>(way.transmit_done.size()));
  uint32_t free = 0;
  while (free < most && way.transmit_done[(way.transmit_next + free) % way.transmit_done.size()] <= now) ++free;
  return free;
}

void MemoryLink::send(unsigned direction, Packet* packet, Nanos now, Burst& burst) {
  Direction& way = *directions_[direction];
  show(direction, LinkFrameEvent::sent, *packet, now);
  Packet bare{};  // a receiver gets bytes and nothing else
  bare.data = packet->data;
  bare.length = packet->length;
  *packet = bare;
  if (!up()) return lose(direction, LinkFrameEvent::lost, packet, now);
  const Nanos leaves = way.options.rate_bps == 0 ? now : way.wire_free_ns;
  const Nanos arrives = std::max(leaves + way.delay_ns.load(std::memory_order_relaxed), way.last_arrival_ns);
  const MemoryLinkOptions& faults = way.options;
  const uint32_t loss = way.loss_ppm.load(std::memory_order_relaxed);
  if (packet->length > way.longest_bytes.load(std::memory_order_relaxed))
    return lose(direction, LinkFrameEvent::lost, packet, arrives);
  if ((loss | faults.duplicate_ppm | faults.reorder_ppm | faults.corrupt_ppm) != 0)
    return send_with_faults(direction, packet, arrives, burst);
  way.last_arrival_ns = arrives;
  add(direction, packet, arrives, burst);
}

void MemoryLink::send_with_faults(unsigned direction, Packet* packet, Nanos arrives, Burst& burst) {
  Direction& way = *directions_[direction];
  const MemoryLinkOptions& faults = way.options;
  const auto hit = [&way](uint32_t ppm) { return ppm != 0 && way.random.below(kMillion) < ppm; };
  if (hit(way.loss_ppm.load(std::memory_order_relaxed))) return lose(direction, LinkFrameEvent::lost, packet, arrives);
  if (hit(faults.duplicate_ppm)) {
    Packet* copy = nullptr;
    if (pool_.allocate(&copy, 1) == 1) {
      copy->length = packet->length;
      std::memcpy(copy->data, packet->data, packet->length);
      tell(direction, LinkFrameEvent::duplicated, *copy, arrives);
      add(direction, copy, arrives + way.random.below(faults.reorder_max_ns + 1), burst);
    }
  }
  if (hit(faults.corrupt_ppm)) {
    corrupt(way, *packet);
    tell(direction, LinkFrameEvent::corrupted, *packet, arrives);
  }
  if (hit(faults.reorder_ppm))
    arrives += way.random.below(faults.reorder_max_ns + 1);
  else
    way.last_arrival_ns = arrives;
  add(direction, packet, arrives, burst);
}

void MemoryLink::add(unsigned direction, Packet* packet, Nanos arrives, Burst& burst) {
  show(direction, LinkFrameEvent::under_way, *packet, arrives);
  burst.entries[burst.count++] = {packet, arrives, burst.generation, 0};
}

void MemoryLink::corrupt(Direction& way, Packet& packet) {
  constexpr uint32_t kHeaderBytes = 60;  // half of the flips hit what a switch reads
  for (uint64_t flips = 1 + way.random.below(3); flips > 0; --flips) {
    const bool header = way.random.below(2) == 0;
    const uint64_t bytes = header ? std::min<uint64_t>(kHeaderBytes, packet.length) : packet.length;
    const uint64_t bit = way.random.below(bytes * 8);
    packet.data[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
  }
}

void MemoryLink::lose(unsigned direction, LinkFrameEvent event, Packet* packet, Nanos at) {
  tell(direction, event, *packet, at);
  pool_.release(&packet, 1);
}

// --- receiver ---

// From the ring into order of arrival; nearly always at the end.
void MemoryLink::take_in(Direction& way) {
  Entry taken[kBurst];
  while (const uint32_t room = way.mask + 1 - way.count) {
    const uint32_t count = way.ring.pop(taken, std::min(room, kBurst));
    if (count == 0) return;
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t place = way.head + way.count++;
      for (; place != way.head; --place) {
        const Entry& before = way.waiting_at(place - 1);
        if (before.arrives_ns <= taken[i].arrives_ns) break;
        way.waiting_at(place) = before;
      }
      way.waiting_at(place) = taken[i];
    }
  }
}

Nanos MemoryLink::next_arrival(unsigned direction) {
  Direction& way = *directions_[direction];
  // Frames come into the ring in order of arrival, but for those held back or doubled.
  if (way.count == 0 || (way.options.reorder_ppm | way.options.duplicate_ppm) != 0) take_in(way);
  return way.count == 0 ? kNever : way.waiting_at(way.head).arrives_ns;
}

// The receiver has not looked since frames filled its ring: what came after them found no room.
void MemoryLink::drop_overflow(unsigned direction, Nanos now) {
  Direction& way = *directions_[direction];
  const uint32_t ring = way.options.receive_frames;
  uint32_t kept = ring;
  for (uint32_t i = ring; i < way.count; ++i) {
    const Entry entry = way.waiting_at(way.head + i);
    if (entry.arrives_ns <= now)
      lose(direction, LinkFrameEvent::ring_full, entry.packet, entry.arrives_ns);
    else
      way.waiting_at(way.head + kept++) = entry;
  }
  way.count = kept;
}

uint32_t MemoryLink::receive(unsigned direction, Packet** packets, uint32_t count, Nanos now) {
  Direction& way = *directions_[direction];
  take_in(way);
  const uint32_t ring = way.options.receive_frames;
  if (way.count > ring && way.waiting_at(way.head + ring).arrives_ns <= now) drop_overflow(direction, now);
  const uint32_t generation = generation_.load(std::memory_order_relaxed);
  uint32_t taken = 0;
  while (taken < count && way.count > 0) {
    const Entry& entry = way.waiting_at(way.head);
    if (entry.arrives_ns > now) break;
    Packet* packet = entry.packet;
    const bool cut = entry.generation != generation;
    ++way.head;
    --way.count;
    if (cut) {
      lose(direction, LinkFrameEvent::lost, packet, now);
      continue;
    }
    show(direction, LinkFrameEvent::delivered, *packet, now);
    packets[taken++] = packet;
  }
  count_events(direction, LinkFrameEvent::delivered, taken);
  return taken;
}

}  // namespace heddle
