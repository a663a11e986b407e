// SPDX-License-Identifier: Apache-2.0
// Frames on fabric links (W1, W2, W6): reading and writing what include/heddle/frames.h lays out.
//
// Receive: check_frame() on every frame, or of what is_data_frame() check_data_frame(), then by LinkFrame::kind either
// read_data_header(), one of the
// *_records() ranges, or read_hello(). The readers trust the check; nothing is read at or past data + length.
// Send: data frames are prepended once at the ingress edge and stamped at each hand-over to a transmit queue
// (F6); record frames are start_records(), append_record()..., finish_records(); hellos are write_hello().
// Structs here are in host order and plain; functions own nothing and keep no state; any thread.
// Positions and totals are 32-bit serial numbers (K3) and are not judged here: that takes the link's state.
#pragma once

#include <immintrin.h>

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "heddle/frames.h"
#include "wire/drop_reason.h"
#include "wire/ethernet.h"
#include "wire/inlining.h"
#include "wire/packet.h"
#include "wire/types.h"

namespace heddle {

constexpr uint64_t kFabricGroupMac = 0x03686564646c;  // destination of every fabric frame: "heddl"
constexpr uint32_t kLeastFrameBytes = 60;             // without the frame check sequence; shorter ones are padded
constexpr uint32_t kLinkHeaderEnd = HEDDLE_ETHERNET_BYTES + sizeof(heddle_link_header);
constexpr uint32_t kRecordsStart = HEDDLE_ETHERNET_BYTES + sizeof(heddle_record_header);
constexpr uint8_t kFtagMax = 15;
constexpr uint8_t kVirtualChannelsMax = HEDDLE_CREDIT_RECORDS_MAX;
constexpr uint8_t kSeverityMax = 15;
static_assert(HEDDLE_DATA_OVERHEAD_BYTES == HEDDLE_ETHERNET_BYTES + sizeof(heddle_data_header));

// A frame that check_frame() accepted. Points into the frame; valid as long as its bytes are.
struct LinkFrame {
  uint8_t version;  // these four in the header's order, read as a word
  uint8_t kind;     // heddle_frame_kind
  uint8_t channel;  // K2
  uint8_t flags;
  uint32_t session_tag;
  uint32_t sequence;
  const uint8_t* body;  // but of data frames: first byte behind the link header; the frame holds all that it says
};

// The first 16 bytes of all data frames of a port: Ethernet header, version and kind.
struct DataFrameStart {
  uint8_t bytes[HEDDLE_ETHERNET_BYTES + 2] = {};
};
DataFrameStart data_frame_start(uint64_t source_mac);

// What all data frames have in common that go over a link in one virtual channel, and perhaps in its retry channel: up
// to the session tag as it stands in front of them, and two bytes of what comes next.
struct LinkStamp {
  uint8_t bytes[24];
  uint32_t check;  // what the header's check is up to there (K13)
  uint8_t vc;
};
inline LinkStamp link_stamp(const DataFrameStart& start, uint32_t session_tag, uint8_t vc, uint8_t channel,
                            uint8_t flags) {
  LinkStamp stamp{};
  uint8_t* header = stamp.bytes + HEDDLE_ETHERNET_BYTES;
  std::memcpy(stamp.bytes, start.bytes, sizeof start.bytes);
  header[offsetof(heddle_link_header, channel)] = channel;
  header[offsetof(heddle_link_header, flags)] = flags;
  store_be32(header + offsetof(heddle_link_header, session_tag), session_tag);
  uint64_t word;
  static_assert(offsetof(heddle_link_header, sequence) == sizeof word);
  std::memcpy(&word, header, sizeof word);
  stamp.check = static_cast<uint32_t>(_mm_crc32_u64(0xffffffff, word));
  stamp.vc = vc;
  return stamp;
}

// All that stands in a data frame's header and not in its Packet, for who makes one without a port.
struct Stamp {
  uint32_t session_tag;
  uint8_t vc = 0;       // virtual channel that the frame goes on in
  uint8_t channel = 0;  // sequence channel
  uint8_t flags = 0;    // HEDDLE_DATA_*
  uint32_t sequence = 0;
  FlowId flow = kNoFlow;
  uint32_t data_flow = 0;   // position of the first byte; 0 with kNoFlow
  uint16_t life_units = 0;  // of life_units()
  DataFrameStart start;
};

struct AckRecord {
  FlowId flow;
  uint8_t flags;     // HEDDLE_ACK_*
  uint8_t severity;  // 0-15
  uint32_t ack_flow;
  uint32_t lost_total;
  uint32_t credit_limit;
  uint16_t asked_by;
};

struct ProbeRecord {
  FlowId flow;
  uint32_t data_flow;
};

struct CreditRecord {
  uint8_t vc;
  uint8_t flags;  // HEDDLE_CREDIT_*
  uint32_t sent_total;
  uint32_t limit;
};

struct RetryRecord {
  uint8_t channel = HEDDLE_RETRY_CHANNEL;
  uint8_t flags = 0;  // HEDDLE_RETRY_*
  uint16_t round = 0;
  uint32_t sequence = 0;
};

struct NoticeRecord {
  uint16_t node;
  uint32_t sequence;
  PortSet ports_up;
  PortSet ports_settled;
  PortSet ports_kept_out = 0;
  uint64_t ends_seen = 0;
  uint32_t session_ends = 0;
};

struct LoadRecord {
  PortIndex port;
  uint8_t ftag;
  uint16_t flows;
  uint16_t busy;
  uint16_t part;
  uint32_t waiting_ns;
};

// Names are zero-terminated here; on the wire they may fill their field.
struct Hello {
  uint64_t nonce;
  uint64_t echo;
  uint64_t topology_hash;
  uint64_t notice_digest;
  uint16_t node;
  uint16_t port;
  uint16_t peer_node;
  uint16_t peer_port;
  uint32_t buffer_bytes;
  uint32_t credits;
  uint32_t notice_sequence;
  bool hears_only_short;  // of the receiver's hellos
  char node_name[HEDDLE_NODE_NAME_BYTES + 1];
  char port_name[HEDDLE_PORT_NAME_BYTES + 1];

