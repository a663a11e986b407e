// SPDX-License-Identifier: Apache-2.0
// Sends frames through switches in memory: for tests/bench/instructions to count under callgrind what one switch does,
// and for tests/bench/growth to time it.
//   path_instructions edge_edge|crossing|edge_fabric|transit|fabric_edge [--packets N] [--flows N] [--size BYTES]
//   [--pairs N] [--groups N] [--links N] [--ids N] [--lossless] [--congested] [--new half|full] [--apart] [--where]
// `crossing` is edge_edge between the ports of two workers, run by turns. The switch that is counted is polled by
// counted_poll(), everything else by other_poll(). With --apart each burst goes forward alone: its ACKs come back, and
// its flows end, in turns that are not counted. With --congested the receivers' ports let half of it through, so that
// most flows are held to their share. Prints JSON; with --where only the addresses of both, for
// tests/bench/cache_lines.
#include <CLI/CLI.hpp>
#include <bit>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "io/eal.h"
#include "pipe_rig.h"

using namespace heddle;
using namespace heddle::bench;

extern "C" {
__attribute__((noinline)) void counted_poll(Worker& worker, Nanos now) { worker.poll(now); }
__attribute__((noinline)) void other_poll(Worker& worker, Nanos now) {
  asm volatile("");  // kept apart from the other one
  worker.poll(now);
}
}

namespace {

constexpr uint32_t kMatchEntries = 131072;
constexpr Nanos kSharesSettle = 4 * kMillisecond;
constexpr Nanos kTurn = kMicrosecond;  // in which each sender sends a burst

struct Shape {
  std::string path;
  std::string news;  // how full the match table is while each frame is of a flow that has never been; empty: none is
  uint32_t flows = 1000, size = 60, pairs = 1;
  uint32_t groups = 0;  // that flows are of in turn; 0: the switches know of no applications
  uint32_t links = 1;   // between each two switches
  uint32_t ids = FabricSettings{}.flow_ids;
  uint64_t packets = 64000;
  bool apart = false, lossless = false, congested = false;
};

// Groups by their source, dealt to all injection limit IDs in turn; nothing ever meets the limit.
ApplicationPolicy applications(const Shape& shape) {
  ApplicationPolicy policy;
  policy.configured = shape.groups != 0;
  if (!policy.configured) return policy;
  policy.port_bytes = uint64_t{1} << 30;
  policy.indices[0] = {
      .base = 0, .bits = static_cast<uint8_t>(std::bit_width(shape.groups) - 1), .field = IndexField::source};
  for (uint32_t group = 0; group < shape.groups; ++group) policy.groups[group].limit = group % kNoLimitId;
  return policy;
}

RigShape rig(const Shape& shape) {
  const uint64_t offered_bps = uint64_t{kBurst} * (shape.size + kWireExtraBytes) * 8 * (kSecond / kTurn);
  RigShape rig{.switches = shape.path == "edge_edge" || shape.path == "crossing" ? 1u : 3u,
               .pairs = shape.pairs,
               .workers = shape.path == "crossing" ? 2u : 1u,
               .match_entries = kMatchEntries,
               .links = shape.links,
               .flow_ids = shape.ids,
               .receiver_bps = shape.congested ? offered_bps / 2 : 0,
               .applications = applications(shape)};
  rig.traffic_class.lossless = shape.lossless;
  return rig;
}

class Run {
 public:
  explicit Run(const Shape& shape)
      : shape_(shape),
        rig_(pool_, rig(shape)),
        counted_(shape.path == "transit"       ? 1
                 : shape.path == "fabric_edge" ? 2
                                               : 0) {}

