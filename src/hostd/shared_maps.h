/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs in the kernel and heddle-hostd tell each other. The programs write down what switches say;
 * heddle-hostd reads it, sets rates, and takes out what is over.
 */
#ifndef HEDDLE_HOSTD_SHARED_MAPS_H
#define HEDDLE_HOSTD_SHARED_MAPS_H

#include "hostd/frame_flow.h"

#define HOSTD_CLASSES 64          /* of an interface: flows that are held back at a time without sharing one */
#define HOSTD_INTERFACES 64       /* at a time */
#define HOSTD_QDISC 0xf6fc        /* major number of its root qdisc */
#define HOSTD_PAUSES 4096         /* of all interfaces; a port of a switch has 256 */
#define HOSTD_SOURCES 1024        /* addresses that send, of all interfaces */
#define HOSTD_SEEN_NS 1000000000u /* an address is noted again after that */
#define HOSTD_TICK_NS 10000000u   /* between looks of heddle-hostd */
#define HOSTD_ALIVE_NS 200000000u /* a machine may stand still for so long */

struct hostd_pause {
  uint64_t credit;   /* bytes that may be sent since number changed, as the switch counts them */
  uint64_t until_ns; /* of CLOCK_MONOTONIC: nothing holds then; 0: over, and heddle-hostd takes it out */
  uint64_t since_ns; /* it was held first, without a break */
  uint64_t cgroup;   /* of the socket that sent last; 0 = not known */
  uint32_t number;
  uint16_t node; /* of the switch port that says so */
  uint8_t port;
  uint8_t shared;       /* another flow had the class already */
  uint16_t class_minor; /* 1 to HOSTD_CLASSES */
  uint16_t reserved[3];
};

/* What is paced together: one flow, or those that share a class. */
struct hostd_class {
  uint32_t interface;
  uint32_t minor; /* 1 to HOSTD_CLASSES */
};

/* What a class takes: all that the kernel lets a socket have outside of it by default (212,992 bytes of memory, 139 kB
 * of large frames), so that who sends more waits, and loses nothing. */
#define HOSTD_CLASS_BYTES (160 * 1024)
/* fq takes 100 of a socket, and of those without one that it can't tell apart; 10,000 in all. A socket has 93 large
 * ones out by default. As the stack sends them: of several segments each. */
#define HOSTD_CLASS_FRAMES 96

/* Of a class whose frames get departure times; the programs write it. */
struct hostd_departures {
  uint64_t next_ns; /* CLOCK_MONOTONIC: when the frame after the last one may leave; never goes back */
  uint64_t bytes;   /* of frames that have got a time */
  uint64_t frames;  /* those */
  uint64_t busy_ns; /* something has waited since then, when all of these had left: */
  uint64_t busy_bytes;
  uint64_t busy_frames;
  uint64_t dropped; /* frames */
};

/* How fast it is paced, and what had left when heddle-hostd looked last; that writes it. */
struct hostd_rate {
  uint64_t bytes_per_second; /* not 0 */
  uint64_t departed_bytes;   /* of hostd_departures.bytes, at looked_ns */
  uint64_t departed_frames;
  uint64_t looked_ns;
  uint64_t leaving_bytes; /* and in HOSTD_TICK_NS from then */
  uint64_t leaving_frames;
};

/* All that had a time has left, and another frame comes. The time last: whoever sees it sees the others. */
HOSTD_INLINE void hostd_begin_busy(struct hostd_departures* sent, uint64_t now_ns) {
  sent->busy_bytes = sent->bytes;
  sent->busy_frames = sent->frames;
  __asm__ volatile("" ::: "memory");
  sent->busy_ns = now_ns;
}

/* May a frame of so many bytes have a time? Else too much waits already. */
HOSTD_INLINE int hostd_has_room(const struct hostd_departures* sent, const struct hostd_rate* rate, uint64_t bytes,
                                uint64_t now_ns) {
  if (sent->next_ns <= now_ns) return 1;
  const int looked = rate->looked_ns > sent->busy_ns;
  const uint64_t from_ns = looked ? rate->looked_ns : sent->busy_ns;
  uint64_t since_ns = now_ns > from_ns ? now_ns - from_ns : 0;
  if (since_ns > HOSTD_ALIVE_NS) since_ns = HOSTD_ALIVE_NS;
  uint64_t left_bytes, left_frames;
  if (looked) {
    left_bytes = rate->departed_bytes + rate->leaving_bytes * since_ns / HOSTD_TICK_NS;
    left_frames = rate->departed_frames + (rate->leaving_frames * since_ns + HOSTD_TICK_NS - 1) / HOSTD_TICK_NS;
  } else { /* all that waits came at this rate, or nearly all */
    const uint64_t all_bytes = sent->bytes - sent->busy_bytes, all_frames = sent->frames - sent->busy_frames;
    uint64_t left = since_ns * (rate->bytes_per_second / 1000) / 1000000;
    if (left > all_bytes) left = all_bytes;
    left_bytes = sent->busy_bytes + left;
    left_frames = sent->busy_frames + (all_bytes == 0 ? 0 : (all_frames * left + all_bytes - 1) / all_bytes);
  }
  return sent->bytes + bytes <= left_bytes + HOSTD_CLASS_BYTES && sent->frames < left_frames + HOSTD_CLASS_FRAMES;
}

/* How long it takes at that rate. */
HOSTD_INLINE uint64_t hostd_time_of(uint64_t bytes, const struct hostd_rate* rate) {
  return bytes * 1000000000 / rate->bytes_per_second;
}

/* An address that something was sent from, by interface. */
struct hostd_source {
  uint32_t interface;
  uint8_t address[6];
  uint16_t reserved;
};

enum hostd_count {
  HOSTD_PAUSES_HEARD, /* frames about a flow that is held back */
  HOSTD_ENDS_HEARD,
  HOSTD_NOT_UNDERSTOOD, /* frames of fine-grained flow control of another kind or version */
  HOSTD_FRAMES_HELD,    /* frames of such a flow, also those that were dropped */
  HOSTD_BEGUN,          /* flows that a pause was new for */
  HOSTD_SHARED,         /* of those, they found no class of their own */
  HOSTD_COUNTS
};

#endif
