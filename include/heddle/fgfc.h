/* SPDX-License-Identifier: Apache-2.0
 *
 * Fine-grained flow control (G1, G2): the frames by which a switch tells a host how much of one flow it may send, and
 * by which a host says that it obeys. Between an edge port and its host only. Plain C, so that BPF programs can use it.
 * docs/protocol.md is the prose beside it; a test holds the two together.
 *
 * A frame is: Ethernet header (14 bytes, no 802.1Q tag, EtherType HEDDLE_OUI_ETHERTYPE), header (8 bytes), the rest by
 * kind. All integers are big-endian.
 */
#ifndef HEDDLE_FGFC_H
#define HEDDLE_FGFC_H

#include "heddle/frames.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HEDDLE_OUI_ETHERTYPE 0x88B7         /* IEEE 802 OUI-extended EtherType */
#define HEDDLE_FGFC_IDENTIFIER 0x026865646c /* OUI 02-68-65, a locally administered one, and protocol 0x646c */
#define HEDDLE_FGFC_VERSION 1
#define HEDDLE_FGFC_ANNOUNCE_NS 1000000000 /* a host that obeys says so that often */
#define HEDDLE_FGFC_FORGET_NS 3500000000   /* and is taken for one that does not when it has not for so long */

enum heddle_fgfc_kind {
  HEDDLE_FGFC_ANNOUNCEMENT = 1, /* the header alone, from a host, about the source address of the frame */
  HEDDLE_FGFC_PAUSE = 2,
};

#define HEDDLE_FGFC_OBEYS 0x01 /* on announcements: from now on; without it no longer */

struct heddle_fgfc_header {
  uint8_t identifier[5]; /* HEDDLE_FGFC_IDENTIFIER */
  uint8_t version;
  uint8_t kind;  /* enum heddle_fgfc_kind */
  uint8_t flags; /* HEDDLE_FGFC_OBEYS on announcements, else 0 */
};

/* Which fields, beside VLAN and destination's MAC address, all frames of the flow have in common: those by which the
 * switch tells flows apart. What a frame has not counts as 0, as do the other fields here. */
#define HEDDLE_FGFC_ADDRESSES 0x01  /* l3, source_address, destination_address */
#define HEDDLE_FGFC_PORTS 0x02      /* l3, protocol, source_port, destination_port */
#define HEDDLE_FGFC_DSCP 0x04       /* l3, dscp */
#define HEDDLE_FGFC_FLOW_LABEL 0x08 /* flow_label, of IPv6 */
/* And of all flows together that are of an application (A1): */
#define HEDDLE_FGFC_SOURCE_ADDRESS 0x10  /* l3, source_address */
#define HEDDLE_FGFC_ANY_DESTINATION 0x20 /* any MAC address of a single station is the destination, which is 0 */

/* From a switch, to the source address of the flow: of what the host sends of it from the first frame with this number
 * on, it may have sent `credit` bytes, until `timer` has passed without another frame about it. */
struct heddle_fgfc_pause {
  struct heddle_fgfc_header header;
  heddle_be32 number;     /* of the pause, at this port; with another one the host counts anew, from `credit` */
  heddle_be32 timer_us;   /* us; 0: the one with that number is over */
  heddle_be64 credit;     /* bytes of original frames in all since the pause began; never less than before */
  heddle_be16 node;       /* address of the switch */
  uint8_t port;           /* of it */
  uint8_t fields;         /* HEDDLE_FGFC_ADDRESSES and so on */
  heddle_be16 vlan;       /* of the flow's frames as the host sends them: 0 = untagged */
  uint8_t l3;             /* 4, 6, or 0 = not IP */
  uint8_t protocol;       /* of IP */
  uint8_t destination[6]; /* MAC address */
  uint8_t dscp;           /* 0 to 63 */
  uint8_t reserved;
  heddle_be16 source_port;
  heddle_be16 destination_port;
  heddle_be32 flow_label;
  uint8_t source_address[16]; /* IPv4: the first four */
  uint8_t destination_address[16];
  heddle_be32 vni;     /* of native frames; 0 = bridged */
  heddle_be32 process; /* of native frames: who of the host sends them; 0 = not told apart by it */
};

HEDDLE_STATIC_ASSERT(sizeof(struct heddle_fgfc_header) == 8, "FGFC header is 8 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_fgfc_pause) == 88, "FGFC pause is 88 bytes");

#ifdef __cplusplus
}
#endif

#endif