  // Cut to the field; what is not printable ASCII becomes '?', so that the peer never refuses our hello.
  void set_names(std::string_view node_text, std::string_view port_text);
};

constexpr uint32_t kOneBufferPayloadMax = kBufferBytes - HEDDLE_DATA_OVERHEAD_BYTES;  // of a data frame in one buffer

// --- session values (K1, K4) ---

// Of both nonces, in either order: the same at both ends. Never 0.
uint32_t session_tag(uint64_t nonce_a, uint64_t nonce_b);

// First data_flow of a flow ID in the direction from the owner of sender_nonce to that of receiver_nonce.
uint32_t first_position(uint64_t sender_nonce, uint64_t receiver_nonce, FlowId flow);

constexpr uint64_t port_mac(FabricAddress address) {
  return uint64_t{0x0268} << 32 | uint64_t{address.node} << 16 | address.port;
}

// --- every frame ---

// CRC32C over `bytes` bytes from the link header on, its check field taken as 0 (K13). `bytes`: a multiple of 4, as all
// headers have.
inline uint32_t header_check(const uint8_t* link_header, uint32_t bytes) {
  static_assert(offsetof(heddle_link_header, check) == 12 && sizeof(heddle_link_header) == 16);
  const auto word = [link_header](uint32_t offset) {
    uint64_t value;
    std::memcpy(&value, link_header + offset, sizeof value);
    return value;
  };
  uint64_t crc = _mm_crc32_u64(0xffffffff, word(0));
  crc = _mm_crc32_u64(crc, word(8) & 0xffffffff);
  uint32_t offset = sizeof(heddle_link_header);
#pragma GCC unroll 3  // a data header's
  for (; offset + 8 <= bytes; offset += 8) crc = _mm_crc32_u64(crc, word(offset));
  if (offset < bytes) {
    uint32_t half;
    std::memcpy(&half, link_header + offset, sizeof half);
    crc = _mm_crc32_u32(static_cast<uint32_t>(crc), half);
  }
  return ~static_cast<uint32_t>(crc);
}

inline void read_link_header(const uint8_t* data, LinkFrame& frame) {
  static_assert(offsetof(heddle_link_header, flags) == 3 && offsetof(LinkFrame, flags) == 3);
  std::memcpy(&frame, data + HEDDLE_ETHERNET_BYTES, 4);
  frame.session_tag = load_be32(data + HEDDLE_ETHERNET_BYTES + offsetof(heddle_link_header, session_tag));
  frame.sequence = load_be32(data + HEDDLE_ETHERNET_BYTES + offsetof(heddle_link_header, sequence));
}

// check_frame() of all that is not a data frame with its header. Out of its way: one is for many records.
[[gnu::noinline]] DropReason check_other_frame(const uint8_t* data, uint32_t length, LinkFrame& frame);

// --- data frames ---

// Remaining life in the header's units, rounded down, so that rounding never lengthens a life (K8).
constexpr uint16_t life_units(Nanos life_ns) {
  const Nanos units = life_ns / HEDDLE_LIFE_UNIT_NS;
  return units > 0xffff ? uint16_t{0xffff} : static_cast<uint16_t>(units);
}

// The 24 bytes of a data header behind the link header stand in a Packet in nearly the same order, but in host order:
// turned round as a whole. A node and its port stand together there, 16 bits each, and the way apart.
namespace wire_detail {
constexpr uint32_t kDataFields = offsetof(heddle_data_header, flow_id);
constexpr uint32_t kPacketFields = offsetof(Packet, output_flow);
#define HEDDLE_SAME_PLACE(field, wire_field) \
  static_assert(offsetof(Packet, field) - kPacketFields == offsetof(heddle_data_header, wire_field) - kDataFields)
HEDDLE_SAME_PLACE(ftag, ftag);
HEDDLE_SAME_PLACE(vc, vc);
HEDDLE_SAME_PLACE(position, data_flow);
HEDDLE_SAME_PLACE(destination, destination_node);
HEDDLE_SAME_PLACE(source, source_node);
static_assert(offsetof(heddle_data_header, via) == offsetof(heddle_data_header, destination_node) + 2);
static_assert(offsetof(heddle_data_header, destination_port) == offsetof(heddle_data_header, source_node) + 2);
static_assert(offsetof(heddle_data_header, source_port) == offsetof(heddle_data_header, source_node) + 3);
HEDDLE_SAME_PLACE(vni, vni);
HEDDLE_SAME_PLACE(cost, life);
HEDDLE_SAME_PLACE(hop_limit, hop_limit);
HEDDLE_SAME_PLACE(priority, priority);
HEDDLE_SAME_PLACE(payload, length);
#undef HEDDLE_SAME_PLACE
static_assert(std::endian::native == std::endian::little && kPacketFields + 24 == sizeof(Packet));
static_assert(offsetof(FabricAddress, node) == 0 && offsetof(FabricAddress, port) == 2);

// Flow ID, class, channel, position; destination's and source's node and port.
inline __m128i first_to_host(__m128i fields) {  // without flow ID
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(-1, -1, 2, 3, 7, 6, 5, 4, 9, 8, 14, -1, 13, 12, 15, -1));
}
inline __m128i first_to_wire(__m128i fields) {  // without `via`
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(1, 0, 2, 3, 7, 6, 5, 4, 9, 8, -1, -1, 13, 12, 10, 14));
}
inline __m128i last_to_host(__m128i fields) {  // VLAN, hops, priority, length; without life
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(1, 0, -1, -1, 4, 5, 7, 6, -1, -1, -1, -1, -1, -1, -1, -1));
}
inline __m128i last_to_wire(__m128i fields) {  // with it
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(1, 0, 3, 2, 4, 5, 7, 6, -1, -1, -1, -1, -1, -1, -1, -1));
}
}  // namespace wire_detail

