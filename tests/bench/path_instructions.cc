// SPDX-License-Identifier: Apache-2.0
// Sends frames through switches in memory, for tests/bench/instructions to count under callgrind what one switch does.
//   path_instructions edge_edge|edge_fabric|transit|fabric_edge [--packets N] [--flows N] [--size BYTES]
// The switch that is counted is polled by counted_poll(), everything else by other_poll(). Prints the packets
// delivered.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "pipe_rig.h"
#include "wire/ethernet.h"

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

constexpr uint64_t kSender = 0x020000000001, kReceiver = 0x020000000002;

// UDP from the sender to the receiver, of flow `flow`.
void write_frame(Packet& packet, uint32_t flow, uint32_t size) {
  packet.length = static_cast<uint16_t>(size);
  std::memset(packet.data, 0, size);
  store_mac(packet.data, kReceiver);
  store_mac(packet.data + 6, kSender);
  store_be16(packet.data + 12, kEtherTypeIpv4);
  uint8_t* ip = packet.data + 14;
  ip[0] = 0x45;
  store_be16(ip + 2, static_cast<uint16_t>(size - 14));
  ip[8] = 64;
  ip[9] = kProtocolUdp;
  store_be32(ip + 12, 0x0a000001u + (flow >> 10));
  store_be32(ip + 16, 0x0a000002u);
  store_be16(ip + 20, static_cast<uint16_t>(1024 + (flow & 1023)));
  store_be16(ip + 22, 9);
  store_be16(ip + 24, static_cast<uint16_t>(size - 34));
}

class Run {
 public:
  Run(const std::string& path, uint32_t flows, uint32_t size)
      : rig_(path == "edge_edge" ? 1 : 3, 1, 65536),
        counted_(path == "transit"       ? 1
                 : path == "fabric_edge" ? 2
                                         : 0),
        flows_(flows),
        size_(size) {}

  // Sessions come up, both stations are known, every flow has been through once and no pair is held any more.
  void warm_up() {
    for (int turn = 0; turn < 2000; ++turn) this->turn(other_poll, 100 * kMicrosecond);
    announce(rig_.receiver(), kReceiver);
    announce(rig_.sender(), kSender);
    for (int turn = 0; turn < 2000; ++turn) this->turn(other_poll, 100 * kMicrosecond);
    for (uint32_t sent = 0; sent < 2 * flows_ + 1000; sent += kBurst) {
      inject();
      turn(other_poll, kMicrosecond);
    }
  }

  // Bursts of 32, one a turn, until `packets` have been sent; the delivered ones.
  uint64_t run(uint64_t packets) {
    const uint64_t before = rig_.receiver().delivered;
    for (uint64_t sent = 0; sent < packets; sent += kBurst) {
      inject();
      turn(counted_poll, kMicrosecond);
    }
    // Hellos and credits have taken a place in a burst here and there.
    for (int turns = 0; turns < 16 && rig_.receiver().delivered - before < packets; ++turns)
      turn(counted_poll, kMicrosecond);
    return rig_.receiver().delivered - before;
  }

  void print_drops() const {
    for (uint32_t node = 0; node < rig_.switches(); ++node)
      for (PortIndex port = 0; port < rig_.node(node).ports(); ++port)
        for (unsigned reason = 0; reason < kDropReasons; ++reason)
          if (const uint64_t drops = rig_.node(node).port(port).counters.drops[reason]; drops != 0)
            std::printf("node %u port %u: %s %llu\n", node, unsigned{port}, kDropReasonNames[reason].data(),
                        static_cast<unsigned long long>(drops));
  }

 private:
  void announce(PipeDevice& host, uint64_t mac) {
    Packet* packet = nullptr;
    rig_.pool().allocate(&packet, 1);
    write_frame(*packet, 0, 60);
    store_mac(packet->data, 0xffffffffffff);
    store_mac(packet->data + 6, mac);
    host.push(packet);
  }

  void inject() {
    Packet* packets[kBurst];
    rig_.pool().allocate(packets, kBurst);
    for (Packet* packet : packets) {
      write_frame(*packet, next_++ % flows_, size_);
      rig_.sender().push(packet);
    }
  }

  void turn(void (*poll)(Worker&, Nanos), Nanos step) {
    for (uint32_t node = 0; node < rig_.switches(); ++node)
      (node == counted_ ? poll : other_poll)(rig_.worker(node), now_);
    now_ += step;
  }

  PipeRig rig_;
  uint32_t counted_, flows_, size_, next_ = 0;
  Nanos now_ = kSecond;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Frames through switches in memory, to be counted"};
  std::string path;
  uint32_t flows = 1000, size = 60;
  uint64_t packets = 64000;
  app.add_option("path", path)
      ->required()
      ->check(CLI::IsMember({"edge_edge", "edge_fabric", "transit", "fabric_edge"}));
  app.add_option("--packets", packets);
  app.add_option("--flows", flows)->check(CLI::Range(1, 1 << 20));
  app.add_option("--size", size)->check(CLI::Range(60, 1514));
  CLI11_PARSE(app, argc, argv);
  Run run(path, flows, size);
  run.warm_up();
  const uint64_t delivered = run.run(packets);
  std::printf("%s: %llu of %llu packets delivered\n", path.c_str(), static_cast<unsigned long long>(delivered),
              static_cast<unsigned long long>(packets));
  run.print_drops();
  return delivered == 0;
}
