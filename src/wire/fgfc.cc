// SPDX-License-Identifier: Apache-2.0
#include "wire/fgfc.h"

#include <cstddef>
#include <cstring>

#include "wire/byte_order.h"

namespace heddle {

namespace {

constexpr uint64_t kAnnouncedTo = 0x03686564646c;  // docs/protocol.md: whom all frames of heddle are for
constexpr uint32_t kTypeAt = 12, kHeaderAt = HEDDLE_ETHERNET_BYTES;
constexpr uint32_t kAnnouncementBytes = 60;
constexpr unsigned kFieldsKnown = HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_PORTS | HEDDLE_FGFC_DSCP |
                                  HEDDLE_FGFC_FLOW_LABEL | HEDDLE_FGFC_SOURCE_ADDRESS | HEDDLE_FGFC_ANY_DESTINATION;

heddle_fgfc_header header_of(uint8_t kind, uint8_t flags) {
  constexpr uint64_t kIdentifier = HEDDLE_FGFC_IDENTIFIER;
  heddle_fgfc_header header{{}, HEDDLE_FGFC_VERSION, kind, flags};
  for (unsigned i = 0; i < sizeof header.identifier; ++i)
    header.identifier[i] = static_cast<uint8_t>(kIdentifier >> 8 * (sizeof header.identifier - 1 - i));
  return header;
}

void write_ethernet(uint8_t* bytes, uint64_t to, uint64_t from) {
  store_mac(bytes, to);
  store_mac(bytes + 6, from);
  store_be16(bytes + kTypeAt, HEDDLE_OUI_ETHERTYPE);
}

bool has_kind(const uint8_t* bytes, uint32_t length, uint8_t kind) {
  heddle_fgfc_header header;
  if (!is_fgfc(bytes, length)) return false;
  std::memcpy(&header, bytes + kHeaderAt, sizeof header);
  return header.version == HEDDLE_FGFC_VERSION && header.kind == kind;
}

}  // namespace

bool is_fgfc(const uint8_t* bytes, uint32_t length) {
  const heddle_fgfc_header expected = header_of(0, 0);
  return length >= kHeaderAt + sizeof expected && load_be16(bytes + kTypeAt) == HEDDLE_OUI_ETHERTYPE &&
         std::memcmp(bytes + kHeaderAt, expected.identifier, sizeof expected.identifier) == 0;
}

bool read_fgfc_announcement(const uint8_t* bytes, uint32_t length, bool& obeys) {
  if (!has_kind(bytes, length, HEDDLE_FGFC_ANNOUNCEMENT)) return false;
  const uint8_t flags = bytes[kHeaderAt + offsetof(heddle_fgfc_header, flags)];
  obeys = flags == HEDDLE_FGFC_OBEYS;
  return obeys || flags == 0;
}

bool read_fgfc_pause(const uint8_t* bytes, uint32_t length, FgfcPause& pause) {
  heddle_fgfc_pause frame;
  if (length < kFgfcPauseBytes || !has_kind(bytes, length, HEDDLE_FGFC_PAUSE)) return false;
  std::memcpy(&frame, bytes + kHeaderAt, sizeof frame);
  if (frame.header.flags != 0 || (frame.fields & ~kFieldsKnown) != 0 || frame.dscp > 63) return false;
  if (frame.l3 != 0 && frame.l3 != 4 && frame.l3 != 6) return false;
  FgfcFlow& flow = pause.flow;
  flow = {.fields = frame.fields,
          .l3 = frame.l3,
          .protocol = frame.protocol,
          .dscp = frame.dscp,
          .vlan = big_endian(frame.vlan),
          .source_port = big_endian(frame.source_port),
          .destination_port = big_endian(frame.destination_port),
          .flow_label = big_endian(frame.flow_label),
          .destination = load_mac(frame.destination)};
  std::memcpy(flow.source_address.data(), frame.source_address, flow.source_address.size());
  std::memcpy(flow.destination_address.data(), frame.destination_address, flow.destination_address.size());
  pause.number = big_endian(frame.number);
  pause.timer_ns = big_endian(frame.timer_us) * Nanos{kMicrosecond};
  pause.credit = big_endian(frame.credit);
  pause.by = {big_endian(frame.node), PortIndex::of(frame.port)};
  return true;
}

void write_fgfc_announcement(Packet& packet, bool obeys, uint64_t source_mac) {
  const heddle_fgfc_header header = header_of(HEDDLE_FGFC_ANNOUNCEMENT, obeys ? HEDDLE_FGFC_OBEYS : 0);
  std::memset(packet.data, 0, kAnnouncementBytes);
  write_ethernet(packet.data, kAnnouncedTo, source_mac);
  std::memcpy(packet.data + kHeaderAt, &header, sizeof header);
  packet.length = kAnnouncementBytes;
}

void write_fgfc_pause(Packet& packet, const FgfcPause& pause, uint64_t host_mac, uint64_t source_mac) {
  const FgfcFlow& flow = pause.flow;
  heddle_fgfc_pause frame{};
  frame.header = header_of(HEDDLE_FGFC_PAUSE, 0);
  frame.number = big_endian(pause.number);
  frame.timer_us = big_endian(static_cast<uint32_t>(pause.timer_ns / kMicrosecond));
  frame.credit = big_endian(pause.credit);
  frame.node = big_endian(pause.by.node);
  frame.port = static_cast<uint8_t>(+pause.by.port);
  frame.fields = flow.fields;
  frame.vlan = big_endian(flow.vlan);
  frame.l3 = flow.l3;
  frame.protocol = flow.protocol;
  store_mac(frame.destination, flow.destination);
  frame.dscp = flow.dscp;
  frame.source_port = big_endian(flow.source_port);
  frame.destination_port = big_endian(flow.destination_port);
  frame.flow_label = big_endian(flow.flow_label);
  std::memcpy(frame.source_address, flow.source_address.data(), flow.source_address.size());
  std::memcpy(frame.destination_address, flow.destination_address.data(), flow.destination_address.size());
  write_ethernet(packet.data, host_mac, source_mac);
  std::memcpy(packet.data + kHeaderAt, &frame, sizeof frame);
  packet.length = kFgfcPauseBytes;
}

}  // namespace heddle
