// SPDX-License-Identifier: Apache-2.0
// Load and link state of a node's ports (decision 2, R8). Of what a port has queued and has sent its owner writes a
// line, of what waits for it at the inputs each worker a line of its own, of what the neighbour tells of its ports the
// owner of the link's port; all workers of the node read them. All is told by traffic class, and a class sees of a port
// what is in its own way there (R3). Relaxed, because nothing else is read by it, and old news are as good.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <vector>

#include "topology/topology.h"
#include "topology/virtual_channels.h"
#include "wire/types.h"

namespace heddle {

// Sent lately is what counts so long, less and less: this at least, and on a slow link the time of some frames.
constexpr Nanos kLatelyNs = 32 * kMicrosecond;
constexpr uint32_t kLatelyFrames = 8;
constexpr Nanos kLatelyMaxNs = 100 * kMillisecond;
// R8: neighbours are told each time that so much more has gone by, and forget what they hear no more of.
constexpr uint32_t kTellLatelies = 4;
constexpr uint32_t kForgetLatelies = 4 * kTellLatelies;

// Bytes sent lately, so much later.
constexpr uint32_t faded(uint32_t bytes, Nanos age, Nanos lately) {
  return age >= lately ? 0 : static_cast<uint32_t>(uint64_t{bytes} * (lately - age) / lately);
}

// Of a port at one moment, in time that its link takes for it (R3).
struct Load {
  uint64_t waiting_ns;  // for what waits for it here, at the output and at all inputs
  uint32_t sent_ns;     // for what it has sent lately: about lately_ns if it was never idle
  Nanos lately_ns;
  uint32_t flows;  // that wait at the inputs
  // As one class sees it: of sent_ns, what other classes have that it could not have had, and the part of the link that
  // is its own.
  uint32_t others_ns = 0;
  double part = 1;
};

// The same as a neighbour tells it of a port of its own (R8).
struct HeardLoad {
  uint32_t waiting_ns;
  uint16_t busy;  // 0xffff: it was never idle
  uint16_t flows;
  uint16_t part;  // 0xffff: the whole link
};

// Of a fabric port's link; an edge port is always up.
enum class LinkStanding : uint8_t {
  down,     // what came by its last session may still be on its way from here (K9)
  settled,  // down, and nothing is left of that
  up,
};

class LoadBoard {
 public:
  LoadBoard(size_t ports, size_t workers = 1, size_t classes = 1)
      : classes_(classes),
        ports_(ports),
        class_lines_((classes + kClassesInLine - 1) / kClassesInLine),
        of_class_(ports * class_lines_),
        waiting_(ports, workers),
        waiting_of_class_(classes == 1 ? 0 : ports * classes, workers),
        behind_(ports * classes) {}

  size_t classes() const { return classes_; }

  // As configured, with the longest frame; before anybody asks. Else it is a usual one.
  void set_rate(PortIndex port, uint64_t rate_bps, uint32_t frame_bytes) {
    PortLine& line = ports_[port];
    line.byte_ps = kByteBitPicoseconds / rate_bps;
    line.lately_ns = std::clamp<uint64_t>(kLatelyFrames * frame_bytes * line.byte_ps / 1000, kLatelyNs, kLatelyMaxNs);
  }
  Nanos lately_ns(PortIndex port) const { return ports_[port].lately_ns; }

