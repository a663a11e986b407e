// SPDX-License-Identifier: Apache-2.0
// Two switches of two workers, each worker on a thread of its own, hosts on the test's thread: for the thread
// sanitizer, and for what only real concurrency shows. All ports of a worker cross to ports of the other one.
#include <gtest/gtest.h>
#include <time.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "io/memory_link.h"
#include "node/node.h"
#include "test_fabric.h"

namespace heddle::test::threads_test {
namespace {

// Every thread takes from the heap; the counter is shared.
class SharedPool : public HeapPool {
 public:
  uint32_t allocate(Packet** packets, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) packets[i] = fresh();
    shared_out_ += count;
    return count;
  }
  void release(Packet** packets, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) destroy(packets[i]);
    shared_out_ -= count;
  }
  int64_t shared_out() const { return shared_out_; }

 private:
  std::atomic<int64_t> shared_out_{0};
};

Nanos monotonic_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<Nanos>(time.tv_sec) * kSecond + static_cast<Nanos>(time.tv_nsec);
}

//  h1 - n1 e0 | f1 ==== f1 | n2 e0 - h2     f1 is the other worker's: every frame crosses
struct Threads : testing::Test {
  Topology topology;
  SharedPool pool;
  std::vector<std::unique_ptr<MemoryLink>> links;
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};

  void SetUp() override {
    topology.name = "threads";
    topology.settings.hello_interval_ns = 50 * kMillisecond;  // sanitizers are slow, and so are loaded machines
    topology.settings.hellos_missed = 100;
    add_node(topology, 1, 1);
    add_node(topology, 2, 1);
    add_link(topology, 0, 1);
    topology.classes.push_back({});
    topology.classes[0].life_ns = 4 * kSecond;
    for (uint64_t seed = 1; seed <= 3; ++seed)
      links.push_back(std::make_unique<MemoryLink>(pool, MemoryLinkOptions{}, MemoryLinkOptions{}, seed));
    for (uint16_t i = 0; i < 2; ++i) {
      NodeOptions options;
      options.topology = &topology;
      options.node_index = i;
      options.workers = 2;
      options.devices = {&links[i]->end(1), &links[2]->end(i)};
      options.complete_checksums = {false, false};
      options.pool = options.control_pool = &pool;
      options.seed = i + uint64_t{1};
      nodes.push_back(std::make_unique<Node>(options));
    }
    for (auto& node : nodes)
      for (WorkerIndex worker = 0; worker < 2; ++worker)
        threads.emplace_back([this, &node, worker] {
          while (!stop) {
            if (!node->worker(worker).poll(monotonic_ns()).busy) std::this_thread::yield();
          }
        });
  }
  void TearDown() override {
    stop = true;
    for (std::thread& thread : threads) thread.join();
    nodes.clear();
    links.clear();
    EXPECT_EQ(pool.shared_out(), 0);
  }

  void send(unsigned host, const Frame& bytes) {
    Packet* packet = nullptr;
    pool.allocate(&packet, 1);
    std::memcpy(packet->data, bytes.data(), bytes.size());
    packet->length = static_cast<uint16_t>(bytes.size());
    while (links[host]->end(0).transmit(nullptr, 0, monotonic_ns()) == 0) std::this_thread::yield();
    links[host]->end(0).transmit(&packet, 1, monotonic_ns());
  }
  // Takes what has come for a host: unicast frames in order without gaps, `next` first.
  void receive(unsigned host, uint32_t& next) {
    Packet* packets[kBurst];
    const uint32_t count = links[host]->end(0).receive(packets, kBurst, monotonic_ns());
    for (uint32_t i = 0; i < count; ++i) {
      uint32_t got;
      std::memcpy(&got, packets[i]->data + 14, sizeof got);
      if (packets[i]->data[0] != 2) continue;  // a late broadcast
      EXPECT_EQ(got, next);
      ++next;
    }
    if (count > 0) pool.release(packets, count);
  }
  // Hosts call out until both have heard each other.
  void introduce() {
    bool heard[2] = {};
    while (!(heard[0] && heard[1])) {
      for (unsigned host = 0; host < 2; ++host) {
        send(host, broadcast(static_cast<uint8_t>(host + 1), 0));
        Packet* packets[kBurst];
        const uint32_t count = links[host]->end(0).receive(packets, kBurst, monotonic_ns());
        heard[host] = heard[host] || count > 0;
        if (count > 0) pool.release(packets, count);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
};

TEST_F(Threads, FramesThatCrossWorkersOnAllHopsArriveInOrder) {
  constexpr uint32_t kFrames = 3000, kWindow = 32;
  introduce();
  uint32_t sent = 0, next[2] = {};
  while (next[0] < kFrames || next[1] < kFrames) {
    if (sent < kFrames && sent < std::min(next[0], next[1]) + kWindow) {
      send(0, frame(2, 1, sent));
      send(1, frame(1, 2, sent));
      ++sent;
    }
    receive(0, next[0]);
    receive(1, next[1]);
  }
}

}  // namespace
}  // namespace heddle::test::threads_test
