// SPDX-License-Identifier: Apache-2.0
// Frames on fabric links (W1, W2, W6): reading and writing what include/heddle/frames.h lays out.
//
// Receive: check_frame() on every frame, then by LinkFrame::kind either read_data_header(), one of the
// *_records() ranges, or read_hello(). The readers trust the check; nothing is read at or past data + length.
// Send: data frames are prepended once at the ingress edge and stamped at each hand-over to a transmit queue
// (F6); record frames are start_records(), append_record()..., finish_records(); hellos are write_hello().
// Structs here are in host order and plain; functions own nothing and keep no state; any thread.
// Positions and totals are 32-bit serial numbers (K3) and are not judged here: that takes the link's state.
#pragma once

#include <immintrin.h>

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "heddle/frames.h"
#include "wire/drop_reason.h"
#include "wire/ethernet.h"
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

// What is known of a data frame only when it is handed to the transmit queue (F6).
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
};

struct LoadRecord {
  PortIndex port;
  uint8_t flows;
  uint16_t busy;
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

// Are the values of a data header such as there may be? What is never set in them is looked for in all at once.
inline bool data_header_sound(const heddle_data_header& header) {
  constexpr uint8_t kFlags = HEDDLE_DATA_UNORDERED | HEDDLE_DATA_LOSSLESS | HEDDLE_DATA_RETRY;
  static_assert((kFtagMax & (kFtagMax + 1)) == 0 && (kVirtualChannelsMax & (kVirtualChannelsMax - 1)) == 0);
  static_assert(HEDDLE_FLOOD_NODE == 0xffff && kNoFlow == 0, "the same in either byte order");
  const uint32_t never = (header.link.flags & ~kFlags) | (header.ftag & ~kFtagMax) |
                         (header.vc & ~(kVirtualChannelsMax - 1)) | (header.vni & big_endian(uint16_t{0xf000}));
  const bool source_good = static_cast<uint16_t>(header.source_node - 1) < HEDDLE_FLOOD_NODE - 1;
  const bool flood = header.destination_node == HEDDLE_FLOOD_NODE;
  return never == 0 && header.vni != big_endian(uint16_t{0xfff}) && source_good && header.destination_node != 0 &&
         !(flood && (header.flow_id | header.via) != 0);
}

// Judges a frame as received, of any length, and describes it. Reasons: not_fabric, bad_version, bad_frame,
// bad_check. Values are judged only behind a good check, so that bad_check counts damage and bad_frame a
// wrong sender.
inline DropReason check_frame(const uint8_t* data, uint32_t length, LinkFrame& frame) {
  constexpr uint32_t kDataFrame = HEDDLE_ETHERTYPE << 16 | HEDDLE_VERSION << 8 | HEDDLE_DATA;
  if (length < HEDDLE_DATA_OVERHEAD_BYTES || load_be32(data + 12) != kDataFrame)
    return check_other_frame(data, length, frame);
  read_link_header(data, frame);
  heddle_data_header header;
  std::memcpy(&header, data + HEDDLE_ETHERNET_BYTES, sizeof(header));
  const uint32_t original_bytes = big_endian(header.length);
  if (original_bytes > length - HEDDLE_DATA_OVERHEAD_BYTES) return DropReason::bad_frame;
  if (header_check(data + HEDDLE_ETHERNET_BYTES, sizeof(header)) != big_endian(header.link.check))
    return DropReason::bad_check;
  const bool sound = original_bytes >= HEDDLE_ETHERNET_BYTES && data_header_sound(header);
  return sound ? DropReason::none : DropReason::bad_frame;
}

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
inline __m128i first_to_host(__m128i fields) {
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(1, 0, 2, 3, 7, 6, 5, 4, 9, 8, 14, -1, 13, 12, 15, -1));
}
inline __m128i first_to_wire(__m128i fields) {  // without `via`
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(1, 0, 2, 3, 7, 6, 5, 4, 9, 8, -1, -1, 13, 12, 10, 14));
}
inline __m128i swap_totals(__m128i fields) {  // of an ACK record: flow ID, flags, severity; settled, lost, limit
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(1, 0, 2, 3, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
}
inline __m128i swap_last(__m128i fields) {  // VLAN, life, hops, priority, length
  return _mm_shuffle_epi8(fields, _mm_setr_epi8(1, 0, 3, 2, 4, 5, 7, 6, -1, -1, -1, -1, -1, -1, -1, -1));
}
}  // namespace wire_detail

