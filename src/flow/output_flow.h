// SPDX-License-Identifier: Apache-2.0
// Output flow table (F6): what an output port knows about each flow ID it has given out, an array by outgoing ID.
// Also the way back for ACKs: an entry names the input port, input session and input flow it serves.
// Written only by the worker that owns the output port.
//
// Life of an entry: free -> reserved (pinned by an input flow, before a packet crosses; one that another worker asked
// for names its flow only when the first packet comes) -> given back by the input
// flow at extent zero, or orphaned when the input's session ends first (K9) -> free. Positions run on across reuse
// (K4).
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "flow/id_queue.h"
#include "flow/owned.h"
#include "wire/types.h"

namespace heddle {

enum class OutputFlowState : uint8_t { free, reserved, orphan };

enum OutputFlowFlag : uint16_t {
  kOutputDirty = 0x0001,     // in the worker's list of entries with pending deltas
  kOutputEnded = 0x0002,     // of an earlier session of this port: nothing is sent on it any more (K9)
  kOutputTimed = 0x0004,     // in the timer wheel
  kOutputEndDue = 0x0008,    // the input flow is still to be told that the path ended
  kOutputCounted = 0x0010,   // an orphan in its input port's quota (K9)
  kOutputTell = 0x0020,      // the input flow is to hear of the congestion (C2, C3)
  kOutputMetered = 0x0040,   // the next hop grants by credit (C6): credit_limit holds
  kOutputCredit = 0x0080,    // the input flow is to hear of that
  kOutputRedirect = 0x0100,  // and that it should take another way (R9)
};

class CreditWatch;  // node/credit_watch.h
class Settlement;   // node/settlement.h

// Who writes a field stands behind it. OutputFlowTable, too, when an ID is given out or comes back. Readers: each stage
// of the output's worker that has the entry in hand, and telemetry in that worker's thread; another worker, whose input
// flow the entry serves, hears what is for it by AckRelay.
struct alignas(64) OutputFlow {
  uint32_t data_flow;     // position behind the last stamped byte (fabric). Stamping; Settlement when it has drained
  uint32_t ack_flow;      // position up to which the next hop has settled. AckReceive, Settlement
  uint32_t lost_total;    // as the next hop last told it. AckReceive, Settlement
  uint32_t pending_ack;   // settled bytes the input flow has not been told of yet (decision 5). AckReceive, Departure,
  uint32_t pending_lost;  // of those, lost.                                             Settlement; AckRelay takes them
  InputFlowRef input;     // whom it serves; of flow kNoFlow: nobody yet. FlowIds
  FlowId next_free;
  uint16_t queued;        // packets that crossed and are not stamped yet: they pin the entry. CrossPoint, Settlement;
                          // Departure and FabricTransmit, as they leave
  uint32_t probe_mark;    // ack_flow when the timer was set: progress since then needs no probe (K5). Prober, Stamping
  uint8_t channel;        // virtual channel that its flows go on in, whomever it serves (K11)
  Nanos due_ns;           // of its timer: the next probe (K5), or when an ended entry is settled (K9).
                          // Stamping, Prober; EndedPaths
  uint16_t flags;         // OutputFlowFlag
  OutputFlowState state;  // Settlement
  uint8_t backoff;        // probe interval is base << backoff (K5). Prober, Stamping
  Owned<uint8_t, Settlement, OutputFlow>
      congestion;  // level and CongestionFlag bits that the input flow is to know (C3)
  Owned<uint8_t, Settlement, OutputFlow>
      told;      // those that it knew when its last packet crossed, or has been told since
  uint8_t ftag;  // of the flow: set_class()
  Owned<bool, CreditWatch, OutputFlow>
      listed;  // among the worker's metered entries (K7), where an ID stays when its flow leaves
  Owned<uint32_t, CreditWatch, OutputFlow> credit_limit;  // position up to which the next hop takes data (C6)
  uint32_t credit_base;  // data_flow when it was reserved, less what died here unstamped since. Messages, Settlement

  // It serves this flow from now on, which knows of no congestion.
  void serve(const InputFlowRef& flow) {
    input = flow;
    congestion.reset();
  }
  // It is given out.
  void reserve_for(const InputFlowRef& flow, uint8_t flow_ftag, uint8_t flow_channel) {
    serve(flow);
    channel = flow_channel;
    told.reset();
    ftag = flow_ftag;
    credit_base = data_flow;
    state = OutputFlowState::reserved;
    backoff = 0;
  }
  uint32_t extent() const { return data_flow - ack_flow; }
  // Nothing under way, nothing to tell, and its session goes on.
  bool at_rest() const { return (queued | extent() | (flags & (kOutputDirty | kOutputCounted | kOutputEnded))) == 0; }
  // Bytes that died here, or of which nothing will be heard any more: settled by this side.
  void settle_lost(uint32_t bytes) {
    pending_ack += bytes;
    pending_lost += bytes;
  }
  // Reserved, and nothing of it is to be told, granted or known but how far it has got. One comparison of the eight
  // bytes from its flags on, since there is an ACK for each packet.
  bool is_plain() const {
    constexpr uint64_t kAsked = uint16_t(~kOutputTimed) | uint64_t{0xff} << 16 | uint64_t{0xffff} << 32;
    uint64_t word;
    std::memcpy(&word, reinterpret_cast<const uint8_t*>(this) + kPlainFrom, sizeof(word));
    return (word & kAsked) == uint64_t{static_cast<uint8_t>(OutputFlowState::reserved)} << 16;
  }
  // The input flow has been told.
  void take_pending() {
    pending_ack = pending_lost = 0;
    flags &= static_cast<uint16_t>(~(kOutputEndDue | kOutputTell | kOutputCredit | kOutputRedirect));
  }

