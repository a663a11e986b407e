// SPDX-License-Identifier: Apache-2.0
// Local delivery: the longest short cut (decision 4). A frame for an edge port of this node, from a host or at the end
// of its way over the fabric, goes to that port's device in the burst in which it came, if nothing is in its way. It
// has been delivered before anything could have been asked about its flow, so the flow needs no output flow ID for it,
// and one of a host none at all. What the device has no room for takes the ordinary way, as do all frames while one of
// their flow is on it.
//
// A host's frame for a port of another worker crosses to it without a flow (X1), in the room of its input, and is
// delivered there at once; with the room comes back how many bytes have been delivered. The other worker says on the
// board whether its port takes such frames. Those that it can't deliver at once stand in the port's queue, in order
// with what comes after them.
#pragma once

#include "ingress/edge_input.h"
#include "node/ack_writer.h"
#include "node/crosspoint.h"
#include "node/edge_flows.h"
#include "node/flow_limits.h"
#include "node/flow_ways.h"
#include "node/outbox.h"
#include "node/ports.h"
#include "node/site.h"
#include "routing/load_board.h"
#include "wire/fabric_frame.h"
#include "wire/inlining.h"

namespace heddle {

class DeliveryAtOnce {
 public:
  DeliveryAtOnce(const Site& site, Ports& ports, Outbox& outbox, LoadBoard& board, EdgeInput& edge, AckWriter& acks,
                 const FlowWays& ways, CrossPoint& crosspoint, FlowLimits& flow_limits)
      : site_(site),
        ports_(ports),
        outbox_(outbox),
        board_(board),
        edge_(edge),
        acks_(acks),
        ways_(ways),
        crosspoint_(crosspoint),
        flow_limits_(flow_limits) {}

  // A pass over a burst of a host, before any of it goes the ordinary way: what is delivered is taken out. `found`:
  // where the match of each is. Returns how many those are.
  [[gnu::noinline]] uint32_t deliver(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now);
  // The same for other workers' ports.
  [[gnu::noinline]] uint32_t cross(Port& port, Packet** packets, const uint32_t* found, uint32_t count, Nanos now);
  // It has come from another worker, to whom room and bytes go back.
  void gather_crossed(Port& there, Packet* packet, Nanos now);
  // A frame for this node, of a flow that has nothing on the ordinary way. It is settled here.
  [[gnu::noinline]] bool gather_from_fabric(Port& port, FlowId id, InputFlow& flow, Packet* packet, Nanos now);
  // The edge port to which that many frames like this one may go from the fabric, one behind the other; nullptr if they
  // are to be looked at one by one.
  [[gnu::noinline]] OutputSide* open_for_run(const Port& port, const Packet& packet, uint32_t frames);
  // May one more go there? Its port takes it, and it lives.
  static bool may_gather(const OutputSide& output, const Packet& packet, Nanos now) {
    return usually(output.host_frames.takes(packet)) && !life_over(packet, now);
  }
  // One that may, the next one of its flow: settled, without its header, gathered. Its buffers are the caller's to
  // count.
  void settle_and_gather(Port& port, FlowId id, InputFlow& flow, OutputSide& output, Packet* packet, Nanos now) {
    flow.next_data_flow += packet->payload;
    flow.data_flow += packet->payload;
    flow.ack_flow += packet->payload;
    FlowLimits::forget(flow);  // as when an ACK comes (C3)
    acks_.mark_due(port, id, flow, now);
    strip_fabric_header(*packet);
    output.host_frames.finish(*packet);
    gather(output, packet);
  }
  // What has been gathered goes to its devices, at the end of a burst.
  void send_all(Nanos now);
  // To the other workers, when it has changed.
  void publish(Port& port);
  // Room that a frame must find which crosses to another worker's port so: for whichever frame may come, since one that
  // finds none is not to be overtaken by a shorter one; beside what flows that wait keep, as from other frames without
  // a flow.
  static uint32_t room_asked(const Site& site, const Port& port, const Voq& voq);
  // Nobody waits at the edge port, nor is anybody to: a port with a rate of its own is to have its queue here
  // (decision 6).
  static bool takes_at_once(const Port& there);

 private:
  // Sums are made before: the packets are the device's once it has taken them.
  [[gnu::noinline]] void send(Port& there, Nanos now);
  // Once for many frames of a burst: a call, so that the loop over them has its registers.
  [[gnu::noinline]] OutputSide* open_for_burst(const Port& port, PortIndex to, const Packet& packet, uint32_t frames);
  OutputSide* open_at_once(const Port& port, PortIndex to, const Packet& packet);
  Voq* open_beside(Port& port, PortIndex to, const Packet& packet);
  static bool anybody_waits(const Port& port, const Voq& voq);
  static bool has_nothing_on_its_way(const EdgeInput& edge, Port& port, const MatchEntry& match, uint32_t match_index);
  bool opens_at_once(Port& there);
  static void gather(OutputSide& output, Packet* packet) { output.at_once.frames_[output.at_once.count_++] = packet; }

  const Site& site_;
  Ports& ports_;
  Outbox& outbox_;
  LoadBoard& board_;
  EdgeInput& edge_;
  AckWriter& acks_;
  const FlowWays& ways_;
  CrossPoint& crosspoint_;
  FlowLimits& flow_limits_;
  PortSet at_once_outputs_ = 0;  // those with frames gathered of the burst that is being received
};

}  // namespace heddle
