// SPDX-License-Identifier: Apache-2.0
// Why a frame was dropped. Every drop anywhere has exactly one of these; each has its counter per port.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace heddle {

// X(name, what it means to the operator)
#define HEDDLE_DROP_REASONS(X)                                                           \
  /* edge input: parsing (E3) */                                                         \
  X(runt, "shorter than an Ethernet header and its tag")                                 \
  X(too_long, "longer than the port's MTU")                                              \
  X(stacked_tags, "more than one VLAN tag")                                              \
  X(source_multicast, "source MAC is a group address or zero")                           \
  X(fabric_type_at_edge, "a host sent a fabric frame (K14)")                             \
  X(mac_control_at_edge, "PAUSE, PFC or another MAC control frame from a host (K14)")    \
  X(fgfc_at_edge, "fine-grained flow control from a host that is no announcement (K14)") \
  X(reserved_address, "802.1D reserved destination (E1)")                                \
  X(vlan_not_allowed, "VLAN is not allowed on the port")                                 \
  X(malformed_ip, "IP header contradicts the frame's length")                            \
  X(malformed_l4, "TCP or UDP header contradicts the frame's length")                    \
  X(checksum_impossible, "checksum left to hardware and it cannot be completed")         \
  /* edge input: forwarding */                                                           \
  X(same_port, "destination is on the port it came from")                                \
  X(policed, "beyond what the port lets its hosts send")                                 \
  X(flood_rate, "flood limit of the edge port")                                          \
  X(flood_loop, "a flooded frame came back to the node where it entered")                \
  X(flood_copies, "no copy left in the flood budget")                                    \
  X(station_held, "source MAC keeps moving and is held")                                 \
  X(station_moved, "destination moved, and frames for its old place still wait (E1)")    \
  X(match_table_full, "no entry left in the match table")                                \
  X(no_flow_id, "no flow ID free and the waiting queue is full (F10)")                   \
  X(flow_queue_full, "flow queue past its drop mark (A8)")                               \
  X(input_full, "input port past its drop mark (A8)")                                    \
  X(class_full, "class past its part of the input's buffers (A8)")                       \
  X(group_full, "group of applications past its part of the input's buffers (A8)")       \
  X(injection_closed, "application whose injection limit is 0 (A6)")                     \
  X(pause_ignored, "lossless, and the host went on though it was told to pause (F10)")   \
  X(no_route, "no legal port towards the destination (R6, R12)")                         \
  X(hop_limit, "hop limit reached zero")                                                 \
  X(life_ended, "lived too long in the fabric (K8)")                                     \
  X(no_such_port, "destination port is not an edge port of this node")                   \
  /* fabric input */                                                                     \
  X(not_fabric, "not a heddle frame on a fabric port")                                   \
  X(bad_version, "unknown protocol version")                                             \
  X(bad_frame, "fabric frame with impossible length, kind or field")                     \
  X(bad_check, "header check failed (K13)")                                              \
  X(stale_session, "session tag of another session (K1)")                                \
  X(old_sequence, "sequence number not newer: duplicate or reordered (K2)")              \
  X(ahead_of_turn, "ahead of a frame that the link has lost: sent again (K6)")           \
  X(duplicate, "position already received (K4)")                                         \
  X(protocol_error, "contradicts the link's state; the session is reset (K3)")           \
  X(link_not_up, "data on a link without a session")                                     \
  /* queues and output */                                                                \
  X(link_down, "its link's session ended (K9)")                                          \
  X(output_full, "no room at the output")                                                \
  X(vlan_egress, "VLAN is not a member at the output port")                              \
  X(output_too_long, "longer than the output port's MTU")                                \
  X(no_buffer, "no buffer for a control frame")

enum class DropReason : uint8_t {
#define HEDDLE_X(name, text) name,
  HEDDLE_DROP_REASONS(HEDDLE_X)
#undef HEDDLE_X
      none,  // not dropped
};

constexpr unsigned kDropReasons = static_cast<unsigned>(DropReason::none);

// Was there no room in a queue for the frame, or did it not leave one in time? Then its class is known.
constexpr bool is_of_queues(DropReason reason) {
  switch (reason) {
    case DropReason::no_flow_id:
    case DropReason::flow_queue_full:
    case DropReason::input_full:
    case DropReason::class_full:
    case DropReason::group_full:
    case DropReason::injection_closed:
    case DropReason::pause_ignored:
    case DropReason::life_ended:
    case DropReason::link_down:
    case DropReason::output_full:
      return true;
    default:
      return false;
  }
}

constexpr std::array<std::string_view, kDropReasons> kDropReasonNames = {
#define HEDDLE_X(name, text) #name,
    HEDDLE_DROP_REASONS(HEDDLE_X)
#undef HEDDLE_X
};

constexpr std::array<std::string_view, kDropReasons> kDropReasonTexts = {
#define HEDDLE_X(name, text) text,
    HEDDLE_DROP_REASONS(HEDDLE_X)
#undef HEDDLE_X
};

}  // namespace heddle