// The frame at packet.data must have passed check_frame as HEDDLE_DATA. Leaves data and length alone; output_flow and
// cost are 0. dies_ns was when it came; the life that it has left is added.
inline void read_data_header(Packet& packet) {
  static_assert(uint64_t{0xffff} * HEDDLE_LIFE_UNIT_NS <= 0xffffffff, "every life fits 32 bits");
  const uint8_t* header = packet.data + HEDDLE_ETHERNET_BYTES;
  const uint8_t* fields = header + wire_detail::kDataFields;
  uint8_t* to = reinterpret_cast<uint8_t*>(&packet) + wire_detail::kPacketFields;
  const __m128i first = wire_detail::first_to_host(_mm_loadu_si128(reinterpret_cast<const __m128i*>(fields)));
  const __m128i last = wire_detail::swap_last(_mm_loadu_si64(fields + 16));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_insert_epi16(first, 0, 0));
  _mm_storeu_si64(to + 16, _mm_insert_epi16(last, 0, 1));
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

// Writes all 54 bytes in front of the original frame from the Packet and the Stamp, the same at the first hop
// and in transit; sequence channel 0. Link padding of the hop before is cut off.
inline void stamp_data_frame(Packet& packet, const Stamp& stamp) {
  uint8_t* header = packet.data + HEDDLE_ETHERNET_BYTES;
  const uint8_t* from = reinterpret_cast<const uint8_t*>(&packet) + wire_detail::kPacketFields;
  std::memcpy(packet.data, stamp.start.bytes, sizeof stamp.start.bytes);
  header[offsetof(heddle_link_header, channel)] = stamp.channel;
  header[offsetof(heddle_link_header, flags)] = stamp.flags;
  store_be32(header + offsetof(heddle_link_header, session_tag), stamp.session_tag);
  store_be32(header + offsetof(heddle_link_header, sequence), stamp.sequence);
  __m128i first = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  first = _mm_insert_epi32(first, stamp.flow | packet.ftag << 16 | stamp.vc << 24, 0);
  first = _mm_insert_epi32(first, static_cast<int>(stamp.data_flow), 1);
  const __m128i last = _mm_insert_epi16(_mm_loadu_si64(from + 16), stamp.life_units, 1);
  uint8_t* fields = header + wire_detail::kDataFields;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(fields), wire_detail::first_to_wire(first));
  store_be16(header + offsetof(heddle_data_header, via), packet.via);
  _mm_storeu_si64(fields + 16, wire_detail::swap_last(last));
  store_be32(header + offsetof(heddle_link_header, check), header_check(header, sizeof(heddle_data_header)));
  packet.length = static_cast<uint16_t>(HEDDLE_DATA_OVERHEAD_BYTES + packet.payload);
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

inline AckRecord to_host(const heddle_ack_record& record) {
  return {FlowId::of(big_endian(record.flow_id)),
          record.flags,
          record.severity,
          big_endian(record.ack_flow),
          big_endian(record.lost_total),
          big_endian(record.credit_limit),
          big_endian(record.asked_by)};
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
      WireRecord record;  // may stand at any alignment
      std::memcpy(&record, at_, sizeof(record));
      return to_host(record);
    }
    Iterator& operator++() {
      at_ += sizeof(WireRecord);
      return *this;
    }
    bool operator==(const Iterator&) const = default;

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

// `count` ACK records behind those of an open ACK frame that has room for them, each of next(). They stand here, and
// are put together in registers, since there is one for every packet.
template <typename Next>
void append_acks(Packet& packet, uint32_t count, const Next& next) {
  assert(wire_detail::open_kind(packet) == HEDDLE_ACK);
  assert(packet.length + count * sizeof(heddle_ack_record) <=
         kRecordsStart + HEDDLE_ACK_RECORDS_MAX * sizeof(heddle_ack_record));
  uint8_t* at = packet.data + packet.length;
  for (uint8_t* end = at + count * sizeof(heddle_ack_record); at != end; at += sizeof(heddle_ack_record)) {
    const AckRecord record = next();
    const __m128i totals =
        _mm_setr_epi32(record.flow | record.flags << 16 | record.severity << 24, static_cast<int>(record.ack_flow),
                       static_cast<int>(record.lost_total), static_cast<int>(record.credit_limit));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(at), wire_detail::swap_totals(totals));
    const uint32_t asked_by = big_endian(record.asked_by);  // and the reserved bytes
    std::memcpy(at + 16, &asked_by, sizeof asked_by);
  }
  packet.length = static_cast<uint16_t>(packet.length + count * sizeof(heddle_ack_record));
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