  // --- by who owns the port ---
  // What is queued at the port, and what it had sent lately at `now`.
  void publish_load(PortIndex port, uint32_t queue_bytes, uint32_t sent_bytes, Nanos now) {
    PortLine& line = ports_[port];
    line.queue_bytes.store(queue_bytes, std::memory_order_relaxed);
    line.sent_bytes.store(sent_bytes, std::memory_order_relaxed);
    line.sent_at.store(static_cast<uint32_t>(now), std::memory_order_relaxed);
  }
  // The same of one class, at the same moment, where there are several.
  void publish_class(PortIndex port, uint8_t of_class, uint32_t queue_bytes, uint32_t sent_bytes) {
    OfClass& line = class_line(port, of_class);
    line.queue_bytes.store(queue_bytes, std::memory_order_relaxed);
    line.sent_bytes.store(sent_bytes, std::memory_order_relaxed);
  }
  // The class has so much of the port, whatever the others send: more than nothing, 1 at most.
  void publish_part(PortIndex port, uint8_t of_class, double part) {
    class_line(port, of_class)
        .part.store(std::max(1u, static_cast<uint32_t>(part * kWhole)), std::memory_order_relaxed);
  }
  void publish_standing(PortIndex port, LinkStanding standing) {
    ports_[port].standing.store(standing, std::memory_order_release);
    version_.fetch_add(1, std::memory_order_release);
  }
  // R12: the node at the other end is kept out since these ends had been seen (LinkState::ends_seen()).
  void publish_kept_out(PortIndex port, uint64_t ends_seen) {
    ports_[port].kept_out_with.store(ends_seen, std::memory_order_relaxed);
    version_.fetch_add(1, std::memory_order_release);
  }
  // A session has ended: the number of its end, among those of all ports. Before its port's standing says so.
  uint32_t count_session_end() { return session_ends_.fetch_add(1, std::memory_order_relaxed) + 1; }
  // Where that begins, before anybody counts: a number that a former life of the node has not come to.
  void begin_session_ends(uint32_t from) { session_ends_.store(from, std::memory_order_relaxed); }
  void publish_free(PortIndex port, uint32_t channel, uint32_t buffers) {
    ports_[port].free_buffers[channel].store(static_cast<uint16_t>(std::min(buffers, 0xffffu)),
                                             std::memory_order_relaxed);
  }
  // R8: has it so much to do, as the class sees it, that the neighbours are to know?
  void publish_loaded(PortIndex port, uint8_t of_class, bool loaded) {
    std::atomic<PortSet>& ports = loaded_[of_class];
    const PortSet bit = PortSet{1} << port;
    if (((ports.load(std::memory_order_relaxed) & bit) != 0) == loaded) return;
    if (loaded)
      ports.fetch_or(bit, std::memory_order_relaxed);
    else
      ports.fetch_and(~bit, std::memory_order_relaxed);
  }
  // R8: what a port of the node at the other end has to do for a class; then, of that class, which ones were told of:
  // the others have not much.
  void hear(PortIndex port, PortIndex there, uint8_t of_class, const HeardLoad& load) {
    Behind::Port& line = behind_[port * classes_ + of_class].of[there];
    line.load.store(uint64_t{load.waiting_ns} << 32 | uint32_t{load.busy} << 16 | load.flows,
                    std::memory_order_relaxed);
    line.part.store(load.part, std::memory_order_relaxed);
  }
  void heard(PortIndex port, uint8_t of_class, PortSet loaded, Nanos now) {
    Behind& behind = behind_[port * classes_ + of_class];
    behind.loaded.store(loaded, std::memory_order_relaxed);
    behind.heard_at.store(now, std::memory_order_relaxed);
  }
  // Of an edge port: may frames cross to it without a flow?
  void publish_at_once(PortIndex port, bool takes) {
    ports_[port].takes_at_once.store(takes, std::memory_order_relaxed);
  }

  // --- by any worker, of its own inputs ---
  // So much more, or less, of the class waits there for the port, of so many flows more or less.
  void add_waiting(WorkerIndex worker, PortIndex port, uint8_t of_class, uint32_t bytes, uint32_t flows) {
    waiting_.of(worker, port).add(bytes, flows);
    if (classes_ > 1) waiting_of_class_.of(worker, port * classes_ + of_class).add(bytes, flows);
  }