// Is it a data frame, as far as its first bytes and its length tell?
inline bool is_data_frame(const uint8_t* data, uint32_t length) {
  constexpr uint32_t kDataFrame = HEDDLE_ETHERTYPE << 16 | HEDDLE_VERSION << 8 | HEDDLE_DATA;
  return length >= HEDDLE_DATA_OVERHEAD_BYTES && load_be32(data + 12) == kDataFrame;
}

// check_frame() of one that is. What is never set in a header, and the nodes that cannot be, are looked for in all of
// its fields at once.
inline DropReason check_data_frame(const uint8_t* data, uint32_t length) {
  constexpr uint8_t kFlags = HEDDLE_DATA_UNORDERED | HEDDLE_DATA_LOSSLESS | HEDDLE_DATA_RETRY;
  static_assert((kFtagMax & (kFtagMax + 1)) == 0 && (kVirtualChannelsMax & (kVirtualChannelsMax - 1)) == 0);
  static_assert(HEDDLE_FLOOD_NODE == 0xffff && kNoFlow == 0, "the same in either byte order");
  static_assert(offsetof(heddle_data_header, destination_node) == wire_detail::kDataFields + 8);
  static_assert(offsetof(heddle_data_header, source_node) == wire_detail::kDataFields + 12);
  const uint8_t* header = data + HEDDLE_ETHERNET_BYTES;
  const uint32_t original_bytes = load_be16(header + offsetof(heddle_data_header, length));
  if (original_bytes > length - HEDDLE_DATA_OVERHEAD_BYTES) return DropReason::bad_frame;
  if (header_check(header, sizeof(heddle_data_header)) != load_be32(header + offsetof(heddle_link_header, check)))
    return DropReason::bad_check;
  const uint8_t* at = header + wire_detail::kDataFields;
  const __m128i fields = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i never = _mm_setr_epi8(0, 0, static_cast<char>(~kFtagMax), static_cast<char>(~(kVirtualChannelsMax - 1)),
                                      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const __m128i nodes = _mm_setr_epi16(0, 0, 0, 0, -1, 0, -1, 0);  // destination and source
  const __m128i special =
      _mm_or_si128(_mm_cmpeq_epi16(fields, _mm_setzero_si128()), _mm_cmpeq_epi16(fields, _mm_set1_epi16(-1)));
  const bool flags_good = (header[offsetof(heddle_link_header, flags)] & ~kFlags) == 0;
  const bool vlan_good = load_be16(header + offsetof(heddle_data_header, vni)) < 0xfff;
  const bool values_good = flags_good && vlan_good && original_bytes >= HEDDLE_ETHERNET_BYTES;
  if (!usually(values_good) || !usually(_mm_testz_si128(fields, never))) return DropReason::bad_frame;
  if (usually(_mm_testz_si128(special, nodes))) return DropReason::none;
  // A flood has no flow and takes no way round.
  const uint32_t source = load_be16(header + offsetof(heddle_data_header, source_node));
  const bool flood = load_be16(header + offsetof(heddle_data_header, destination_node)) == HEDDLE_FLOOD_NODE;
  const bool no_flow = (load_be16(at) | load_be16(header + offsetof(heddle_data_header, via))) == 0;
  return flood && no_flow && source != 0 && source != HEDDLE_FLOOD_NODE ? DropReason::none : DropReason::bad_frame;
}

// Judges a frame as received, of any length, and describes it. Reasons: not_fabric, bad_version, bad_frame,
// bad_check. Values are judged only behind a good check, so that bad_check counts damage and bad_frame a
// wrong sender.
inline DropReason check_frame(const uint8_t* data, uint32_t length, LinkFrame& frame) {
  if (!is_data_frame(data, length)) return check_other_frame(data, length, frame);
  read_link_header(data, frame);
  return check_data_frame(data, length);
}

// The frame at packet.data must have passed check_frame as HEDDLE_DATA. Leaves data and length alone; output_flow and
// cost are 0. dies_ns was when it came; the life that it has left is added.
inline void read_data_header(Packet& packet) {
  static_assert(uint64_t{0xffff} * HEDDLE_LIFE_UNIT_NS <= 0xffffffff, "every life fits 32 bits");
  const uint8_t* header = packet.data + HEDDLE_ETHERNET_BYTES;
  const uint8_t* fields = header + wire_detail::kDataFields;
  uint8_t* to = reinterpret_cast<uint8_t*>(&packet) + wire_detail::kPacketFields;
  const __m128i first = wire_detail::first_to_host(_mm_loadu_si128(reinterpret_cast<const __m128i*>(fields)));
  const __m128i last = wire_detail::last_to_host(_mm_loadu_si64(fields + 16));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), first);
  _mm_storeu_si64(to + 16, last);
  packet.input.flow = FlowId::of(load_be16(fields));
  packet.via = load_be16(header + offsetof(heddle_data_header, via));
  packet.dies_ns += uint32_t{load_be16(header + offsetof(heddle_data_header, life))} * HEDDLE_LIFE_UNIT_NS;
  packet.flags = static_cast<uint8_t>(packet.flags | kPacketFabric);
}

