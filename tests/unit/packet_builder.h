// SPDX-License-Identifier: Apache-2.0
// Frames for tests, readable in place:
//   PacketBuilder().ethernet(kHostB, kHostA).vlan(7).ipv4(0x0a000001, 0x0a000002).udp(1000,
//   53).payload(20).build()
// Layers are given from the outside in; build() fills in types, lengths and checksums. Its checksums are
// computed byte by byte, apart from the code under test.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "wire/packet.h"

namespace heddle::test {

using Bytes = std::vector<uint8_t>;
using Ipv6Address = std::array<uint8_t, 16>;

constexpr uint64_t kHostA = 0x020000000001;
constexpr uint64_t kHostB = 0x020000000002;

constexpr Ipv6Address ipv6_host(uint8_t last) { return {0xfd, 0x00, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last}; }

class PacketBuilder {
 public:
  PacketBuilder& ethernet(uint64_t destination, uint64_t source) {
    big(destination, 6);
    big(source, 6);
    type_at_ = bytes_.size();
    big(0, 2);
    return *this;
  }
  PacketBuilder& vlan(uint16_t tci, uint16_t tag_type = 0x8100) {
    patch(type_at_, tag_type, 2);
    big(tci, 2);
    type_at_ = bytes_.size();
    big(0, 2);
    return *this;
  }
  PacketBuilder& ether_type(uint16_t type) {
    patch(type_at_, type, 2);
    return *this;
  }

  PacketBuilder& ipv4(uint32_t source, uint32_t destination, uint32_t option_words = 0) {
    ether_type(0x0800);
    l3_ = bytes_.size();
    version_ = 4;
    big(0x45 + option_words, 1);
    big(0, 8);  // type of service, lengths, fragment word, life: see build() and the setters below
    patch(l3_ + 8, 64, 1);
    protocol_at_ = bytes_.size();
    big(0xfd, 1);
    big(0, 2);
    big(source, 4);
    big(destination, 4);
    for (uint32_t i = 0; i < option_words; ++i) big(0x01010101, 4);  // no-operation
    l4_ = bytes_.size();
    return *this;
  }
  PacketBuilder& ipv6(const Ipv6Address& source, const Ipv6Address& destination, uint32_t flow_label = 0) {
    ether_type(0x86dd);
    l3_ = bytes_.size();
    version_ = 6;
    big(0x60000000 | flow_label, 4);
    big(0, 2);
    protocol_at_ = bytes_.size();
    big(0xfd, 1);
    big(64, 1);
    bytes_.insert(bytes_.end(), source.begin(), source.end());
    bytes_.insert(bytes_.end(), destination.begin(), destination.end());
    l4_ = bytes_.size();
    return *this;
  }
  PacketBuilder& dscp(uint8_t value) {
    if (version_ == 4) patch(l3_ + 1, uint64_t{value} << 2, 1);
    if (version_ == 6) {
      bytes_[l3_] = static_cast<uint8_t>(bytes_[l3_] | value >> 2);
      bytes_[l3_ + 1] = static_cast<uint8_t>(bytes_[l3_ + 1] | value << 6);
    }
    return *this;
  }
  // IPv4: in the header; IPv6: a fragment header. offset in units of 8 bytes.
  PacketBuilder& fragment(uint16_t offset, bool more) {
    if (version_ == 4) {
      patch(l3_ + 6, uint64_t{offset} | (more ? 0x2000u : 0u), 2);
      return *this;
    }
    begin_extension(44);
    big(uint64_t{offset} << 3 | (more ? 1u : 0u), 2);
    big(0x12345678, 4);
    l4_ = bytes_.size();
    return *this;
  }
  // An IPv6 extension header of `units` * 8 bytes; routing headers with `segments_left`.
  PacketBuilder& extension(uint8_t type, uint32_t units = 1, uint8_t segments_left = 0) {
    begin_extension(type);
    const size_t start = bytes_.size() - 2;
    bytes_.resize(start + units * 8, 0);
    bytes_[start + 1] = static_cast<uint8_t>(type == 51 ? units * 2 - 2 : units - 1);
    if (type == 43) bytes_[start + 3] = segments_left;
    l4_ = bytes_.size();
    return *this;
  }
  PacketBuilder& protocol(uint8_t value) {
    patch(protocol_at_, value, 1);
    return *this;
  }

  PacketBuilder& tcp(uint16_t source_port, uint16_t destination_port, uint32_t option_words = 0) {
    protocol(l4_protocol_ = 6);
    big(source_port, 2);
    big(destination_port, 2);
    big(0x11223344, 4);
    big(0x55667788, 4);
    big((5 + option_words) << 4, 1);
    big(0x10, 1);
    big(0xffff, 2);
    big(0, 4);
    for (uint32_t i = 0; i < option_words; ++i) big(0x01010101, 4);
    return *this;
  }
  PacketBuilder& udp(uint16_t source_port, uint16_t destination_port) {
    protocol(l4_protocol_ = 17);
    big(source_port, 2);
    big(destination_port, 2);
    big(0, 4);
    return *this;
  }

