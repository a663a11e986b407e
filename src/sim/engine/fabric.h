// SPDX-License-Identifier: Apache-2.0
// A whole fabric under virtual time: switches, links, hosts. Owns them and their packets; one thread.
#pragma once

#include <memory>
#include <vector>

#include "node/node.h"
#include "sim/engine/engine.h"
#include "sim/engine/packet_pool.h"
#include "sim/engine/setup.h"
#include "sim/engine/watcher.h"
#include "sim/hosts/traffic.h"

namespace heddle::sim {

class Fabric;
class HostActor;
enum class Forgery : uint8_t;

// One worker of a switch: polled when it wants to be, when a frame comes in or another worker wakes it, and not before
// its last turn is over.
class WorkerActor : public Actor {
 public:
  WorkerActor(Fabric& fabric, uint16_t node, WorkerIndex worker) : fabric_(fabric), node_(node), worker_(worker) {}
  void act(Nanos now) override;
  // There is something for it at `at`.
  void notify(Nanos at);
  void pause(Nanos until);
  void started(Nanos now) { free_ns_ = paused_until_ns_ = now; }
  Nanos busy_ns() const { return busy_ns_; }

 private:
  Fabric& fabric_;
  uint16_t node_;
  WorkerIndex worker_;
  Nanos free_ns_ = 0;  // end of its last turn
  Nanos paused_until_ns_ = 0;
  Nanos busy_ns_ = 0;
};

class Fabric : public LinkObserver {
 public:
  // All nodes run when this returns. `traffic` outlives the fabric.
  Fabric(const SimSetup& setup, Engine& engine, Traffic& traffic);
  ~Fabric() override;

  const SimSetup& setup() const { return setup_; }
  const Topology& topology() const { return setup_.topology; }
  Engine& engine() { return engine_; }
  SimPool& pool() { return pool_; }
  Traffic& traffic() { return traffic_; }
  void watch(Watcher* watcher) { watcher_ = watcher; }
  Watcher* watcher() { return watcher_; }

  Node* node(uint16_t index) { return nodes_[index].node.get(); }  // nullptr while it is crashed
  const Node* node(uint16_t index) const { return nodes_[index].node.get(); }
  WorkerActor& worker_actor(uint16_t node, WorkerIndex worker) { return *nodes_[node].actors[worker]; }
  OwnerId owner(uint16_t node) const { return kFirstNodeOwner + node; }
  uint32_t links() const { return static_cast<uint32_t>(setup_.topology.links.size()); }
  MemoryLink& link(uint32_t index) { return *links_[index]; }  // topology links, then one per host
  MemoryLink& host_link(uint16_t host) { return *links_[links() + host]; }
  size_t hosts() const { return hosts_.size(); }
  HostActor& host(uint16_t index) { return *hosts_[index]; }

  // --- faults ---
  void crash(uint16_t node);
  void start(uint16_t node);
  void pause(uint16_t node, WorkerIndex worker, Nanos until);
  // The node's edge ports are shared by another policy from now on (A9).
  void set_applications(uint16_t node, const ApplicationPolicy& policy);
  // What classes have of the node's ports from now on (X4); empty: nothing of their own.
  void set_shapers(uint16_t node, const PortShapers& shapers);
  // A link's cable, and what the devices at its ends say of it.
  void plug(uint32_t link, bool in);
  // Ends a lack of buffers: nodes make copies whatever they hold.
  void end_shortage();
  // The next frames of that direction that the forgery fits are rewritten.
  void forge_next(uint32_t link, unsigned direction, Forgery forgery, uint32_t frames, uint64_t seed);
  void stop_forging() { forging_.clear(); }
  uint64_t forged_frames() const { return forged_frames_; }

  // Drops, events and frames of all ports that were and are: counters of crashed nodes are kept.
  PortCounters total() const;
  uint64_t packet_hops() const;  // frames that switches received
  // Where and when there was most of it since it was taken last.
  struct Fullest {
    uint32_t buffers_ppm = 0;     // of a link's channel that are in use, of those there are
    uint64_t injected_bytes = 0;  // that an edge port's applications have in the fabric (A6)
  };
  // After each turn that received something: buffers and the fabric fill in no other.
  void look_at_fullest(const Worker& worker);
  Fullest take_fullest();
  // What is injected takes a look at all flows of edge ports: only where somebody asks for it.
  void measure_injected() { measures_injected_ = true; }

  void on_frame(MemoryLink& link, unsigned direction, LinkFrameEvent event, Packet& packet, Nanos at) override;

 private:
  struct NodeState {
    std::unique_ptr<NodePool> pool;
    std::unique_ptr<ControlPool> control_pool;
    std::unique_ptr<Node> node;
    std::vector<std::unique_ptr<WorkerActor>> actors;
    std::vector<Device*> devices;
    uint32_t starts = 0;
  };
  struct EndPoint {  // who receives at an end of a link
    WorkerActor* worker = nullptr;
    HostActor* host = nullptr;
    OwnerId owner = 0;
  };
  void make_links();
  void forge(uint32_t link, unsigned direction, Packet& packet);
  void make_node(uint16_t index);
  static uint64_t injected_bytes(const Worker& worker, const Port& port);

  SimSetup setup_;
  Engine& engine_;
  Traffic& traffic_;
  SimPool pool_;
  Watcher* watcher_ = nullptr;
  std::vector<std::unique_ptr<MemoryLink>> links_;
  std::vector<std::array<EndPoint, 2>> ends_;
  std::vector<NodeState> nodes_;
  std::vector<std::unique_ptr<HostActor>> hosts_;
  PortCounters crashed_;
  Fullest fullest_;
  bool measures_injected_ = false;
  struct Forging {
    uint32_t link;
    unsigned direction;
    Forgery forgery;
    uint32_t frames;
    uint64_t seed;
  };
  std::vector<Forging> forging_;  // ordered and not done yet
  uint64_t forged_frames_ = 0;
};

// Adds the counts of `more`.
void add_counters(PortCounters& sum, const PortCounters& more);

}  // namespace heddle::sim