// Room for the fabric header in front of an original frame; its bytes are written by stamp_data_frame. Needs
// HEDDLE_DATA_OVERHEAD_BYTES of headroom. The original frame's length becomes `payload`.
inline void prepend_fabric_header(Packet& packet) {
  packet.payload = packet.length;
  packet.data -= HEDDLE_DATA_OVERHEAD_BYTES;
  packet.length = static_cast<uint16_t>(packet.length + HEDDLE_DATA_OVERHEAD_BYTES);
}

// Leaves the original frame, without link padding (W4).
inline void strip_fabric_header(Packet& packet) {
  packet.data += HEDDLE_DATA_OVERHEAD_BYTES;
  packet.length = packet.payload;
}

// Writes all 54 bytes in front of the original frame: what `link` says, what is the frame's own, and what stands in the
// Packet, with one hop less; the same at the first hop and in transit. Link padding of the hop before is cut off. Each
// field is read as it was stored, and the check is taken over what is still in registers: a wider load of what was
// stored in pieces just before would wait for the stores.
inline void stamp_data_frame(Packet& packet, const LinkStamp& link, uint32_t sequence, FlowId flow, uint32_t position,
                             uint16_t life_units) {
  static_assert(offsetof(heddle_link_header, sequence) == 8 && offsetof(heddle_link_header, check) == 12);
  uint8_t* header = packet.data + HEDDLE_ETHERNET_BYTES;
  uint8_t* fields = header + wire_detail::kDataFields;
  const auto whole = [](FabricAddress address) { return std::bit_cast<int>(address); };
  const __m128i first =
      _mm_insert_epi16(wire_detail::first_to_wire(_mm_setr_epi32(
                           static_cast<int>(flow | uint32_t{packet.ftag} << 16 | uint32_t{link.vc} << 24),
                           static_cast<int>(position), whole(packet.destination), whole(packet.source))),
                       big_endian(packet.via), 5);
  const uint32_t hops = --packet.hop_limit;
  const __m128i last = wire_detail::last_to_wire(_mm_cvtsi64_si128(
      static_cast<int64_t>(packet.vni | uint64_t{life_units} << 16 |
                           uint64_t{hops | uint32_t{packet.priority} << 8 | uint32_t{packet.payload} << 16} << 32)));
  const uint32_t sequence_there = big_endian(sequence);
  uint64_t check = _mm_crc32_u64(link.check, sequence_there);
  check = _mm_crc32_u64(check, static_cast<uint64_t>(_mm_cvtsi128_si64(first)));
  check = _mm_crc32_u64(check, static_cast<uint64_t>(_mm_extract_epi64(first, 1)));
  check = _mm_crc32_u64(check, static_cast<uint64_t>(_mm_cvtsi128_si64(last)));
  std::memcpy(packet.data, link.bytes, sizeof link.bytes);
  std::memcpy(header + offsetof(heddle_link_header, sequence), &sequence_there, sizeof sequence_there);
  store_be32(header + offsetof(heddle_link_header, check), ~static_cast<uint32_t>(check));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(fields), first);
  _mm_storeu_si64(fields + 16, last);
  packet.length = static_cast<uint16_t>(HEDDLE_DATA_OVERHEAD_BYTES + packet.payload);
}

