// SPDX-License-Identifier: Apache-2.0
// G3: takes fine-grained flow control off an interface, and paces frames of flows that are to be held back, at rates
// that heddle-hostd sets: either it puts them into classes of the root qdisc, or it gives them departure times, which
// fq obeys. A flow has its class until heddle-hostd has taken it out, which it does when the flow's timer has ended and
// nothing of it waits any more; while heddle-hostd does not look nobody is held back.
#include <linux/bpf.h>
#include <linux/pkt_cls.h>

#include "hostd/shared_maps.h"
// Needs the types of the first.
#include <bpf/bpf_helpers.h>

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, HOSTD_PAUSES);
  __type(key, struct hostd_flow);
  __type(value, struct hostd_pause);
} pauses SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, HOSTD_SOURCES);
  __type(key, struct hostd_source);
  __type(value, __u64);  // when it was seen, CLOCK_MONOTONIC
} sources SEC(".maps");

// Classes that pauses have; the value says nothing. heddle-hostd takes out those that none has any more.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, HOSTD_CLASSES* HOSTD_INTERFACES);
  __type(key, struct hostd_class);
  __type(value, __u32);
} classes SEC(".maps");

// All classes of an interface whose frames get departure times, while it is held.
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, HOSTD_CLASSES* HOSTD_INTERFACES);
  __type(key, struct hostd_class);
  __type(value, struct hostd_departures);
} departures SEC(".maps");
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, HOSTD_CLASSES* HOSTD_INTERFACES);
  __type(key, struct hostd_class);
  __type(value, struct hostd_rate);
} rates SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, HOSTD_COUNTS);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

__u64 fields_told;  // bit f: a pause has told flows apart by the fields f
__u64 next_class;
__u64 alive_until_ns;  // CLOCK_MONOTONIC; heddle-hostd moves it on. Then nobody is held back: nobody would set rates

static __always_inline void count(__u32 what) {
  __u64* counter = bpf_map_lookup_elem(&counts, &what);
  if (counter) ++*counter;
}

// One that nobody has, if one of those looked at is free; else the first, which is shared then.
static __always_inline __u16 take_class(__u32 interface, __u8* shared) {
  const __u32 one = 1, first = (__u32)__sync_fetch_and_add(&next_class, 1);
  struct hostd_class key = {interface, 0};
  HOSTD_LOOP(__u32 i = 0; i < HOSTD_CLASSES; ++i) {
    key.minor = 1 + (first + i) % HOSTD_CLASSES;
    if (bpf_map_update_elem(&classes, &key, &one, BPF_NOEXIST) == 0) return (__u16)key.minor;
  }
  key.minor = 1 + first % HOSTD_CLASSES;
  count(HOSTD_SHARED);
  *shared = 1;
  return (__u16)key.minor;
}

static __always_inline void hold(const struct hostd_flow* flow, const hostd_pause_frame* told) {
  const __u64 now = bpf_ktime_get_ns();
  const __u64 until = now + (__u64)HOSTD_BE32(told->timer_us) * 1000;
  struct hostd_pause* pause = bpf_map_lookup_elem(&pauses, flow);
  const __u64 credit = __builtin_bswap64(told->credit);
  if (told->timer_us == 0) {
    count(HOSTD_ENDS_HEARD);
    if (pause && pause->number == told->number) pause->until_ns = 0;
    return;
  }
  count(HOSTD_PAUSES_HEARD);
  if (pause) {
    if (now > pause->until_ns) pause->since_ns = now;
    pause->credit = credit;
    pause->number = told->number;
    pause->until_ns = until;
    return;
  }
  struct hostd_pause fresh = {.credit = credit,
                              .until_ns = until,
                              .since_ns = now,
                              .number = told->number,
                              .node = HOSTD_BE16(told->node),
                              .port = told->port};
  fresh.class_minor = take_class(flow->interface, &fresh.shared);
  bpf_map_update_elem(&pauses, flow, &fresh, BPF_ANY);
  count(HOSTD_BEGUN);
  __sync_fetch_and_or(&fields_told, 1ull << (flow->fields & (HOSTD_FIELDS_END - 1)));
}

SEC("tc")
int hostd_ingress(struct __sk_buff* skb) {
  if (skb->protocol != HOSTD_BE16(HEDDLE_OUI_ETHERTYPE) || skb->vlan_present) return TC_ACT_UNSPEC;
  if (bpf_skb_pull_data(skb, HEDDLE_ETHERNET_BYTES + sizeof(struct heddle_fgfc_header))) return TC_ACT_UNSPEC;
  bpf_skb_pull_data(skb, HEDDLE_ETHERNET_BYTES + sizeof(struct heddle_fgfc_pause));
  const __u8* data = (void*)(long)skb->data;
  const __u8* end = (void*)(long)skb->data_end;
  if (!hostd_is_fgfc(data, end)) return TC_ACT_UNSPEC;
  struct hostd_flow flow = {.interface = skb->ifindex};
  const hostd_pause_frame* told = hostd_read_pause(data, end, &flow);
  if (told)
    hold(&flow, told);
  else
    count(HOSTD_NOT_UNDERSTOOD);
  return TC_ACT_SHOT;  // it is for nobody behind this
}

