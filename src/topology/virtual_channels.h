// SPDX-License-Identifier: Apache-2.0
// Virtual channels (C9, R5). Lossy frames travel in channel 0. Lossless ones wait for credit while they hold buffers,
// so the buffers that they hold and wait for must not form a ring: they start in channel 1, and go on in the next one
// where their path turns from a link that leads down to one that leads up. Within a channel every path then goes up and
// after that down, whatever the routes are, and from channel to channel it only climbs.
//
// "Up" is away from the hosts: towards the neighbour that is further from any edge port, or of two that are as far the
// one with the higher node index. In a tree of leaves and spines one channel suffices.
#pragma once

#include <string>
#include <vector>

#include "topology/topology.h"

namespace heddle {

constexpr uint8_t kLossyChannel = 0;
constexpr uint8_t kFirstLosslessChannel = 1;
constexpr uint8_t kLosslessChannelsMax = kVirtualChannels - kFirstLosslessChannel;

// By node: its fabric ports whose link leads up.
std::vector<PortSet> up_ports(const Topology& topology);

// Where a lossless frame goes on that came in channel `channel` by a port of `up` or another one, and leaves by one.
constexpr uint8_t next_channel(uint8_t channel, bool came_down, bool goes_up) {
  return static_cast<uint8_t>(channel + (came_down && goes_up));
}

// How many lossless channels all shortest paths between edge ports need, and how many are enough for all longer ways
// (R4) besides: whatever node they go by. With every link up and with any one down. May be more than
// kLosslessChannelsMax; then nobody has counted further.
struct ChannelsNeeded {
  uint32_t shortest, with_detours;
};
ChannelsNeeded lossless_channels_needed(const Topology& topology);
// As many as its lossless classes may use. Those for longer ways only if there may be so many: else lossless frames
// take none.
void settle_lossless_channels(Topology& topology, const ChannelsNeeded& needed);

// K11: the channels in which flows that come in by such a port may go on. Of each output's flow IDs one is kept for
// each of them and each input port, so that no flow waits for an ID that flows of other channels hold: then lossless
// ones wait for each other's IDs only where their buffers do, too, and there is no ring of these (R5).
ChannelSet flow_channels(const Topology& topology, const TopologyPort& input);
// How many IDs an output of the node must have for that.
uint32_t flow_ids_needed(const Topology& topology, const TopologyNode& node);

// How long the slowest edge port takes for all that the lossless channels of the whole fabric can hold (K8).
Nanos lossless_drain_ns(const Topology& topology);

// R5: looks for a ring among the buffers (link direction, channel) that lossless frames may hold and wait for, over all
// turns that any routes could take and the rule allows. The ring as text, or empty if there is none.
using ChannelRule = uint8_t (*)(uint8_t channel, bool came_down, bool goes_up);
std::string find_buffer_ring(const Topology& topology, uint32_t channels, ChannelRule rule = next_channel);

}  // namespace heddle