  // Sessions come up, all stations are known, every flow has been through once and no pair is held any more.
  void warm_up() {
    for (int turn = 0; turn < 2000; ++turn) this->turn(100 * kMicrosecond);
    for (uint32_t pair = 0; pair < shape_.pairs; ++pair) {
      announce(rig_, rig_.receiver(pair), kReceiver + pair);
      announce(rig_, rig_.sender(pair), kSender + pair);
    }
    for (int turn = 0; turn < 2000; ++turn) this->turn(100 * kMicrosecond);
    const uint64_t before = shape_.news == "full"   ? kMatchEntries + 1000
                            : shape_.news == "half" ? kMatchEntries / 2 - std::min<uint64_t>(shape_.packets / 2, 60000)
                                                    : 2 * shape_.flows + 1000;
    for (uint64_t sent = 0; sent < before; sent += inject()) turn(kTurn);
    if (shape_.congested) settle_on_shares();
  }

  // A burst of 32 from each sender a turn, until `packets` have been sent, or delivered where many are dropped.
  void run() {
    begin_delivered_ = delivered();
    begin_ = port_sums();
    counting_ = true;
    const bool some_dropped = shape_.congested || shape_.ids != FabricSettings{}.flow_ids;
    for (uint64_t sent = 0; (some_dropped ? delivered() - begin_delivered_ : sent) < shape_.packets;) {
      sent += inject();
      turn(kTurn);
      if (shape_.apart) settle();
    }
    // Hellos and credits have taken a place in a burst here and there.
    for (int turns = 0; turns < 16 && delivered() - begin_delivered_ < shape_.packets; ++turns) turn(kTurn);
  }

  nlohmann::json report() const {
    const Sums end = port_sums();
    const auto packets = static_cast<double>(delivered() - begin_delivered_);
    const auto each = [packets](uint64_t a, uint64_t b) { return static_cast<double>(b - a) / packets; };
    nlohmann::json json{{"path", shape_.path},
                        {"sent", shape_.packets},
                        {"delivered", delivered() - begin_delivered_},
                        {"ns_per_packet", static_cast<double>(counted_ns_) / packets},
                        {"flow_setups_per_packet", each(begin_.setups, end.setups)},
                        {"upstream_frames_per_packet", each(begin_.upstream_frames, end.upstream_frames)},
                        {"upstream_bytes_per_packet", each(begin_.upstream_bytes, end.upstream_bytes)},
                        {"drops", nlohmann::json::object()}};
    for (uint32_t node = 0; node < rig_.switches(); ++node)
      for (PortIndex port = 0; port < rig_.node(node).ports(); ++port)
        for (unsigned reason = 0; reason < kDropReasons; ++reason)
          if (const uint64_t drops = rig_.node(node).port(port).counters.drops[reason]; drops != 0)
            json["drops"][std::string(kDropReasonNames[reason])] = drops;
    return json;
  }

 private:
  struct Sums {
    uint64_t setups = 0;
    uint64_t upstream_frames = 0, upstream_bytes = 0;  // ACKs, credits and hellos towards the sender, if over a link
  };

  uint64_t delivered() const {
    uint64_t sum = 0;
    for (uint32_t pair = 0; pair < shape_.pairs; ++pair) sum += rig_.receiver(pair).delivered;
    return sum;
  }

  Sums port_sums() const {
    Sums sums;
    const Node& node = rig_.node(counted_);
    for (PortIndex index = 0; index < node.ports(); ++index) {
      const Port& port = node.port(index);
      sums.setups += port.counters.events[static_cast<unsigned>(ProtocolEvent::flow_created)];
      if (!port.is_fabric() || rig_.neighbour(counted_, index) > counted_) continue;
      sums.upstream_frames += port.counters.sent_frames;  // towards the sender there is nothing else
      sums.upstream_bytes += port.counters.sent_bytes;
    }
    return sums;
  }