inline void stamp_data_frame(Packet& packet, const Stamp& stamp) {
  stamp_data_frame(packet, link_stamp(stamp.start, stamp.session_tag, stamp.vc, stamp.channel, stamp.flags),
                   stamp.sequence, stamp.flow, stamp.data_flow, stamp.life_units);
}

// Link retry sends a frame again that stamp_data_frame has made (K6): it is marked so, and has the life that it has
// now.
inline void restamp_again(Packet& packet, uint16_t units) {
  uint8_t* header = packet.data + HEDDLE_ETHERNET_BYTES;
  header[offsetof(heddle_link_header, flags)] |= HEDDLE_DATA_RETRY;
  store_be16(header + offsetof(heddle_data_header, life), units);
  store_be32(header + offsetof(heddle_link_header, check), header_check(header, sizeof(heddle_data_header)));
}

// --- record frames: ACK, probe, credit, notice, load, retry ---

// Field by field, since there is one for every packet.
inline AckRecord read_ack_record(const uint8_t* at) {
  return {FlowId::of(load_be16(at + offsetof(heddle_ack_record, flow_id))),
          at[offsetof(heddle_ack_record, flags)],
          at[offsetof(heddle_ack_record, severity)],
          load_be32(at + offsetof(heddle_ack_record, ack_flow)),
          load_be32(at + offsetof(heddle_ack_record, lost_total)),
          load_be32(at + offsetof(heddle_ack_record, credit_limit)),
          load_be16(at + offsetof(heddle_ack_record, asked_by))};
}
ProbeRecord to_host(const heddle_probe_record& record);
CreditRecord to_host(const heddle_credit_record& record);
NoticeRecord to_host(const heddle_notice_record& record);
RetryRecord to_host(const heddle_retry_record& record);
LoadRecord to_host(const heddle_load_record& record);

