// SPDX-License-Identifier: Apache-2.0
#include "wire/fabric_frame.h"

#include <algorithm>
#include <cassert>

namespace heddle {
namespace {

// murmur3's 64-bit finaliser: every input bit reaches every output bit, and not linearly (unlike a CRC).
uint64_t mix(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccd;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53;
  value ^= value >> 33;
  return value;
}

struct RecordKind {
  uint32_t bytes;  // of one record
  uint32_t max;    // records in one frame
};

// By heddle_frame_kind; zeros for kinds without records.
constexpr RecordKind kRecordKinds[HEDDLE_RETRY + 1] = {
    {},
    {},
    {sizeof(heddle_ack_record), HEDDLE_ACK_RECORDS_MAX},
    {sizeof(heddle_probe_record), HEDDLE_PROBE_RECORDS_MAX},
    {sizeof(heddle_credit_record), HEDDLE_CREDIT_RECORDS_MAX},
    {sizeof(heddle_notice_record), HEDDLE_NOTICE_RECORDS_MAX},
    {sizeof(heddle_load_record), HEDDLE_LOAD_RECORDS_MAX},
    {},
    {sizeof(heddle_retry_record), HEDDLE_RETRY_RECORDS_MAX},
};

RecordKind record_kind(uint8_t kind) { return kind <= HEDDLE_RETRY ? kRecordKinds[kind] : RecordKind{}; }

bool sound(const ProbeRecord& record) { return record.flow != kNoFlow; }
bool sound(const CreditRecord& record) {
  return record.vc < kVirtualChannelsMax && (record.flags & ~HEDDLE_CREDIT_ASK) == 0;
}
bool sound(const NoticeRecord& record) { return record.node != 0 && record.node != HEDDLE_FLOOD_NODE; }
bool sound(const RetryRecord& record) {
  constexpr uint8_t kFlags = HEDDLE_RETRY_ASK | HEDDLE_RETRY_MISSING | HEDDLE_RETRY_ANSWER;
  const bool one = !(record.flags & HEDDLE_RETRY_ASK) || record.flags == HEDDLE_RETRY_ASK;
  return record.channel == HEDDLE_RETRY_CHANNEL && (record.flags & ~kFlags) == 0 && one;
}
bool sound(const LoadRecord& record) { return record.port < kPortsMax && record.ftag < kFtags && record.part != 0; }

template <typename Range>
bool all_sound(const Range& records) {
  for (const auto record : records) {
    if (!sound(record)) return false;
  }
  return true;
}

// There is one for every packet: flow ID, flags and severity are judged as a word.
bool acks_sound(const LinkFrame& frame) {
  constexpr uint8_t kFlags = HEDDLE_ACK_CONGESTION_NEW | HEDDLE_ACK_CONGESTION_PERSISTENT |
                             HEDDLE_ACK_CONGESTION_SEVERE | HEDDLE_ACK_CONGESTION_FABRIC | HEDDLE_ACK_REDIRECT |
                             HEDDLE_ACK_METERED;
  constexpr auto kNeverSet = uint32_t{uint8_t(~kFlags)} << 16 | uint32_t{uint8_t(~kSeverityMax)} << 24;
  static_assert(kNoFlow == 0, "the same in either byte order");
  static_assert((kSeverityMax & (kSeverityMax + 1)) == 0, "severities are what some low bits can say");
  const uint8_t* at = frame.body + sizeof(heddle_record_header) - sizeof(heddle_link_header);
  uint32_t set = 0;
  bool no_flow = false;
  for (uint32_t left = ack_records(frame).size(); left > 0; --left, at += sizeof(heddle_ack_record)) {
    uint32_t word;  // little-endian: flow ID in the lower half, as two bytes
    std::memcpy(&word, at, sizeof word);
    set |= word;
    no_flow |= (word & 0xffff) == kNoFlow;
  }
  return (set & kNeverSet) == 0 && !no_flow;
}

bool records_sound(const LinkFrame& frame) {
  switch (frame.kind) {
    case HEDDLE_ACK:
      return acks_sound(frame);
    case HEDDLE_PROBE:
      return all_sound(probe_records(frame));
    case HEDDLE_CREDIT:
      return all_sound(credit_records(frame));
    case HEDDLE_NOTICE:
      return all_sound(notice_records(frame));
    case HEDDLE_RETRY:
      return all_sound(retry_records(frame));
    default:
      return all_sound(load_records(frame));
  }
}

// Printable ASCII, then zeros to the end of the field.
bool name_sound(const char* name, uint32_t bytes) {
  const char* end = name + bytes;
  const char* padding = std::find_if(name, end, [](char c) { return c < 0x20 || c > 0x7e; });
  return std::all_of(padding, end, [](char c) { return c == 0; });
}

heddle_hello load_hello(const LinkFrame& frame) {
  heddle_hello hello;
  std::memcpy(&hello, frame.body - sizeof(heddle_link_header), sizeof(hello));
  return hello;
}

// A hello stands outside sessions and channels (K1); a buffer size of 0 would cost infinitely many credits
// (C9).
bool hello_sound(const LinkFrame& frame) {
  const heddle_hello hello = load_hello(frame);
  return frame.session_tag == 0 && frame.sequence == 0 && frame.channel == 0 && hello.nonce != 0 &&
         hello.buffer_bytes != 0 && name_sound(hello.node_name, sizeof(hello.node_name)) &&
         name_sound(hello.port_name, sizeof(hello.port_name));
}

// The last byte of the field stays 0.
template <size_t kBytes>
void copy_name(char (&field)[kBytes], std::string_view text) {
  for (size_t i = 0; i < kBytes; ++i) {
    const char c = i < kBytes - 1 && i < text.size() ? text[i] : '\0';
    field[i] = c == '\0' || (c >= 0x20 && c <= 0x7e) ? c : '?';
  }
}

}  // namespace

void Hello::set_names(std::string_view node_text, std::string_view port_text) {
  copy_name(node_name, node_text);
  copy_name(port_name, port_text);
}

uint32_t session_tag(uint64_t nonce_a, uint64_t nonce_b) {
  const uint64_t lower = std::min(nonce_a, nonce_b);
  const uint64_t higher = std::max(nonce_a, nonce_b);
  const auto tag = static_cast<uint32_t>(mix(mix(lower) + higher) >> 32);
  return tag == 0 ? 1 : tag;
}

uint32_t first_position(uint64_t sender_nonce, uint64_t receiver_nonce, FlowId flow) {
  return static_cast<uint32_t>(mix(mix(mix(sender_nonce) + receiver_nonce) + flow) >> 32);
}

DropReason check_other_frame(const uint8_t* data, uint32_t length, LinkFrame& frame) {
  if (length < HEDDLE_ETHERNET_BYTES || load_be16(data + 12) != HEDDLE_ETHERTYPE) return DropReason::not_fabric;
  if (length < kLinkHeaderEnd) return DropReason::bad_frame;
  read_link_header(data, frame);
  if (frame.version != HEDDLE_VERSION) return DropReason::bad_version;
  if (frame.kind == HEDDLE_DATA) return DropReason::bad_frame;  // too short to be one
  frame.body = data + kLinkHeaderEnd;
  const uint8_t* link_header = data + HEDDLE_ETHERNET_BYTES;
  uint32_t header_bytes = sizeof(heddle_hello);  // what the check covers, from the link header on
  if (frame.kind != HEDDLE_HELLO) {
    if (length < kRecordsStart) return DropReason::bad_frame;
    const RecordKind records = record_kind(frame.kind);
    const uint32_t count = load_be16(frame.body);
    if (count == 0 || count > records.max) return DropReason::bad_frame;
    header_bytes = static_cast<uint32_t>(sizeof(heddle_record_header)) + count * records.bytes;
  }
  if (header_bytes > length - HEDDLE_ETHERNET_BYTES) return DropReason::bad_frame;
  const uint32_t check = load_be32(link_header + offsetof(heddle_link_header, check));
  if (header_check(link_header, header_bytes) != check) return DropReason::bad_check;
  const uint8_t flags = frame.kind == HEDDLE_HELLO ? HEDDLE_HELLO_HEARS_SHORT : 0;
  if ((frame.flags & ~flags) != 0) return DropReason::bad_frame;
  const bool is_sound = frame.kind == HEDDLE_HELLO ? hello_sound(frame) : records_sound(frame);
  return is_sound ? DropReason::none : DropReason::bad_frame;
}

// --- records ---

ProbeRecord to_host(const heddle_probe_record& record) {
  return {FlowId::of(big_endian(record.flow_id)), big_endian(record.data_flow)};
}

CreditRecord to_host(const heddle_credit_record& record) {
  return {record.vc, record.flags, big_endian(record.sent_total), big_endian(record.limit)};
}

NoticeRecord to_host(const heddle_notice_record& record) {
  return {big_endian(record.node),          big_endian(record.sequence),       big_endian(record.ports_up),
          big_endian(record.ports_settled), big_endian(record.ports_kept_out), big_endian(record.ends_seen),
          big_endian(record.session_ends)};
}

RetryRecord to_host(const heddle_retry_record& record) {
  return {record.channel, record.flags, big_endian(record.round), big_endian(record.sequence)};
}

LoadRecord to_host(const heddle_load_record& record) {
  return {PortIndex::of(record.port), record.ftag,
          big_endian(record.flows),   big_endian(record.busy),
          big_endian(record.part),    big_endian(record.waiting)};
}

namespace {

heddle_probe_record to_wire(const ProbeRecord& record) {
  return {big_endian(record.flow), 0, big_endian(record.data_flow)};
}

heddle_credit_record to_wire(const CreditRecord& record) {
  return {record.vc, record.flags, {}, big_endian(record.sent_total), big_endian(record.limit)};
}

heddle_notice_record to_wire(const NoticeRecord& record) {
  return {big_endian(record.node),
          0,
          big_endian(record.sequence),
          big_endian(record.ports_up),
          big_endian(record.ports_settled),
          big_endian(record.ports_kept_out),
          big_endian(record.ends_seen),
          big_endian(record.session_ends),
          0};
}

heddle_retry_record to_wire(const RetryRecord& record) {
  return {record.channel, record.flags, big_endian(record.round), big_endian(record.sequence)};
}

heddle_load_record to_wire(const LoadRecord& record) {
  return {static_cast<uint8_t>(record.port), record.ftag,
          big_endian(record.flows),          big_endian(record.busy),
          big_endian(record.part),           big_endian(record.waiting_ns)};
}

bool has_room(const Packet& packet, uint8_t kind) {
  const RecordKind records = record_kind(kind);
  return wire_detail::open_kind(packet) == kind && packet.length < kRecordsStart + records.max * records.bytes;
}

template <uint8_t kKind, typename Record>
bool append(Packet& packet, const Record& record) {
  if (!has_room(packet, kKind)) return false;
  const auto wire = to_wire(record);
  std::memcpy(packet.data + packet.length, &wire, sizeof(wire));
  packet.length = static_cast<uint16_t>(packet.length + sizeof(wire));
  return true;
}

}  // namespace

uint32_t records_max(uint8_t kind) { return record_kind(kind).max; }

void start_records(Packet& packet, uint8_t kind, uint8_t channel) {
  assert(records_max(kind) != 0);
  std::memset(packet.data, 0, kRecordsStart);
  heddle_link_header link{};
  link.version = HEDDLE_VERSION;
  link.kind = kind;
  link.channel = channel;
  std::memcpy(packet.data + HEDDLE_ETHERNET_BYTES, &link, sizeof(link));
  packet.length = kRecordsStart;
}

uint32_t record_count(const Packet& packet) {
  return (packet.length - kRecordsStart) / record_kind(wire_detail::open_kind(packet)).bytes;
}

bool append_record(Packet& packet, const AckRecord& record) {
  if (!has_room(packet, HEDDLE_ACK)) return false;
  write_ack_record(append_acks(packet, 1), record);
  return true;
}
bool append_record(Packet& packet, const ProbeRecord& record) { return append<HEDDLE_PROBE>(packet, record); }
bool append_record(Packet& packet, const CreditRecord& record) { return append<HEDDLE_CREDIT>(packet, record); }
bool append_record(Packet& packet, const NoticeRecord& record) { return append<HEDDLE_NOTICE>(packet, record); }
bool append_record(Packet& packet, const RetryRecord& record) { return append<HEDDLE_RETRY>(packet, record); }
bool append_record(Packet& packet, const LoadRecord& record) { return append<HEDDLE_LOAD>(packet, record); }

namespace {

void write_ethernet_header(uint8_t* data, uint64_t source_mac) {
  store_mac(data, kFabricGroupMac);
  store_mac(data + 6, source_mac);
  store_be16(data + 12, HEDDLE_ETHERTYPE);
}

// The last step of every frame but data: addresses, check over all that is there, padding.
void close_frame(Packet& packet, uint64_t source_mac, uint32_t least_bytes = kLeastFrameBytes) {
  write_ethernet_header(packet.data, source_mac);
  uint8_t* link_header = packet.data + HEDDLE_ETHERNET_BYTES;
  const uint32_t check = header_check(link_header, packet.length - uint32_t{HEDDLE_ETHERNET_BYTES});
  store_be32(link_header + offsetof(heddle_link_header, check), check);
  if (packet.length < least_bytes) {
    std::memset(packet.data + packet.length, 0, least_bytes - packet.length);
    packet.length = static_cast<uint16_t>(least_bytes);
  }
}

}  // namespace

DataFrameStart data_frame_start(uint64_t source_mac) {
  DataFrameStart start;
  write_ethernet_header(start.bytes, source_mac);
  start.bytes[HEDDLE_ETHERNET_BYTES + offsetof(heddle_link_header, version)] = HEDDLE_VERSION;
  start.bytes[HEDDLE_ETHERNET_BYTES + offsetof(heddle_link_header, kind)] = HEDDLE_DATA;
  return start;
}

void finish_records(Packet& packet, uint32_t session_tag, uint32_t sequence, uint64_t source_mac) {
  assert(record_count(packet) != 0);
  uint8_t* link_header = packet.data + HEDDLE_ETHERNET_BYTES;
  store_be32(link_header + offsetof(heddle_link_header, session_tag), session_tag);
  store_be32(link_header + offsetof(heddle_link_header, sequence), sequence);
  store_be16(link_header + offsetof(heddle_record_header, count), static_cast<uint16_t>(record_count(packet)));
  close_frame(packet, source_mac);
}

void write_hello(Packet& packet, const Hello& hello, uint32_t frame_bytes, uint64_t source_mac) {
  heddle_hello wire{};
  wire.link.version = HEDDLE_VERSION;
  wire.link.kind = HEDDLE_HELLO;
  wire.link.flags = hello.hears_only_short ? HEDDLE_HELLO_HEARS_SHORT : 0;
  wire.nonce = big_endian(hello.nonce);
  wire.echo = big_endian(hello.echo);
  wire.topology_hash = big_endian(hello.topology_hash);
  wire.notice_digest = big_endian(hello.notice_digest);
  wire.node = big_endian(hello.node);
  wire.port = big_endian(hello.port);
  wire.peer_node = big_endian(hello.peer_node);
  wire.peer_port = big_endian(hello.peer_port);
  wire.buffer_bytes = big_endian(hello.buffer_bytes);
  wire.credits = big_endian(hello.credits);
  wire.notice_sequence = big_endian(hello.notice_sequence);
  std::memcpy(wire.node_name, hello.node_name, sizeof(wire.node_name));
  std::memcpy(wire.port_name, hello.port_name, sizeof(wire.port_name));
  std::memcpy(packet.data + HEDDLE_ETHERNET_BYTES, &wire, sizeof(wire));
  packet.length = HEDDLE_ETHERNET_BYTES + sizeof(wire);
  close_frame(packet, source_mac, frame_bytes);
}

void read_hello(const LinkFrame& frame, Hello& hello) {
  const heddle_hello wire = load_hello(frame);
  hello = Hello{};
  hello.nonce = big_endian(wire.nonce);
  hello.echo = big_endian(wire.echo);
  hello.topology_hash = big_endian(wire.topology_hash);
  hello.notice_digest = big_endian(wire.notice_digest);
  hello.node = big_endian(wire.node);
  hello.port = big_endian(wire.port);
  hello.peer_node = big_endian(wire.peer_node);
  hello.peer_port = big_endian(wire.peer_port);
  hello.buffer_bytes = big_endian(wire.buffer_bytes);
  hello.credits = big_endian(wire.credits);
  hello.notice_sequence = big_endian(wire.notice_sequence);
  hello.hears_only_short = (wire.link.flags & HEDDLE_HELLO_HEARS_SHORT) != 0;
  std::memcpy(hello.node_name, wire.node_name, sizeof(wire.node_name));
  std::memcpy(hello.port_name, wire.port_name, sizeof(wire.port_name));
}

}  // namespace heddle