  uint32_t inject() {
    Packet* packets[kBurst];
    for (uint32_t pair = 0; pair < shape_.pairs; ++pair) {
      if (rig_.pool().allocate(packets, kBurst) != kBurst) throw std::runtime_error("the switches keep all buffers");
      for (Packet* packet : packets) {
        const uint32_t flow = shape_.news.empty() ? next_++ % shape_.flows : next_++;
        write_frame(*packet, pair, pair, flow, shape_.size, flow % std::max(1u, shape_.groups));
        rig_.sender(pair).push(packet);
      }
    }
    return shape_.pairs * kBurst;
  }

  // Until the ACKs of the burst before are through, as long as these may wait at both links.
  void settle() {
    counting_ = false;
    for (int turns = 0; turns < 200; ++turns) turn(kTurn);
    counting_ = true;
  }

  // Until the levels of congestion have told the senders' switch what each flow may have.
  void settle_on_shares() {
    for (Nanos end = now_ + kSharesSettle; now_ < end;) {
      inject();
      turn(kTurn);
    }
  }

  void turn(Nanos step) {
    for (uint32_t index = 0; index < rig_.switches(); ++index) {
      Node& node = rig_.node(index);
      const bool counted = index == counted_ && counting_;
      const auto begin = std::chrono::steady_clock::now();
      for (WorkerIndex worker = 0; worker < node.workers(); ++worker)
        (counted ? counted_poll : other_poll)(node.worker(worker), now_);
      if (counted) counted_ns_ += static_cast<uint64_t>((std::chrono::steady_clock::now() - begin).count());
    }
    now_ += step;
  }

  Shape shape_;
  StackPool pool_{32768};
  PipeRig rig_;
  uint32_t counted_, next_ = 0;
  bool counting_ = false;
  uint64_t counted_ns_ = 0, begin_delivered_ = 0;
  Sums begin_;
  Nanos now_ = kSecond;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Frames through switches in memory, to be counted and timed"};
  Shape shape;
  app.add_option("path", shape.path)
      ->required()
      ->check(CLI::IsMember({"edge_edge", "crossing", "edge_fabric", "transit", "fabric_edge"}));
  app.add_option("--packets", shape.packets, "(64000)");
  app.add_option("--flows", shape.flows, "taken in turn (1000)")->check(CLI::Range(1, 1 << 20));
  app.add_option("--size", shape.size, "bytes of a frame (60)")->check(CLI::Range(60, 1514));
  app.add_option("--pairs", shape.pairs, "of a port that sends and one that receives (1)")->check(CLI::Range(1, 16));
  app.add_option("--groups", shape.groups, "of applications, with all injection limit IDs (none are known of)")
      ->check(CLI::IsMember({1, 2, 4, 8, 16, 32, 64}));
  app.add_option("--links", shape.links, "between each two switches (1)")->check(CLI::Range(1, 8));
  app.add_option("--ids", shape.ids, "flow IDs of a port (2047)")->check(CLI::Range(16, 65535));
  app.add_flag("--lossless", shape.lossless, "the class is lossless");
  app.add_flag("--congested", shape.congested, "ports of receivers have half the rate that is sent");
  app.add_option("--new", shape.news, "each frame is of a flow that has never been; of the match table")
      ->check(CLI::IsMember({"half", "full"}));
  app.add_flag("--apart", shape.apart, "a burst goes forward alone, and its ACKs come back uncounted");
  bool where = false;
  app.add_flag("--where", where, "print the addresses of counted_poll() and other_poll() and end");
  CLI11_PARSE(app, argc, argv);
  if (where)
    return std::printf("%p %p\n", reinterpret_cast<void*>(counted_poll), reinterpret_cast<void*>(other_poll)) < 0;
  if (shape.path == "crossing" && shape.pairs % 2 == 0)
    return app.exit(CLI::ValidationError("crossing needs odd pairs"));
  const Eal eal({.threads = 0, .memory_mb = 1024, .pci_devices = {}});
  Run run(shape);
  run.warm_up();
  run.run();
  const nlohmann::json report = run.report();
  std::printf("%s\n", report.dump().c_str());
  return report["delivered"] == 0;
}
