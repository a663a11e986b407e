/* SPDX-License-Identifier: Apache-2.0
 *
 * Which flow a frame of a host is of, as the switch at the other end of its line sees it (F1): the fields by which a
 * pause names flows (include/heddle/fgfc.h). Plain C for the kernel's verifier, and for tests in user space: reads
 * nothing at or behind `end`. All numbers as they stand on the wire.
 */
#ifndef HEDDLE_HOSTD_FRAME_FLOW_H
#define HEDDLE_HOSTD_FRAME_FLOW_H

#include "heddle/fgfc.h"

/* Its stack is small, and a loop that is rolled out needs much of it. */
#ifdef __BPF__
#define HOSTD_INLINE static __attribute__((always_inline)) inline
#define HOSTD_LOOP _Pragma("clang loop unroll(disable)") for
#else
#define HOSTD_INLINE static inline
#define HOSTD_LOOP for
#endif

/* Compared byte by byte: no padding. */
struct hostd_flow {
  uint32_t interface; /* its index */
  uint8_t fields;     /* HEDDLE_FGFC_ADDRESSES and so on: of what follows, what counts; the rest is 0 */
  uint8_t l3;
  uint8_t protocol;
  uint8_t dscp;
  uint8_t source[6]; /* MAC addresses */
  uint8_t destination[6];
  uint16_t vlan;
  uint16_t source_port;
  uint16_t destination_port;
  uint16_t reserved;
  uint32_t flow_label;
  uint8_t source_address[16];
  uint8_t destination_address[16];
};
HEDDLE_STATIC_ASSERT(sizeof(struct hostd_flow) == 64, "keys without padding");

#define HOSTD_BE16(number) ((uint16_t)((uint16_t)(number) << 8 | (uint16_t)(number) >> 8)) /* x86 is little-endian */
#define HOSTD_BE32(number) __builtin_bswap32(number)
#define HOSTD_EXTENSIONS_MAX 8  /* of IPv6, as the switch */
#define HOSTD_HEADERS_BYTES 128 /* at most so many are read, as far as there are */

HOSTD_INLINE void hostd_copy(uint8_t* to, const uint8_t* from, uint32_t bytes) { __builtin_memcpy(to, from, bytes); }

HOSTD_INLINE uint16_t hostd_load16(const uint8_t* at) { return (uint16_t)(at[0] | at[1] << 8); }

/* What only the first fragment has, none has. */
HOSTD_INLINE void hostd_read_ports(const uint8_t* at, const uint8_t* end, struct hostd_flow* flow) {
  if (flow->protocol != 6 && flow->protocol != 17) return;
  if (at + 4 > end) return;
  flow->source_port = hostd_load16(at);
  flow->destination_port = hostd_load16(at + 2);
}

/* What is behind the header; NULL if that is not known, or of a fragment. */
HOSTD_INLINE const uint8_t* hostd_read_ipv4(const uint8_t* ip, const uint8_t* end, struct hostd_flow* flow) {
  if (ip + 20 > end || (ip[0] >> 4) != 4) return 0;
  const uint32_t header = (ip[0] & 15u) * 4;
  flow->l3 = 4;
  flow->protocol = ip[9];
  flow->dscp = ip[1] >> 2;
  hostd_copy(flow->source_address, ip + 12, 4);
  hostd_copy(flow->destination_address, ip + 16, 4);
  if (header < 20 || ((ip[6] & 0x3f) | ip[7]) != 0) return 0;
  return ip + header;
}

HOSTD_INLINE const uint8_t* hostd_read_ipv6(const uint8_t* ip, const uint8_t* end, struct hostd_flow* flow) {
  if (ip + 40 > end || (ip[0] >> 4) != 6) return 0;
  flow->l3 = 6;
  flow->protocol = ip[6];
  flow->dscp = (uint8_t)((ip[0] & 15) << 2 | ip[1] >> 6);
  flow->flow_label = HOSTD_BE32((uint32_t)(ip[1] & 15) << 16 | (uint32_t)ip[2] << 8 | ip[3]);
  hostd_copy(flow->source_address, ip + 8, 16);
  hostd_copy(flow->destination_address, ip + 24, 16);
  const uint8_t* at = ip + 40;
  HOSTD_LOOP(int walked = 0; walked < HOSTD_EXTENSIONS_MAX; ++walked) {
    const uint8_t kind = flow->protocol;
    if (kind != 0 && kind != 43 && kind != 44 && kind != 51 && kind != 60) return at;
    if (at + 8 > end) return 0;
    flow->protocol = at[0];
    if (kind == 44 && ((at[2] | (at[3] & 0xf9)) != 0)) return 0; /* all of it is here, else */
    at += kind == 44 ? 8 : kind == 51 ? (at[1] + 2u) * 4 : (at[1] + 1u) * 8;
  }
  return 0;
}

