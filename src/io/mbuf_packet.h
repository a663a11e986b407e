// SPDX-License-Identifier: Apache-2.0
// Packet and rte_mbuf are two views of one buffer (decision 3): the Packet is the mbuf's private area, so the way
// between them is a constant offset. Only src/io includes this.
#pragma once

#include <rte_ether.h>
#include <rte_mbuf.h>

#include "wire/packet.h"

namespace heddle {

static_assert(RTE_PKTMBUF_HEADROOM == kPacketHeadroomBytes, "what may be prepended is the mbuf's headroom");
static_assert(sizeof(rte_mbuf) % alignof(Packet) == 0, "the private area right behind the mbuf is aligned");

inline Packet* packet_of(rte_mbuf* mbuf) { return static_cast<Packet*>(rte_mbuf_to_priv(mbuf)); }
inline rte_mbuf* mbuf_of(Packet* packet) { return reinterpret_cast<rte_mbuf*>(packet) - 1; }

// Of a received mbuf; all metadata but data, length and kPacketChecksumPartial is zero. nullptr if the frame can't be
// made one piece with its tag in place; the mbuf is still the caller's then.
inline Packet* packet_from_received(rte_mbuf* mbuf) {
  if (mbuf->nb_segs != 1 && rte_pktmbuf_linearize(mbuf) != 0) return nullptr;
  if ((mbuf->ol_flags & RTE_MBUF_F_RX_VLAN_STRIPPED) != 0 && rte_vlan_insert(&mbuf) != 0) return nullptr;
  Packet* packet = packet_of(mbuf);
  *packet = Packet{};
  packet->data = rte_pktmbuf_mtod(mbuf, uint8_t*);
  packet->length = mbuf->data_len;
  if ((mbuf->ol_flags & RTE_MBUF_F_RX_L4_CKSUM_MASK) == RTE_MBUF_F_RX_L4_CKSUM_NONE)
    packet->flags = kPacketChecksumPartial;
  return packet;
}

// The mbuf as the driver wants it: what the switch did to data and length is written back.
inline rte_mbuf* mbuf_to_send(Packet* packet) {
  rte_mbuf* mbuf = mbuf_of(packet);
  mbuf->data_off = static_cast<uint16_t>(packet->data - static_cast<uint8_t*>(mbuf->buf_addr));
  mbuf->data_len = packet->length;
  mbuf->pkt_len = packet->length;
  mbuf->ol_flags = 0;
  return mbuf;
}

}  // namespace heddle
