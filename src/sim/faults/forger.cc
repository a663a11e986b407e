// SPDX-License-Identifier: Apache-2.0
// Frames rewritten as a broken or malicious neighbour would send them: the check is right, what it covers is not.
#include <cstring>

#include "heddle/frames.h"
#include "sim/faults/faults.h"
#include "wire/fabric_frame.h"

namespace heddle::sim {

namespace {

constexpr uint32_t kLink = HEDDLE_ETHERNET_BYTES;
constexpr uint32_t kRecord = kLink + sizeof(heddle_record_header);

// Seals bytes [kLink, kLink + count) again.
void seal(Packet& packet, uint32_t count) {
  store_be32(packet.data + kLink + offsetof(heddle_link_header, check), header_check(packet.data + kLink, count));
}

bool forge_data(Forgery forgery, Packet& packet, Random& random) {
  uint8_t* header = packet.data + kLink;
  switch (forgery) {
    case Forgery::no_hops:
      header[offsetof(heddle_data_header, hop_limit)] = 0;
      break;
    case Forgery::no_life:
      store_be16(header + offsetof(heddle_data_header, life), 0);
      break;
    case Forgery::wrong_vlan:
      store_be16(header + offsetof(heddle_data_header, vni), 3999);
      break;
    case Forgery::no_such_port:
      header[offsetof(heddle_data_header, destination_port)] = 200;
      break;
    case Forgery::position_far:
      if (load_be16(header + offsetof(heddle_data_header, flow_id)) == 0) return false;
      store_be32(header + offsetof(heddle_data_header, data_flow),
                 load_be32(header + offsetof(heddle_data_header, data_flow)) + 0x60000000u);
      break;
    case Forgery::position_back:
      if (load_be16(header + offsetof(heddle_data_header, flow_id)) == 0) return false;
      store_be32(header + offsetof(heddle_data_header, data_flow),
                 load_be32(header + offsetof(heddle_data_header, data_flow)) - 60);
      break;
    case Forgery::flow_id_high:
      if (load_be16(header + offsetof(heddle_data_header, destination_node)) == HEDDLE_FLOOD_NODE) return false;
      store_be16(header + offsetof(heddle_data_header, flow_id), static_cast<uint16_t>(0xff00 | random.below(256)));
      break;
    case Forgery::strange_class:  // the swarm has three at most
      header[offsetof(heddle_data_header, ftag)] = static_cast<uint8_t>(3 + random.below(13));
      break;
    case Forgery::strange_channel:  // one that its class does not go in
      header[offsetof(heddle_data_header, vc)] = header[offsetof(heddle_data_header, vc)] == 0;
      break;
    default:
      return false;
  }
  seal(packet, sizeof(heddle_data_header));
  return true;
}

bool forge_records(Forgery forgery, Packet& packet, uint8_t kind, Random& random) {
  uint8_t* record = packet.data + kRecord;
  const uint32_t count = load_be16(packet.data + kLink + sizeof(heddle_link_header));
  const auto add = [record](size_t offset, uint32_t more) {
    store_be32(record + offset, load_be32(record + offset) + more);
  };
  uint32_t record_bytes = 0;
  if (kind == HEDDLE_ACK) {
    record_bytes = sizeof(heddle_ack_record);
    if (forgery == Forgery::ack_beyond) {
      add(offsetof(heddle_ack_record, ack_flow), 0x20000000);
    } else if (forgery == Forgery::lost_beyond) {
      add(offsetof(heddle_ack_record, lost_total), 0x20000000);
    } else if (forgery == Forgery::limit_behind) {
      record[offsetof(heddle_ack_record, flags)] |= HEDDLE_ACK_METERED;
      store_be32(record + offsetof(heddle_ack_record, credit_limit),
                 load_be32(record + offsetof(heddle_ack_record, ack_flow)) - 1000);
    } else if (forgery == Forgery::severe) {  // K10: whoever is held by it does not stay so
      record[offsetof(heddle_ack_record, flags)] |= HEDDLE_ACK_CONGESTION_PERSISTENT | HEDDLE_ACK_CONGESTION_SEVERE;
      record[offsetof(heddle_ack_record, severity)] = kSeverityMax;
    } else {
      return false;
    }
  } else if (kind == HEDDLE_CREDIT) {
    record_bytes = sizeof(heddle_credit_record);
    if (forgery == Forgery::limit_beyond)
      add(offsetof(heddle_credit_record, limit), 100'000);
    else if (forgery == Forgery::total_beyond)
      add(offsetof(heddle_credit_record, sent_total), 100'000);
    else
      return false;
  } else if (kind == HEDDLE_PROBE) {
    record_bytes = sizeof(heddle_probe_record);
    if (forgery != Forgery::probe_far) return false;
    add(offsetof(heddle_probe_record, data_flow), 0x60000000);
  } else if (kind == HEDDLE_NOTICE) {
    record_bytes = sizeof(heddle_notice_record);
    if (forgery != Forgery::strange_notice) return false;
    store_be16(record, 60'000);
  } else if (kind == HEDDLE_RETRY) {
    record_bytes = sizeof(heddle_retry_record);
    const auto by = static_cast<uint32_t>(1 + random.below(random.below(2) == 0 ? 3 : 1000));
    if (forgery == Forgery::retry_ahead)  // what it says to have may be under way, lost or never sent
      add(offsetof(heddle_retry_record, sequence), by);
    else if (forgery == Forgery::retry_behind)
      add(offsetof(heddle_retry_record, sequence), -by);
    else
      return false;
  } else {
    return false;
  }
  seal(packet, static_cast<uint32_t>(sizeof(heddle_record_header)) + count * record_bytes);
  return true;
}

bool forge_hello(Forgery forgery, Packet& packet, Random& random) {
  uint8_t* hello = packet.data + kLink;
  if (forgery == Forgery::other_topology)
    store_be32(hello + offsetof(heddle_hello, topology_hash), static_cast<uint32_t>(random.next()));
  else if (forgery == Forgery::other_cable)
    store_be16(hello + offsetof(heddle_hello, port), 63);
  else if (forgery == Forgery::late_hello)  // of a session long gone: it echoes what nobody has offered
    store_be32(hello + offsetof(heddle_hello, echo), static_cast<uint32_t>(random.nonzero()));
  else
    return false;
  store_be32(hello + offsetof(heddle_hello, nonce), static_cast<uint32_t>(random.nonzero()));  // a stranger's
  seal(packet, sizeof(heddle_hello));
  return true;
}

}  // namespace

bool forge_frame(Forgery forgery, Packet& packet, Random& random) {
  LinkFrame frame;
  if (check_frame(packet.data, packet.length, frame) != DropReason::none) return false;
  uint8_t* header = packet.data + kLink;
  const bool data = frame.kind == HEDDLE_DATA;
  if (forgery == Forgery::other_version) {
    header[offsetof(heddle_link_header, version)] = 9;
    return true;
  }
  if (forgery == Forgery::other_channel || forgery == Forgery::stale_tag || forgery == Forgery::bad_kind) {
    if (!data) return false;
    if (forgery == Forgery::other_channel) header[offsetof(heddle_link_header, channel)] = 2;
    if (forgery == Forgery::stale_tag)
      store_be32(header + offsetof(heddle_link_header, session_tag), static_cast<uint32_t>(random.next()));
    if (forgery == Forgery::bad_kind) header[offsetof(heddle_link_header, kind)] = 77;
    seal(packet, sizeof(heddle_data_header));
    return true;
  }
  if (forgery == Forgery::load_frame) {
    if (!data || frame.channel != 0 || packet.length < 80) return false;
    const uint32_t tag = frame.session_tag, sequence = frame.sequence;
    packet.length = 0;
    start_records(packet, HEDDLE_LOAD);
    append_record(packet, LoadRecord{1, 0, 2, 3, 4, 5});
    finish_records(packet, tag, sequence, 1);
    return true;
  }
  if (data) return forge_data(forgery, packet, random);
  if (frame.kind == HEDDLE_HELLO) return forge_hello(forgery, packet, random);
  return forge_records(forgery, packet, frame.kind, random);
}

}  // namespace heddle::sim