  PacketBuilder& payload(size_t count) {
    for (size_t i = 0; i < count; ++i) bytes_.push_back(static_cast<uint8_t>(i * 7 + 1));
    return *this;
  }
  PacketBuilder& payload(const Bytes& content) {
    bytes_.insert(bytes_.end(), content.begin(), content.end());
    return *this;
  }
  // Behind the packet: link padding.
  PacketBuilder& pad_to(size_t frame_bytes) {
    pad_to_ = frame_bytes;
    return *this;
  }
  // The sender leaves the checksum to its hardware: the field holds the pseudo header's sum.
  PacketBuilder& checksum_partial() {
    partial_ = true;
    return *this;
  }

  Bytes build() const {
    PacketBuilder done = *this;
    done.fill_lengths();
    done.fill_checksums();
    if (done.bytes_.size() < pad_to_) done.bytes_.resize(pad_to_, 0);
    return done.bytes_;
  }
  size_t l4_offset() const { return l4_; }
  size_t l3_offset() const { return l3_; }

 private:
  void big(uint64_t value, size_t width) {
    for (size_t i = width; i-- > 0;) bytes_.push_back(static_cast<uint8_t>(value >> 8 * i));
  }
  void patch(size_t at, uint64_t value, size_t width) {
    for (size_t i = 0; i < width; ++i) bytes_[at + i] = static_cast<uint8_t>(value >> 8 * (width - 1 - i));
  }
  void begin_extension(uint8_t type) {
    patch(protocol_at_, type, 1);
    protocol_at_ = bytes_.size();
    big(0xfd, 1);
    big(0, 1);
  }
  void fill_lengths() {
    if (version_ == 4) patch(l3_ + 2, bytes_.size() - l3_, 2);
    if (version_ == 6) patch(l3_ + 4, bytes_.size() - l3_ - 40, 2);
    if (l4_protocol_ == 17) patch(l4_ + 4, bytes_.size() - l4_, 2);
  }
  void fill_checksums() {
    if (version_ == 4) patch(l3_ + 10, ~sum(l3_, l4_, 0) & 0xffff, 2);
    if (l4_protocol_ == 0) return;
    const size_t address_bytes = version_ == 4 ? 4 : 16;
    const size_t addresses = version_ == 4 ? l3_ + 12 : l3_ + 8;
    const uint32_t pseudo =
        sum(addresses, addresses + 2 * address_bytes, l4_protocol_ + static_cast<uint32_t>(bytes_.size() - l4_));
    uint32_t value = partial_ ? pseudo : ~sum(l4_, bytes_.size(), pseudo) & 0xffff;
    if (value == 0 && l4_protocol_ == 17) value = 0xffff;
    patch(l4_ + (l4_protocol_ == 6 ? 16 : 6), value, 2);
  }
  uint32_t sum(size_t from, size_t to, uint32_t start) const {
    uint32_t total = start;
    for (size_t i = from; i < to; ++i) {
      total += (i - from) % 2 == 0 ? uint32_t{bytes_[i]} << 8 : bytes_[i];
      total = (total & 0xffff) + (total >> 16);
    }
    return (total & 0xffff) + (total >> 16);
  }

  Bytes bytes_;
  size_t type_at_ = 0;
  size_t protocol_at_ = 0;
  size_t l3_ = 0;
  size_t l4_ = 0;
  size_t pad_to_ = 0;
  uint8_t version_ = 0;
  uint8_t l4_protocol_ = 0;
  bool partial_ = false;
};

// The bytes in a heap block of exactly their size, so that the address sanitizer sees a read past their end.
class ExactBuffer {
 public:
  explicit ExactBuffer(const Bytes& bytes) : ExactBuffer(bytes.data(), bytes.size()) {}
  ExactBuffer(const uint8_t* bytes, size_t count) : data_(new uint8_t[count]), size_(count) {
    if (count > 0) std::memcpy(data_.get(), bytes, count);
  }
  uint8_t* data() { return data_.get(); }
  uint32_t size() const { return static_cast<uint32_t>(size_); }

 private:
  std::unique_ptr<uint8_t[]> data_;
  size_t size_;
};

// A Packet with its own bytes: headroom in front, room behind.
struct TestPacket {
  explicit TestPacket(const Bytes& frame = {}) {
    packet.data = storage.data() + kPacketHeadroomBytes;
    packet.length = static_cast<uint16_t>(frame.size());
    if (!frame.empty()) std::memcpy(packet.data, frame.data(), frame.size());
  }
  Bytes bytes() const { return Bytes(packet.data, packet.data + packet.length); }

  Bytes storage = Bytes(kPacketHeadroomBytes + 10000, 0xee);
  Packet packet{};
};

}  // namespace heddle::test
