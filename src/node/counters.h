// SPDX-License-Identifier: Apache-2.0
// Counters of one port, written by the worker that owns it and read between its turns. They add up (invariant 2):
// received + originated + copied = sent + consumed + dropped + held, over the ports of a node.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "wire/drop_reason.h"

namespace heddle {

// X(name): what the protocol did, counted per port; the simulator's coverage table lists them all.
// clang-format off
#define HEDDLE_PROTOCOL_EVENTS(X)                                                                             \
  X(flow_created) X(flow_rested) X(rest_ended) X(flow_freed) X(id_reserved) X(id_given_back) X(id_lent)       \
  X(id_waited) X(id_yielded)                                                                                  \
  X(id_refused) X(edge_id_waited) X(hole) X(probe_sent) X(probe_answered) X(ack_sent) X(ack_received)         \
  X(ack_lost_bytes) X(ack_absorbed) X(session_began) X(session_ended) X(session_replaced) X(session_reset)    \
  X(orphan_made) X(orphan_freed) X(settled_by_end) X(settled_by_notice) X(neighbour_kept_out)                 \
  X(flow_held) X(flow_moved) X(path_ended) X(pair_held)                                                       \
  X(credit_sent) X(credit_asked) X(credit_blocked) X(credit_loss_synced) X(room_blocked) X(notice_sent)       \
  X(notice_news) X(routes_compiled) X(learned) X(station_moved) X(station_aged) X(learn_refused) X(flooded)   \
  X(checksum_completed) X(silence_forgiven) X(congestion_new) X(congestion_persistent) X(flow_limited)        \
  X(flow_blocked) X(limit_ended) X(limit_expired) X(pause_sent) X(pause_ended) X(pause_heard)                 \
  X(pause_overruled) X(lossless_lost) X(flow_metered) X(meter_ended) X(meter_lifted) X(credit_told)           \
  X(credit_waited) X(sent_again) X(retry_asked) X(retry_missed) X(retry_reported) X(retry_full) X(ecn_marked) \
  X(delivered_at_once) X(crossed_at_once) X(stamped_at_once) X(flow_credit_asked) X(injection_waited)          \
  X(flow_regrouped) X(class_refused) X(redirect_asked) X(redirect_obeyed) X(redirect_passed_on)                \
  X(redirect_ended) X(flow_detoured) X(load_told) X(load_heard) X(host_announced) X(fgfc_paused)             \
  X(fgfc_group_paused) X(fgfc_sent) X(fgfc_ended) X(fgfc_overrun) X(fgfc_disobeyed)
// clang-format on

enum class ProtocolEvent : uint8_t {
#define HEDDLE_X(name) name,
  HEDDLE_PROTOCOL_EVENTS(HEDDLE_X)
#undef HEDDLE_X
      count,
};

constexpr unsigned kProtocolEvents = static_cast<unsigned>(ProtocolEvent::count);

constexpr std::array<std::string_view, kProtocolEvents> kProtocolEventNames = {
#define HEDDLE_X(name) #name,
    HEDDLE_PROTOCOL_EVENTS(HEDDLE_X)
#undef HEDDLE_X
};

struct PortCounters {
  uint64_t received_frames = 0, received_bytes = 0;
  uint64_t sent_frames = 0, sent_bytes = 0;
  uint64_t originated_frames = 0;                      // hellos, ACKs, probes, credits, notices made here
  uint64_t copied_frames = 0;                          // made by flooding
  uint64_t consumed_frames = 0;                        // fabric frames that end here by design, and flooded originals
  uint64_t delivered_frames = 0, delivered_bytes = 0;  // edge ports: unicast that left to the host
  uint64_t acknowledged_bytes = 0;                     // edge ports: of those, of its host, as told back
  uint64_t lost_on_wire_frames = 0;                    // fabric: numbers of channel 0 that did not come, or too late
  uint64_t lost_on_wire_bytes = 0;                     // fabric: of flows' data, as holes in their positions tell
  std::array<uint64_t, kDropReasons> drops{};
  std::array<uint64_t, kProtocolEvents> events{};

  void drop(DropReason reason) { ++drops[static_cast<unsigned>(reason)]; }
  void count(ProtocolEvent event, uint64_t times = 1) { events[static_cast<unsigned>(event)] += times; }
};

}  // namespace heddle