/* `tag`: the VLAN that stands beside the frame instead of in it; 0 = none. False: not even an Ethernet header. */
HOSTD_INLINE int hostd_read_flow(const uint8_t* data, const uint8_t* end, uint16_t tag, struct hostd_flow* flow) {
  if (data + 14 > end) return 0;
  hostd_copy(flow->destination, data, 6);
  hostd_copy(flow->source, data + 6, 6);
  uint16_t type = HOSTD_BE16(hostd_load16(data + 12));
  const uint8_t* ip = data + 14;
  uint16_t vlan = tag & 0xfff;
  if (type == 0x8100 && ip + 4 <= end) {
    vlan = HOSTD_BE16(hostd_load16(ip)) & 0xfff;
    type = HOSTD_BE16(hostd_load16(ip + 2));
    ip += 4;
  }
  flow->vlan = HOSTD_BE16(vlan);
  const uint8_t* behind = 0;
  if (type == 0x0800) behind = hostd_read_ipv4(ip, end, flow);
  if (type == 0x86dd) behind = hostd_read_ipv6(ip, end, flow);
  if (behind) hostd_read_ports(behind, end, flow);
  return 1;
}

#define HOSTD_FIELDS_END 64 /* of `fields` of a pause: all are less */

/* Leaves in what counts. `fields` and what is in front of them stay. */
HOSTD_INLINE void hostd_keep_fields(struct hostd_flow* flow, uint8_t fields) {
  flow->fields = fields;
  if (!(fields & (HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_PORTS | HEDDLE_FGFC_DSCP | HEDDLE_FGFC_SOURCE_ADDRESS)))
    flow->l3 = 0;
  if ((fields & HEDDLE_FGFC_ANY_DESTINATION) && !(flow->destination[0] & 1)) __builtin_memset(flow->destination, 0, 6);
  if (!(fields & HEDDLE_FGFC_DSCP)) flow->dscp = 0;
  if (!(fields & HEDDLE_FGFC_FLOW_LABEL)) flow->flow_label = 0;
  if (!(fields & HEDDLE_FGFC_PORTS)) {
    flow->protocol = 0;
    flow->source_port = flow->destination_port = 0;
  }
  if (!(fields & (HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_SOURCE_ADDRESS))) __builtin_memset(flow->source_address, 0, 16);
  if (!(fields & HEDDLE_FGFC_ADDRESSES)) __builtin_memset(flow->destination_address, 0, 16);
}

/* At any address. */
typedef struct heddle_fgfc_pause hostd_pause_frame __attribute__((aligned(1)));

/* A pause in a frame to an address of this host: the flow that it is about, as hostd_keep_fields() leaves it. NULL if
 * the frame is none, or one that this program does not know. */
HOSTD_INLINE const hostd_pause_frame* hostd_read_pause(const uint8_t* data, const uint8_t* end,
                                                       struct hostd_flow* flow) {
  const hostd_pause_frame* pause = (const hostd_pause_frame*)(data + HEDDLE_ETHERNET_BYTES);
  if ((const uint8_t*)(pause + 1) > end) return 0;
  if (pause->header.version != HEDDLE_FGFC_VERSION || pause->header.kind != HEDDLE_FGFC_PAUSE) return 0;
  if (pause->header.flags != 0 || pause->fields >= HOSTD_FIELDS_END) return 0;
  flow->fields = pause->fields;
  flow->l3 = pause->l3;
  flow->protocol = pause->protocol;
  flow->dscp = pause->dscp;
  hostd_copy(flow->source, data, 6);
  if (!(pause->fields & HEDDLE_FGFC_ANY_DESTINATION)) hostd_copy(flow->destination, pause->destination, 6);
  flow->vlan = pause->vlan;
  flow->source_port = pause->source_port;
  flow->destination_port = pause->destination_port;
  flow->flow_label = pause->flow_label;
  hostd_copy(flow->source_address, pause->source_address, 16);
  hostd_copy(flow->destination_address, pause->destination_address, 16);
  hostd_keep_fields(flow, pause->fields);
  return pause;
}

/* Is it one of fine-grained flow control, of whatever kind and version? */
HOSTD_INLINE int hostd_is_fgfc(const uint8_t* data, const uint8_t* end) {
  if (data + HEDDLE_ETHERNET_BYTES + sizeof(struct heddle_fgfc_header) > end) return 0;
  const uint8_t* at = data + HEDDLE_ETHERNET_BYTES;
  return data[12] == (HEDDLE_OUI_ETHERTYPE >> 8) && data[13] == (HEDDLE_OUI_ETHERTYPE & 0xff) && at[0] == 0x02 &&
         at[1] == 0x68 && at[2] == 0x65 && at[3] == 0x64 && at[4] == 0x6c;
}

#endif
