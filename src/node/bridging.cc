// SPDX-License-Identifier: Apache-2.0
#include "node/bridging.h"

#include <bit>

namespace heddle {

void Bridging::flood(Port& port, Packet* packet, Nanos now) {
  port.counters.count(ProtocolEvent::flooded);
  if (!port.is_fabric()) packet->dies_ns = site_.classes.of(packet->ftag).flood_life_ns();
  PortSet targets = paths_.routes().tree() | site_.edge_ports;
  // Trees differ between nodes while link states spread: what comes from outside the tree, or back, ends here.
  if (port.is_fabric() && !(paths_.routes().tree() >> port.index & 1))
    return turn_.drop_at_input(port, packet, DropReason::no_route);
  if (port.is_fabric() && packet->source.node == site_.address)
    return turn_.drop_at_input(port, packet, DropReason::flood_loop);
  targets &= ~(PortSet{1} << port.index);
  for (; targets != 0; targets &= targets - 1) {
    const auto output = PortIndex::of(std::countr_zero(targets));
    const TopologyPort& description = site_.ports()[output];
    if (!description.fabric && !description.vlans.member(packet->vni)) continue;
    if (description.fabric && (!board_.up(output) || packet->hop_limit == 0)) continue;
    ++port.counters.copied_frames;
    Voq& voq = port.input.arbiter[site_.voq_index(output, site_.lanes.of(packet->ftag, kLossyChannel))];
    if (voq.copy_room < packet->cost) {
      port.counters.drop(DropReason::output_full);
      port.input.queues.dropped(packet->ftag, DropReason::output_full);
      continue;
    }
    Packet* copy = nullptr;
    if (!room_.may_copy(packet->cost) || pool_.allocate(&copy, 1) == 0) {
      port.counters.drop(DropReason::flood_copies);
      continue;
    }
    room_.copied(packet->cost);
    copy_frame(*copy, *packet);
    copy->flags |= kPacketCopy;
    copy->input.flow = copy->output_flow = kNoFlow;
    voq.take_lane_of_copy(*copy);
    crosspoint_.cross(port, output, copy, nullptr, now);
  }
  ++port.counters.consumed_frames;
  if (port.is_fabric()) Turn::release_buffers(port, *packet);
  turn_.discard(packet);
}

void Bridging::announce(Port& port, Learned learned, uint64_t mac, uint16_t vlan, FabricAddress address) {
  if (learned == Learned::refused) port.counters.count(ProtocolEvent::learn_refused);
  if (learned == Learned::added) port.counters.count(ProtocolEvent::learned);
  if (learned == Learned::moved) port.counters.count(ProtocolEvent::station_moved);
  if (learned != Learned::added && learned != Learned::moved && learned != Learned::renewed) return;
  for (WorkerIndex worker = 0; worker < outbox_.workers();
       ++worker)  // a full ring loses it: told again when it is renewed
    if (worker != site_.worker) outbox_.send_to(worker, StationLearned{mac, vlan, address});
}

void Bridging::learn_from_fabric(Port& port, const Packet& packet, Recent& recent, Nanos now) {
  if (packet.source.node == site_.address || site_.edge_ports == 0) return;
  const uint64_t mac = load_mac(packet.data + HEDDLE_DATA_OVERHEAD_BYTES + 6);
  announce(port, edge_.learn_remote(mac, packet.vni, packet.source, now), mac, packet.vni, packet.source);
  recent = {mac << 16 | packet.vni, packet.source, edge_.stations().version()};
}

}  // namespace heddle
