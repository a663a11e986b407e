/* SPDX-License-Identifier: Apache-2.0
 *
 * Every byte heddle puts on a fabric link (W1, W2, W6). Plain C, so that BPF programs and tools can use it too.
 * docs/protocol.md is the prose beside it; a test holds the two together.
 *
 * A frame is: Ethernet header (14 bytes, EtherType HEDDLE_ETHERTYPE), link header (16 bytes), the rest by kind.
 * All integers are big-endian. Positions, totals and limits are 32-bit serial numbers that wrap (K3).
 * Lengths, positions and lost totals are bytes of original frames; credits are buffers; life is units of 64 us.
 */
#ifndef HEDDLE_FRAMES_H
#define HEDDLE_FRAMES_H

#include <stdint.h>

#ifdef __cplusplus
#define HEDDLE_STATIC_ASSERT static_assert
extern "C" {
#else
#define HEDDLE_STATIC_ASSERT _Static_assert
#endif

typedef uint16_t heddle_be16;
typedef uint32_t heddle_be32;
typedef uint64_t heddle_be64;

#define HEDDLE_ETHERTYPE 0x88B5 /* IEEE local experimental EtherType 1 */
#define HEDDLE_VERSION 4
#define HEDDLE_ETHERNET_BYTES 14
#define HEDDLE_DATA_OVERHEAD_BYTES 54 /* Ethernet header + data header: what a fabric link needs above the edge MTU */
#define HEDDLE_LIFE_UNIT_NS 64000
#define HEDDLE_ACK_RECORDS_MAX 48
#define HEDDLE_PROBE_RECORDS_MAX 64
#define HEDDLE_NOTICE_RECORDS_MAX 20
#define HEDDLE_CREDIT_RECORDS_MAX 8
#define HEDDLE_LOAD_RECORDS_MAX 64
#define HEDDLE_RETRY_RECORDS_MAX 2
#define HEDDLE_NODE_NAME_BYTES 32
#define HEDDLE_PORT_NAME_BYTES 16
#define HEDDLE_RETRY_CHANNEL 1   /* sequence channel of frames that link retry sends again (K6) */
#define HEDDLE_FLOOD_NODE 0xffff /* destination node of a frame that follows the spanning tree (E1) */

enum heddle_frame_kind {
  HEDDLE_DATA = 1,
  HEDDLE_ACK = 2,
  HEDDLE_PROBE = 3,
  HEDDLE_CREDIT = 4,
  HEDDLE_NOTICE = 5,
  HEDDLE_LOAD = 6,
  HEDDLE_HELLO = 7,
  HEDDLE_RETRY = 8,
};

/* First in every frame after the Ethernet header. */
struct heddle_link_header {
  uint8_t version;
  uint8_t kind;            /* enum heddle_frame_kind */
  uint8_t channel;         /* sequence channel (K2): 0 accepts what is newer, HEDDLE_RETRY_CHANNEL the next only (K6) */
  uint8_t flags;           /* HEDDLE_DATA_* on data frames, HEDDLE_HELLO_* on hellos, else 0 */
  heddle_be32 session_tag; /* of both ends' nonces (K1); 0 in hellos */
  heddle_be32 sequence;    /* number in the channel (K2); 0 in hellos */
  heddle_be32 check;       /* CRC32C from `version` to the end of the headers, this field taken as 0 (K13);
                              on frames other than data, to the end of the last record */
};

#define HEDDLE_DATA_UNORDERED 0x01 /* the class gives up order: any path per packet (R7) */
#define HEDDLE_DATA_LOSSLESS 0x02  /* the class waits instead of being dropped */
#define HEDDLE_DATA_RETRY 0x04     /* sent again by link retry (K6) */

/* W1: everything a switch needs to create a table entry is in every data frame. The original frame follows. */
struct heddle_data_header {
  struct heddle_link_header link;
  heddle_be16 flow_id;   /* of this link and direction; 0 = no flow (F2, F11) */
  uint8_t ftag;          /* traffic class (E2) */
  uint8_t vc;            /* virtual channel */
  heddle_be32 data_flow; /* position of the frame's first byte in the flow ID's bytes (K4) */
  heddle_be16 destination_node;
  heddle_be16 via; /* address of a node that it goes to first, on a longer way (R4); 0 = none, or it has been there */
  heddle_be16 source_node;
  uint8_t destination_port;
  uint8_t source_port;
  heddle_be16 vni;    /* bridged frames: the VLAN */
  heddle_be16 life;   /* remaining, in units of HEDDLE_LIFE_UNIT_NS (K8) */
  uint8_t hop_limit;  /* links the frame may still cross */
  uint8_t priority;   /* low half: bridged frames' PCP << 1 | DEI of the tag that was taken off; high half: the longest
                         round trip that the sender knows is at most 1 us << this; 0 = it knows none (C2) */
  heddle_be16 length; /* bytes of the original frame that follow; link padding behind them is ignored */
};

#define HEDDLE_ACK_CONGESTION_NEW 0x01        /* C2: told at enqueue, acknowledges nothing */
#define HEDDLE_ACK_CONGESTION_PERSISTENT 0x02 /* C2: still congested at dequeue */
#define HEDDLE_ACK_CONGESTION_SEVERE 0x04
#define HEDDLE_ACK_CONGESTION_FABRIC 0x08 /* an output inside the fabric fills (C3) */
#define HEDDLE_ACK_REDIRECT 0x10          /* R9 */
#define HEDDLE_ACK_METERED 0x20           /* credit_limit is in force (C6) */

/* W2: absolute totals of one flow ID of the link's other direction. */
struct heddle_ack_record {
  heddle_be16 flow_id;
  uint8_t flags;    /* HEDDLE_ACK_* */
  uint8_t severity; /* 0-15 endpoint congestion (C3) */
  heddle_be32 ack_flow;
  heddle_be32 lost_total;
  heddle_be32 credit_limit; /* position up to which the upstream end may send, where metered */
  heddle_be16 asked_by;     /* with HEDDLE_ACK_REDIRECT: address of the node whose port asks (R9); else 0 */
  heddle_be16 reserved;
};

/* Kinds other than data and hello carry `count` records of one type behind this header. */
struct heddle_record_header {
  struct heddle_link_header link;
  heddle_be16 count;
  heddle_be16 reserved;
};

/* K5: asks for the totals of one flow ID; data_flow is the position behind the last stamped byte. */
struct heddle_probe_record {
  heddle_be16 flow_id;
  heddle_be16 reserved;
  heddle_be32 data_flow;
};

#define HEDDLE_CREDIT_ASK 0x01 /* the sender lacks credits: answer with the present limit */

/* C9, K7: per virtual channel, both absolute: what this end has stamped, and what it grants to the other. */
struct heddle_credit_record {
  uint8_t vc;
  uint8_t flags; /* HEDDLE_CREDIT_* */
  uint8_t reserved[2];
  heddle_be32 sent_total; /* buffers, of the receiver's size; of frames in sequence channel 0 */
  heddle_be32 limit;      /* buffers the other end may have sent in all */
};

#define HEDDLE_RETRY_ASK 0x01     /* how far have you come? `sequence` is the last number given out */
#define HEDDLE_RETRY_MISSING 0x02 /* send again from the number behind `sequence` on */
#define HEDDLE_RETRY_ANSWER 0x04  /* to an ask, whose round it repeats */

/* K6: of a sequence channel for retry: how far this end has come in it, or an ask. */
struct heddle_retry_record {
  uint8_t channel;      /* HEDDLE_RETRY_CHANNEL */
  uint8_t flags;        /* HEDDLE_RETRY_* */
  heddle_be16 round;    /* how often the end that asks has gone back in this session */
  heddle_be32 sequence; /* the last number taken; of an ask, the last given out */
};

/* W6: state of the ports of one node, flooded; newer sequence wins. */
struct heddle_notice_record {
  heddle_be16 node;
  heddle_be16 reserved;
  heddle_be32 sequence;
  heddle_be64 ports_up;       /* bit p: the fabric link at port p has a session */
  heddle_be64 ports_settled;  /* bit p: it has none, and nothing that came by an earlier one is under way (K9) */
  heddle_be64 ports_kept_out; /* bit p: the node at its other end begins none there before a life is over (R12) */
  heddle_be64 ends_seen;      /* of ports_kept_out: which ends of sessions the node had seen then */
  heddle_be32 session_ends;   /* at the node's ports, counted from where it likes */
  heddle_be32 reserved2;
};

/* R8: what one fabric port of the sender has to do, as a class sees it. Of a class that a frame has records of it has
   all ports that have much to do for it: the others have not. */
struct heddle_load_record {
  uint8_t port;
  uint8_t ftag;        /* as this class sees it */
  heddle_be16 flows;   /* of the class that wait for it; 65535 = so many or more */
  heddle_be16 busy;    /* what it has sent lately, 65535 = all that its link could take */
  heddle_be16 part;    /* of the link that is the class's own, 65535 = all of it; never 0 */
  heddle_be32 waiting; /* ns that its link takes for what waits for it */
};

#define HEDDLE_HELLO_HEARS_SHORT 0x01 /* of the receiver's hellos only the short ones arrive here */

/* K1: both nonces in full; outside the sequence channels. The frame ends behind it, or is padded to the longest frame
 * of the link: only those make a session. */
struct heddle_hello {
  struct heddle_link_header link;
  heddle_be64 nonce;         /* of the sender */
  heddle_be64 echo;          /* the receiver's nonce as the sender knows it; 0 = none yet */
  heddle_be64 topology_hash; /* both ends must have read the same topology */
  heddle_be64 notice_digest; /* of all notice records; a difference asks for them */
  heddle_be16 node;
  heddle_be16 port;
  heddle_be16 peer_node; /* whom the topology expects at the other end */
  heddle_be16 peer_port;
  heddle_be32 buffer_bytes;    /* a frame costs ceil(length / buffer_bytes) credits here (C9) */
  heddle_be32 credits;         /* buffers this end has for virtual channel 0; granted by credit frames */
  heddle_be32 notice_sequence; /* of the sender's own record, which says that this link is up; 0 = none does */
  heddle_be32 reserved;
  char node_name[HEDDLE_NODE_NAME_BYTES]; /* zero padded */
  char port_name[HEDDLE_PORT_NAME_BYTES];
};

HEDDLE_STATIC_ASSERT(sizeof(struct heddle_link_header) == 16, "link header is 16 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_data_header) == 40, "data header is 40 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_ack_record) == 20, "ACK record is 20 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_record_header) == 20, "record header is 20 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_probe_record) == 8, "probe record is 8 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_credit_record) == 12, "credit record is 12 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_retry_record) == 8, "retry record is 8 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_notice_record) == 48, "notice record is 48 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_load_record) == 12, "load record is 12 bytes");
HEDDLE_STATIC_ASSERT(sizeof(struct heddle_hello) == 120, "hello is 120 bytes");

#ifdef __cplusplus
}
#endif

#endif