  // --- by whoever chooses or shows ---
  Load load(PortIndex port, Nanos now) const {
    const PortLine& line = ports_[port];
    uint32_t flows = 0;
    const uint64_t bytes = line.queue_bytes.load(std::memory_order_relaxed) + waiting_.sum(port, flows);
    return {bytes * line.byte_ps / 1000, sent_ns(line, line.sent_bytes, now), line.lately_ns, flows};
  }
  // As the class sees it: what waits of others is before its own by their share of the link at most, and so is what
  // they have sent in its way.
  Load load(PortIndex port, uint8_t of_class, Nanos now) const {
    const Load all = load(port, now);
    if (classes_ == 1) return all;
    const PortLine& line = ports_[port];
    const size_t at = port * classes_ + of_class;
    const OfClass& own = of_class_[port * class_lines_ + of_class / kClassesInLine].of[of_class % kClassesInLine];
    const uint64_t part = own.part.load(std::memory_order_relaxed);
    uint32_t flows = 0;
    const uint64_t bytes = own.queue_bytes.load(std::memory_order_relaxed) + waiting_of_class_.sum(at, flows);
    const uint64_t own_ns = std::min(bytes * line.byte_ps / 1000, all.waiting_ns);
    const uint64_t waiting_ns = own_ns + std::min(all.waiting_ns - own_ns, own_ns * (kWhole - part) / part);
    const uint32_t own_sent_ns = std::min(sent_ns(line, own.sent_bytes, now), all.sent_ns);
    const uint64_t not_its_own_ns = (line.lately_ns * (kWhole - part) + kWhole - 1) / kWhole;
    const auto others_ns = static_cast<uint32_t>(std::min<uint64_t>(all.sent_ns - own_sent_ns, not_its_own_ns));
    return {waiting_ns, own_sent_ns + others_ns, line.lately_ns, flows, others_ns, static_cast<double>(part) / kWhole};
  }
  // Fabric ports that have much to do for the class.
  PortSet loaded(uint8_t of_class) const { return loaded_[of_class].load(std::memory_order_relaxed); }
  // R8: the same of the node at the other end of `port`. It says so again and again: what is older is over.
  PortSet loaded_behind(PortIndex port, uint8_t of_class, Nanos now) const {
    const Behind& behind = behind_[port * classes_ + of_class];
    const PortSet loaded = behind.loaded.load(std::memory_order_relaxed);
    if (loaded == 0) return 0;
    const Nanos heard = behind.heard_at.load(std::memory_order_relaxed);
    return now > heard + kForgetLatelies * ports_[port].lately_ns ? 0 : loaded;
  }
  // Of one of those.
  Load behind(PortIndex port, PortIndex there, uint8_t of_class) const {
    const Behind::Port& line = behind_[port * classes_ + of_class].of[there];
    const uint64_t told = line.load.load(std::memory_order_relaxed);
    const Nanos lately = ports_[port].lately_ns;
    return {.waiting_ns = told >> 32,
            .sent_ns = static_cast<uint32_t>((told >> 16 & 0xffff) * lately / 0xffff),
            .lately_ns = lately,
            .flows = static_cast<uint32_t>(told & 0xffff),
            .part = line.part.load(std::memory_order_relaxed) / 65535.0};
  }
  uint64_t waiting_bytes(PortIndex port) const {
    uint32_t flows = 0;
    return queue_bytes(port) + waiting_.sum(port, flows);
  }
  // Of one class, at the inputs alone, and of how many flows.
  uint64_t waiting_bytes(PortIndex port, uint8_t of_class, uint32_t& flows) const {
    flows = 0;
    return classes_ == 1 ? waiting_.sum(port, flows) : waiting_of_class_.sum(port * classes_ + of_class, flows);
  }
  uint64_t time_ns(PortIndex port, uint64_t bytes) const { return bytes * ports_[port].byte_ps / 1000; }
  uint32_t queue_bytes(PortIndex port) const { return ports_[port].queue_bytes.load(std::memory_order_relaxed); }
  bool takes_at_once(PortIndex port) const { return ports_[port].takes_at_once.load(std::memory_order_relaxed); }
  uint32_t free_buffers(PortIndex port, uint32_t channel) const {
    return ports_[port].free_buffers[channel].load(std::memory_order_relaxed);
  }
  // Those of the ports that are up.
  PortSet up_of(PortSet ports) const {
    PortSet found = 0;
    for (PortSet rest = ports; rest != 0; rest &= rest - 1)
      if (up(PortIndex::of(std::countr_zero(rest)))) found |= rest & -rest;
    return found;
  }
  LinkStanding standing(PortIndex port) const { return ports_[port].standing.load(std::memory_order_acquire); }
  bool up(PortIndex port) const { return standing(port) == LinkStanding::up; }
  // What publish_kept_out() said last; 0: never.
  uint64_t kept_out_with(PortIndex port) const { return ports_[port].kept_out_with.load(std::memory_order_relaxed); }
  uint32_t session_ends() const { return session_ends_.load(std::memory_order_relaxed); }