static __always_inline void note_source(const struct hostd_flow* flow, __u64 now) {
  struct hostd_source source = {.interface = flow->interface};
  hostd_copy(source.address, flow->source, 6);
  const __u64* seen = bpf_map_lookup_elem(&sources, &source);
  if (seen && now - *seen < HOSTD_SEEN_NS) return;
  bpf_map_update_elem(&sources, &source, &now, BPF_ANY);
}

// What holds the frame's flow; 0: nothing does.
static __always_inline struct hostd_pause* pause_of(struct __sk_buff* skb, __u64 now) {
  // Headers are made one piece only where somebody looks at them.
  __u32 left = fields_told != 0 ? HOSTD_HEADERS_BYTES : HEDDLE_ETHERNET_BYTES;
  if (skb->len < left) left = skb->len;
  if ((void*)(long)skb->data + left > (void*)(long)skb->data_end) bpf_skb_pull_data(skb, left);
  const __u8* data = (void*)(long)skb->data;
  const __u8* end = (void*)(long)skb->data_end;
  struct hostd_flow all = {.interface = skb->ifindex};
  if (!hostd_read_flow(data, end, skb->vlan_present ? skb->vlan_tci : 0, &all)) return 0;
  note_source(&all, now);
  const __u64 told = fields_told;
  HOSTD_LOOP(__u32 fields = 0; fields < HOSTD_FIELDS_END; ++fields) {  // a flow before its application
    if (told >> fields == 0) break;
    if (!(told >> fields & 1)) continue;
    struct hostd_flow flow = all;
    hostd_keep_fields(&flow, (__u8)fields);
    struct hostd_pause* pause = bpf_map_lookup_elem(&pauses, &flow);
    if (!pause) continue;
    pause->cgroup = bpf_skb_cgroup_id(skb);
    count(HOSTD_FRAMES_HELD);
    return pause;
  }
  return 0;
}

SEC("tc")
int hostd_classes(struct __sk_buff* skb) {
  const __u64 now = bpf_ktime_get_ns();
  if (now > alive_until_ns) return TC_ACT_UNSPEC;
  const struct hostd_pause* pause = pause_of(skb, now);
  if (pause) skb->priority = HOSTD_QDISC << 16 | pause->class_minor;
  return TC_ACT_UNSPEC;
}

static __always_inline void leave_at(struct __sk_buff* skb, __u64 at) {
  if (skb->tstamp < at) skb->tstamp = at;  // its socket may have a later one in mind
}

SEC("tc")
int hostd_departures(struct __sk_buff* skb) {
  const __u64 now = bpf_ktime_get_ns();
  const struct hostd_pause* pause = pause_of(skb, now);
  if (!pause) return TC_ACT_UNSPEC;
  const struct hostd_class key = {skb->ifindex, pause->class_minor};
  struct hostd_departures* sent = bpf_map_lookup_elem(&departures, &key);
  const struct hostd_rate* rate = bpf_map_lookup_elem(&rates, &key);
  if (!sent || !rate || rate->bytes_per_second == 0) return TC_ACT_UNSPEC;
  const __u64 next = sent->next_ns, alive = alive_until_ns;
  // It is not held any more, and may go when what came before it has gone.
  if ((now > pause->until_ns && next <= now) || now > alive) {
    if (next > now) leave_at(skb, next);
    return TC_ACT_UNSPEC;
  }
  const __u64 bytes = skb->wire_len;  // of all its segments
  if (!hostd_has_room(sent, rate, bytes, now)) {
    __sync_fetch_and_add(&sent->dropped, 1);
    return TC_ACT_SHOT;
  }
  // Another CPU may have moved it on meanwhile: then it is not behind.
  if (next <= now && __sync_val_compare_and_swap(&sent->next_ns, next, now) == next) hostd_begin_busy(sent, now);
  leave_at(skb, __sync_fetch_and_add(&sent->next_ns, hostd_time_of(bytes, rate)));
  __sync_fetch_and_add(&sent->bytes, bytes);
  __sync_fetch_and_add(&sent->frames, 1);
  return TC_ACT_UNSPEC;
}

char LICENSE[] SEC("license") = "Apache-2.0";