// The records of a checked frame, converted as they are read: for (const AckRecord ack : ack_records(f)) {}
// Empty if the frame is of another kind.
template <typename WireRecord, uint8_t kKind>
class RecordRange {
 public:
  class Iterator {
   public:
    explicit Iterator(const uint8_t* at) : at_(at) {}
    auto operator*() const {
      if constexpr (kKind == HEDDLE_ACK) {
        return read_ack_record(at_);
      } else {
        WireRecord record;  // may stand at any alignment
        std::memcpy(&record, at_, sizeof(record));
        return to_host(record);
      }
    }
    Iterator& operator++() {
      at_ += sizeof(WireRecord);
      return *this;
    }
    bool operator==(const Iterator&) const = default;
    // So many records further.
    uint32_t operator-(const Iterator& from) const {
      return static_cast<uint32_t>(at_ - from.at_) / sizeof(WireRecord);
    }

   private:
    const uint8_t* at_;
  };

  explicit RecordRange(const LinkFrame& frame)
      : first_(frame.body + sizeof(heddle_record_header) - sizeof(heddle_link_header)),
        count_(frame.kind == kKind ? load_be16(frame.body) : 0) {}

  uint32_t size() const { return count_; }
  auto operator[](uint32_t index) const { return *Iterator(first_ + index * sizeof(WireRecord)); }
  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(first_ + count_ * sizeof(WireRecord)); }

 private:
  const uint8_t* first_;
  uint32_t count_;
};

using AckRecords = RecordRange<heddle_ack_record, HEDDLE_ACK>;
using ProbeRecords = RecordRange<heddle_probe_record, HEDDLE_PROBE>;
using CreditRecords = RecordRange<heddle_credit_record, HEDDLE_CREDIT>;
using NoticeRecords = RecordRange<heddle_notice_record, HEDDLE_NOTICE>;
using RetryRecords = RecordRange<heddle_retry_record, HEDDLE_RETRY>;
using LoadRecords = RecordRange<heddle_load_record, HEDDLE_LOAD>;