  static constexpr size_t kPlainFrom = 48;
};

static_assert(sizeof(OutputFlow) == 64, "an output flow is one cache line");
// As those of an input flow do, its fields stand where they do on purpose: what an ACK is applied to in the first half.
static_assert(offsetof(OutputFlow, data_flow) == 0 && offsetof(OutputFlow, input) == 20);
static_assert(offsetof(OutputFlow, flags) == OutputFlow::kPlainFrom && offsetof(OutputFlow, credit_base) == 60);
static_assert(offsetof(OutputFlow, state) == 50 && offsetof(OutputFlow, congestion) == 52);
static_assert(offsetof(OutputFlow, told) == 53);

class OutputFlowTable {
 public:
  // `inputs`: the virtual channels in which flows of each port of the node go on here; none of this port itself. Each
  // input may always have one ID in each of its channels, that no flow of another channel or input takes, and an equal
  // part of half of the others in any; the rest goes to whoever comes first (K11). There are at least as many IDs as
  // channels of all inputs (flow_ids_needed()).
  OutputFlowTable(uint32_t flow_ids, const std::vector<ChannelSet>& inputs);

  uint32_t size() const { return size_; }
  bool valid(FlowId id) const { return id - 1u < size_; }
  OutputFlow& operator[](FlowId id) { return flows_[id]; }
  const OutputFlow& operator[](FlowId id) const { return flows_[id]; }
  // Of the wheel that the entry is in (kOutputTimed).
  uint32_t& timer_link(FlowId id) { return timer_links_[id]; }
  uint32_t used() const { return used_; }
  uint32_t used_of(uint8_t ftag) const { return used_by_ftag_[ftag & (kFtags - 1)]; }
  // Those whose flows may rest: they count as used.
  IdQueue<FlowId>& resting() { return resting_; }
  const IdQueue<FlowId>& resting() const { return resting_; }
  // Would reserve() give the input port one in that channel?
  bool may_reserve(PortIndex input, uint8_t channel) const {
    const Share& share = shares_[input];
    return share.held[channel] == 0 || share.left > 0 || shared_ != 0;
  }

  // An ID that serves `input`, or kNoFlow while that port may not have another one in the channel. The one that was
  // freed last comes first, since its entry is still in the cache; positions that run on keep its uses apart (K4).
  FlowId reserve(const InputFlowRef& input, uint8_t ftag, uint8_t channel) {
    Share& share = shares_[input.port];
    if (share.held[channel] != 0) {
      if (share.left <= 0) {
        if (shared_ == 0) return kNoFlow;
        --shared_;
      }
      --share.left;
    }
    ++share.held[channel];
    const FlowId id = free_;
    OutputFlow& entry = flows_[id];
    free_ = entry.next_free;
    ++used_;
    ++used_by_ftag_[ftag & (kFtags - 1)];
    entry.reserve_for(input, ftag, channel);
    return id;
  }
  // A flow of that class has the ID, which was reserved for any.
  void set_class(OutputFlow& entry, uint8_t ftag) {
    --used_by_ftag_[entry.ftag & (kFtags - 1)];
    ++used_by_ftag_[ftag & (kFtags - 1)];
    entry.ftag = ftag;
  }
  // Puts an entry back; the caller has seen that extent, queue and pending deltas are zero. A timer may still run.
  void free(FlowId id) {
    OutputFlow& entry = flows_[id];
    Share& share = shares_[entry.input.port];
    if (--share.held[entry.channel] != 0 && ++share.left <= 0) ++shared_;
    --used_;
    --used_by_ftag_[entry.ftag & (kFtags - 1)];
    entry.flags &= kOutputTimed;  // a free one has no other
    entry.state = OutputFlowState::free;
    entry.next_free = free_;
    free_ = id;
  }

 private:
  struct Share {
    int32_t left = 0;  // that it may have besides the first one of each channel; below 0, those it has of the rest
    std::array<uint32_t, kVirtualChannels> held{};  // by channel. Where none is kept for it, one more
  };

  std::vector<OutputFlow> flows_;  // entry 0 is never used
  std::vector<uint32_t> timer_links_;
  IdQueue<FlowId> resting_;
  uint32_t size_;
  std::vector<Share> shares_;  // by input
  uint32_t shared_;            // IDs for whoever comes first, not in use
  FlowId free_;
  uint32_t used_ = 0;
  std::array<uint32_t, kFtags> used_by_ftag_{};
};

}  // namespace heddle
