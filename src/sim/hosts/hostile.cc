// SPDX-License-Identifier: Apache-2.0
#include "sim/hosts/hostile.h"

#include <algorithm>
#include <cstring>

#include "sim/engine/fabric.h"
#include "sim/hosts/host.h"
#include "wire/fabric_frame.h"
#include "wire/fgfc.h"
#include "wire/pause.h"

namespace heddle::sim {

namespace {

constexpr uint64_t kRoamingMac = 0x02f00ba40001;  // every hostile host claims it

void put_headers(Packet& packet, uint64_t destination, uint64_t source, uint16_t ethertype) {
  store_mac(packet.data, destination);
  store_mac(packet.data + 6, source);
  store_be16(packet.data + 12, ethertype);
}

}  // namespace

HostileSender::Result HostileSender::next(const HostSetup&, const TopologyPort&, Nanos now) {
  if (now >= options_.stops_ns || options_.kinds == 0) return {0, kNever};
  return {options_.burst_frames, now + std::max<Nanos>(1, options_.interval_ns)};
}

uint64_t HostileSender::some_mac(Fabric& fabric) {
  return fabric.setup().hosts[random_.below(fabric.setup().hosts.size())].mac;
}

void HostileSender::write(Packet& packet, Fabric& fabric, uint16_t host, Nanos now) {
  uint32_t choice = static_cast<uint32_t>(random_.below(static_cast<uint32_t>(__builtin_popcount(options_.kinds))));
  uint32_t rest = options_.kinds;
  while (choice-- > 0) rest &= rest - 1;
  const auto kind = static_cast<HostileKind>(__builtin_ctz(rest));
  ++sent_[static_cast<unsigned>(kind)];
  const HostSetup& self = fabric.setup().hosts[host];
  const TopologyPort& port = fabric.topology().nodes[self.port.node_index].ports[self.port.port];
  const uint64_t victim = some_mac(fabric);
  const auto native = port.vlans.native;
  switch (kind) {
    case HostileKind::fabric_data:
    case HostileKind::fabric_ack:
    case HostileKind::fabric_hello:
      return write_fabric(packet, kind, victim);
    case HostileKind::malformed_ip:
    case HostileKind::malformed_l4:
    case HostileKind::checksum_impossible:
    case HostileKind::many_flows:
      return write_ip(packet, kind, self.mac, victim);
    case HostileKind::group_source:
      return write_plain(packet, kind, self.mac | uint64_t{1} << 40, victim, native, false, 60, now);
    case HostileKind::reserved_address:
      return write_plain(packet, kind, self.mac, 0x0180c2000000 + random_.below(16), native, false, 60, now);
    case HostileKind::many_sources:
      return write_plain(packet, kind, 0x02ab00000000 + random_.below(options_.sources), victim, native, false, 60,
                         now);
    case HostileKind::moving_station:
      return write_plain(packet, kind, kRoamingMac, victim, native, false, 60, now);
    case HostileKind::same_port:
      return write_plain(packet, kind, self.mac, self.mac, native, false, 60, now);
    case HostileKind::unknown_unicast:
      // The first of them are static stations that the topology puts where they are not.
      return write_plain(packet, kind, self.mac, 0x02cc00000000 + random_.below(random_.below(2) == 0 ? 4 : 1 << 20),
                         native, false, 60, now);
    case HostileKind::broadcast_storm:
      return write_plain(packet, kind, self.mac, 0xffffffffffff, native, false, 60, now);
    case HostileKind::wrong_vlan:
      return write_plain(packet, kind, self.mac, victim, static_cast<uint16_t>(3000 + random_.below(1000)), true, 60,
                         now);
    case HostileKind::too_long:
      return write_plain(packet, kind, self.mac, victim, native, false,
                         port.mtu_bytes + kEthernetHeaderBytes + 1 + static_cast<uint32_t>(random_.below(200)), now);
    default:
      break;
  }
  write_plain(packet, kind, self.mac, victim, native, false, 60, now);
  if (kind == HostileKind::pause_storm) write_storm(packet, self.mac);
  if (kind == HostileKind::fgfc) write_fgfc(packet, self.mac, victim);
  if (kind == HostileKind::runt) packet.length = static_cast<uint16_t>(random_.below(18));
  if (kind == HostileKind::mac_control) store_be16(packet.data + 12, 0x8808);
  if (kind == HostileKind::stacked_tags) {
    store_be16(packet.data + 12, random_.below(2) == 0 ? 0x88a8 : 0x8100);
    store_be16(packet.data + 16, 0x8100);
  }
  if (kind == HostileKind::runt && packet.length >= 14) store_be16(packet.data + 12, 0x8100);
  if (kind == HostileKind::noise) {
    packet.length = static_cast<uint16_t>(random_.below(200));
    for (uint32_t i = 0; i < packet.length; ++i) packet.data[i] = static_cast<uint8_t>(random_.next());
  }
}

// PAUSE or PFC without end, now and then one that ends it, or one that says nothing that is right.
void HostileSender::write_storm(Packet& packet, uint64_t source) {
  PauseFrame frame{.by_priority = random_.below(2) == 0, .enabled = static_cast<uint8_t>(random_.next()), .quanta = {}};
  const bool ends = random_.below(512) == 0;
  for (uint16_t& quanta : frame.quanta) quanta = ends ? uint16_t{0} : static_cast<uint16_t>(random_.next());
  write_pause(packet, frame, source);
  if (random_.below(8) == 0) packet.length = static_cast<uint16_t>(random_.below(60));
}

// It obeys, and so do stations that nobody has, now and then no longer; it tells its victim to wait; or half of that.
void HostileSender::write_fgfc(Packet& packet, uint64_t source, uint64_t victim) {
  if (random_.below(3) == 0) {
    FgfcPause pause;
    pause.number = static_cast<uint32_t>(random_.next());
    pause.timer_ns = kSecond;
    pause.flow.destination = source;
    write_fgfc_pause(packet, pause, victim, source);
  } else {
    const uint64_t station = random_.below(2) == 0 ? source : 0x02dd00000000 + random_.below(options_.sources + 1);
    write_fgfc_announcement(packet, random_.below(4) != 0, station);
  }
  if (random_.below(8) == 0) packet.length = static_cast<uint16_t>(14 + random_.below(46));
}

// They look as if a neighbour had sent them: right version, right check.
void HostileSender::write_fabric(Packet& packet, HostileKind kind, uint64_t victim) {
  if (kind == HostileKind::fabric_data) {
    packet.length = 100;
    packet.destination = {static_cast<uint16_t>(1 + random_.below(16)), 0};
    packet.source = {static_cast<uint16_t>(1 + random_.below(16)), 1};
    packet.hop_limit = 17;
    packet.vni = 1;
    prepend_fabric_header(packet);
    stamp_data_frame(packet, {.session_tag = static_cast<uint32_t>(random_.next()),
                              .sequence = static_cast<uint32_t>(random_.next()),
                              .flow = FlowId::of(1 + random_.below(16)),
                              .data_flow = static_cast<uint32_t>(random_.next()),
                              .life_units = 700,
                              .start = data_frame_start(port_mac({1, 1}))});
  } else if (kind == HostileKind::fabric_ack) {
    start_records(packet, HEDDLE_ACK);
    append_record(packet, AckRecord{.flow = FlowId::of(1 + random_.below(16)),
                                    .flags = 0,
                                    .severity = 0,
                                    .ack_flow = static_cast<uint32_t>(random_.next()),
                                    .lost_total = 0,
                                    .credit_limit = 0,
                                    .asked_by = 0});
    finish_records(packet, static_cast<uint32_t>(random_.next()), 1, port_mac({1, 1}));
  } else {
    Hello hello{};
    hello.nonce = random_.nonzero();
    hello.buffer_bytes = 2048;
    hello.node = static_cast<uint16_t>(1 + random_.below(16));
    hello.set_names("evil", "p0");
    write_hello(packet, hello, 0, port_mac({1, 1}));
  }
  if (random_.below(2) == 0) store_mac(packet.data, victim);  // a frame for a station, but for its type
}

void HostileSender::write_ip(Packet& packet, HostileKind kind, uint64_t source, uint64_t destination) {
  uint8_t* ip = packet.data + 14;
  std::memset(packet.data, 0, 60);
  packet.length = 60;
  put_headers(packet, destination, source, kEtherTypeIpv4);
  ip[0] = 0x45;
  store_be16(ip + 2, 46);
  ip[8] = 64;
  ip[9] = kProtocolUdp;
  store_be32(ip + 12, 0x0b000000u | static_cast<uint32_t>(random_.below(options_.flows)));
  store_be32(ip + 16, 0x0a000001u);
  store_be16(ip + 20, static_cast<uint16_t>(random_.next()));
  store_be16(ip + 22, 53);
  store_be16(ip + 24, 26);
  if (kind == HostileKind::malformed_ip) {
    switch (random_.below(4)) {
      case 0:
        ip[0] = 0x65;  // another version
        break;
      case 1:
        ip[0] = 0x42;  // header too short
        break;
      case 2:
        store_be16(ip + 2, 1500);  // longer than the frame
        break;
      default:
        packet.length = static_cast<uint16_t>(20 + random_.below(10));
        break;
    }
  }
  if (kind == HostileKind::malformed_l4) store_be16(ip + 24, random_.below(2) == 0 ? 3 : 1000);
  if (kind == HostileKind::checksum_impossible) {
    ip[9] = 47;  // nothing that has a checksum we know
    SimPool::tag(packet).partial = true;
  }
}

void HostileSender::write_plain(Packet& packet, HostileKind, uint64_t source, uint64_t destination, uint16_t vlan,
                                bool tagged, uint32_t length, Nanos now) {
  HostFlow flow;
  flow.id = kHostileFlow;
  flow.kind = FrameKind::ethernet;
  flow.vlan = vlan;
  packet.length = static_cast<uint16_t>(write_frame(packet.data, flow, {source, 0}, {destination, 0}, tagged,
                                                    static_cast<uint16_t>(length), vlan, now, true));
}

}  // namespace heddle::sim