inline AckRecords ack_records(const LinkFrame& frame) { return AckRecords(frame); }
inline ProbeRecords probe_records(const LinkFrame& frame) { return ProbeRecords(frame); }
inline CreditRecords credit_records(const LinkFrame& frame) { return CreditRecords(frame); }
inline NoticeRecords notice_records(const LinkFrame& frame) { return NoticeRecords(frame); }
inline RetryRecords retry_records(const LinkFrame& frame) { return RetryRecords(frame); }
inline LoadRecords load_records(const LinkFrame& frame) { return LoadRecords(frame); }

// The most records one frame of a kind may carry; 0 for kinds without records.
uint32_t records_max(uint8_t kind);

// Makes a fresh packet (data at its start, length 0) an open record frame; length grows with each record, and
// all the state is in the packet. Not for HEDDLE_DATA and HEDDLE_HELLO.
void start_records(Packet& packet, uint8_t kind, uint8_t channel = 0);

// Records in an open frame.
uint32_t record_count(const Packet& packet);

namespace wire_detail {
inline uint8_t open_kind(const Packet& packet) {
  return packet.data[HEDDLE_ETHERNET_BYTES + offsetof(heddle_link_header, kind)];
}
}  // namespace wire_detail

// Room for `count` ACK records behind those of an open ACK frame that has it: to be written at once, one every
// sizeof(heddle_ack_record) bytes.
inline uint8_t* append_acks(Packet& packet, uint32_t count) {
  assert(wire_detail::open_kind(packet) == HEDDLE_ACK);
  assert(packet.length + count * sizeof(heddle_ack_record) <=
         kRecordsStart + HEDDLE_ACK_RECORDS_MAX * sizeof(heddle_ack_record));
  uint8_t* at = packet.data + packet.length;
  packet.length = static_cast<uint16_t>(packet.length + count * sizeof(heddle_ack_record));
  return at;
}
inline void write_ack_record(uint8_t* at, const AckRecord& record) {
  const heddle_ack_record wire = {big_endian(record.flow),
                                  record.flags,
                                  record.severity,
                                  big_endian(record.ack_flow),
                                  big_endian(record.lost_total),
                                  big_endian(record.credit_limit),
                                  big_endian(record.asked_by),
                                  0};
  std::memcpy(at, &wire, sizeof wire);
}
// One that says nothing but totals, as nearly all do.
inline void write_ack_record(uint8_t* at, FlowId flow, uint32_t ack_flow, uint32_t lost_total) {
  const uint32_t flow_alone = big_endian(flow);
  std::memcpy(at, &flow_alone, sizeof flow_alone);
  store_be32(at + offsetof(heddle_ack_record, ack_flow), ack_flow);
  store_be32(at + offsetof(heddle_ack_record, lost_total), lost_total);
  static_assert(offsetof(heddle_ack_record, credit_limit) + 8 == sizeof(heddle_ack_record));
  std::memset(at + offsetof(heddle_ack_record, credit_limit), 0, 8);
}

// False, and nothing done, if the frame is full or of another kind.
bool append_record(Packet& packet, const AckRecord& record);
bool append_record(Packet& packet, const ProbeRecord& record);
bool append_record(Packet& packet, const CreditRecord& record);
bool append_record(Packet& packet, const NoticeRecord& record);
bool append_record(Packet& packet, const RetryRecord& record);
bool append_record(Packet& packet, const LoadRecord& record);

// Writes count, stamp and check, and pads to the least Ethernet length. Call once, at hand-over to the
// transmit queue (K2), with at least one record in the frame.
void finish_records(Packet& packet, uint32_t session_tag, uint32_t sequence, uint64_t source_mac);

// --- hellos (K1) ---

// Into a fresh packet with room for `frame_bytes`, which the frame is padded to.
void write_hello(Packet& packet, const Hello& hello, uint32_t frame_bytes, uint64_t source_mac);

// The frame must have passed check_frame as HEDDLE_HELLO, which judges nonce, buffer size and names too.
void read_hello(const LinkFrame& frame, Hello& hello);

}  // namespace heddle
