/* SPDX-License-Identifier: Apache-2.0
 *
 * What the programs in the kernel and heddle-hostd tell each other. The programs write down what switches say;
 * heddle-hostd reads it, sets rates, and takes out what is over.
 */
#ifndef HEDDLE_HOSTD_SHARED_MAPS_H
#define HEDDLE_HOSTD_SHARED_MAPS_H

#include "hostd/frame_flow.h"

#define HOSTD_CLASSES 64          /* of an interface: flows that are held back at a time without sharing one */
#define HOSTD_QDISC 0xf6fc        /* major number of its root qdisc */
#define HOSTD_PAUSES 4096         /* of all interfaces; a port of a switch has 256 */
#define HOSTD_SOURCES 1024        /* addresses that send, of all interfaces */
#define HOSTD_SEEN_NS 1000000000u /* an address is noted again after that */
/* A frame that would leave later than this is dropped: fq takes none that leaves in 10 s or later. */
#define HOSTD_LATEST_NS 8000000000ull

struct hostd_pause {
  uint64_t credit;   /* bytes that may be sent since number changed, as the switch counts them */
  uint64_t until_ns; /* of CLOCK_MONOTONIC: nothing holds then; 0: over, and heddle-hostd takes it out */
  uint64_t since_ns; /* it was held first, without a break */
  uint64_t cgroup;   /* of the socket that sent last; 0 = not known */
  uint32_t number;
  uint16_t node; /* of the switch port that says so */
  uint8_t port;
  uint8_t shared;       /* another flow had the class already */
  uint16_t class_minor; /* of the root qdisc: 1 to HOSTD_CLASSES */
  uint16_t reserved[3];
};

/* What is paced together: one flow, or those that share a class. */
struct hostd_class {
  uint32_t interface;
  uint32_t minor; /* 1 to HOSTD_CLASSES */
};

/* Of a class whose frames get departure times; the programs write it. */
struct hostd_departures {
  uint64_t next_ns; /* CLOCK_MONOTONIC: when the frame after the last one may leave; never goes back */
  uint64_t bytes;   /* of frames that have got a time */
  uint64_t dropped; /* frames */
};

/* How fast it is paced; heddle-hostd writes it. */
struct hostd_rate {
  uint64_t bytes_per_second; /* not 0 */
  uint64_t most_bytes;       /* no frame gets a time that makes hostd_departures.bytes more than this */
};

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
  HOSTD_FRAMES_HELD,    /* frames that went to a class */
  HOSTD_BEGUN,          /* flows that a pause was new for */
  HOSTD_SHARED,         /* of those, they found no class of their own */
  HOSTD_COUNTS
};

#endif