  // Grows with each change of a port's standing, and of who is kept out.
  uint32_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  static constexpr uint64_t kByteBitPicoseconds = 8'000'000'000'000;
  struct alignas(64) PortLine {
    std::atomic<uint32_t> queue_bytes{0};
    std::atomic<uint32_t> sent_bytes{0};
    std::atomic<uint32_t> sent_at{0};  // ns, the lower half
    std::atomic<LinkStanding> standing{LinkStanding::down};
    std::atomic<bool> takes_at_once{false};
    std::array<std::atomic<uint16_t>, kVirtualChannels> free_buffers{};  // of the next hop, by virtual channel
    std::atomic<uint64_t> kept_out_with{0};
    uint64_t byte_ps = kByteBitPicoseconds / kRateUnknownBps;  // on its link; never changes, nor does
    Nanos lately_ns = kLatelyNs;
  };
  static constexpr uint32_t kWhole = 1024;  // parts of a link are told in these
  struct alignas(16) OfClass {
    std::atomic<uint32_t> queue_bytes{0};
    std::atomic<uint32_t> sent_bytes{0};
    std::atomic<uint32_t> part{kWhole};
  };
  static constexpr size_t kClassesInLine = 64 / sizeof(OfClass);
  struct alignas(64) ClassLine {  // of one port, whose owner alone writes it
    std::array<OfClass, kClassesInLine> of;
  };
  OfClass& class_line(PortIndex port, uint8_t of_class) {
    return of_class_[port * class_lines_ + of_class / kClassesInLine].of[of_class % kClassesInLine];
  }
  // What waits at the inputs, a line of each worker's own.
  class Waiting {
   public:
    struct One {
      void add(uint32_t more_bytes, uint32_t more_flows) {
        bytes.store(bytes.load(std::memory_order_relaxed) + more_bytes, std::memory_order_relaxed);
        flows.store(flows.load(std::memory_order_relaxed) + more_flows, std::memory_order_relaxed);
      }
      std::atomic<uint32_t> bytes{0}, flows{0};
    };
    Waiting(size_t count, size_t workers)
        : lines_of_worker_((count + kInLine - 1) / kInLine), lines_(workers * lines_of_worker_) {}
    One& of(size_t worker, size_t at) { return lines_[worker * lines_of_worker_ + at / kInLine].of[at % kInLine]; }
    // Of all workers: bytes, and so many flows more.
    uint64_t sum(size_t at, uint32_t& flows) const {
      uint64_t bytes = 0;
      for (size_t line = at / kInLine; line < lines_.size(); line += lines_of_worker_) {
        const One& one = lines_[line].of[at % kInLine];
        bytes += one.bytes.load(std::memory_order_relaxed);
        flows += one.flows.load(std::memory_order_relaxed);
      }
      return bytes;
    }

   private:
    static constexpr size_t kInLine = 64 / sizeof(One);
    struct alignas(64) Line {
      std::array<One, kInLine> of;
    };
    size_t lines_of_worker_;
    std::vector<Line> lines_;
  };

  // What a neighbour has told of its ports, for one class.
  struct Behind {
    struct Port {
      std::atomic<uint64_t> load{0};  // waiting ns, busy, flows
      std::atomic<uint16_t> part{0xffff};
    };
    std::atomic<PortSet> loaded{0};
    std::atomic<Nanos> heard_at{0};
    std::array<Port, kPortsMax> of{};
  };

  static uint32_t sent_ns(const PortLine& line, const std::atomic<uint32_t>& sent_bytes, Nanos now) {
    uint32_t age = static_cast<uint32_t>(now) - line.sent_at.load(std::memory_order_relaxed);
    if (age > ~0u - kLatelyMaxNs) age = 0;  // told in a turn that has begun after the reader's
    const uint32_t sent = faded(sent_bytes.load(std::memory_order_relaxed), age, line.lately_ns);
    return static_cast<uint32_t>(std::min<uint64_t>(sent * line.byte_ps / 1000, 2 * line.lately_ns));
  }

  const size_t classes_;
  std::atomic<uint32_t> version_{1};
  std::atomic<uint32_t> session_ends_{0};
  std::array<std::atomic<PortSet>, kFtags> loaded_{};  // by class
  std::vector<PortLine> ports_;
  size_t class_lines_;               // of each port
  std::vector<ClassLine> of_class_;  // by port, then by class
  Waiting waiting_;                  // by port
  Waiting waiting_of_class_;         // by port, then by class, where there are several
  std::vector<Behind> behind_;       // by port, then by class
};

}  // namespace heddle
