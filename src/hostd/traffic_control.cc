// SPDX-License-Identifier: Apache-2.0
#include "hostd/traffic_control.h"

#include <linux/pkt_sched.h>
#include <netlink/route/classifier.h>
#include <netlink/route/qdisc/fifo.h>
#include <netlink/route/qdisc/htb.h>

#include "hostd/pacing.h"
#include "hostd/root_qdisc.h"

namespace heddle::hostd {

using namespace netlink;

namespace {

constexpr uint32_t kBurstBytes = 16'000;   // at a time, or one frame of the stack if that is longer
constexpr uint32_t kQuantumBytes = 1'514;  // classes never share what is left over, but the kernel wants one
constexpr uint32_t kMtu = 1'514;

}  // namespace

bool has_filters(int interface, uint32_t side) {
  const Socket socket(made(nl_socket_alloc()));
  nl_cache* all = nullptr;
  if (nl_connect(socket.get(), NETLINK_ROUTE) < 0) return true;
  if (rtnl_cls_alloc_cache(socket.get(), interface, TC_H_MAKE(TC_H_CLSACT, side), &all) < 0) return true;
  const Cache cache(all);
  return nl_cache_nitems(all) != 0;
}

TrafficControl::TrafficControl(int interface, std::string name)
    : interface_(interface), name_(std::move(name)), socket_(connected()) {
  remove_root();  // of an earlier life
  add_root();
  try {
    for (uint16_t minor = 1; minor <= HOSTD_CLASSES; ++minor) {
      set_rate(minor, Pacing::kRestBytesPerSecond);
      add_queue(minor);
    }
  } catch (...) {
    remove_root();
    throw;
  }
}

TrafficControl::~TrafficControl() { remove_root(); }

void TrafficControl::add_root() {
  const Qdisc root(made(rtnl_qdisc_alloc()));
  rtnl_tc_set_ifindex(tc(root), interface_);
  rtnl_tc_set_parent(tc(root), TC_H_ROOT);
  rtnl_tc_set_handle(tc(root), kOurRoot);
  must(rtnl_tc_set_kind(tc(root), "htb"), "htb");
  must(rtnl_htb_set_defcls(root.get(), 0), "htb");  // what no program gives a class is not queued
  must(rtnl_qdisc_add(socket_.get(), root.get(), NLM_F_CREATE), name_ + ": adding the qdisc htb");
}

void TrafficControl::set_rate(uint16_t minor, uint64_t bytes_per_second) {
  const Class one(made(rtnl_class_alloc()));
  rtnl_tc_set_ifindex(tc(one), interface_);
  rtnl_tc_set_parent(tc(one), kOurRoot);
  rtnl_tc_set_handle(tc(one), kOurRoot | minor);
  rtnl_tc_set_mtu(tc(one), kMtu);
  must(rtnl_tc_set_kind(tc(one), "htb"), "htb");
  must(rtnl_htb_set_rate64(one.get(), bytes_per_second), "htb");
  must(rtnl_htb_set_ceil64(one.get(), bytes_per_second), "htb");
  must(rtnl_htb_set_rbuffer(one.get(), kBurstBytes), "htb");
  must(rtnl_htb_set_cbuffer(one.get(), kBurstBytes), "htb");
  must(rtnl_htb_set_quantum(one.get(), kQuantumBytes), "htb");
  must(rtnl_class_add(socket_.get(), one.get(), NLM_F_CREATE), name_ + ": setting the rate of a class");
}

void TrafficControl::add_queue(uint16_t minor) {
  const Qdisc queue(made(rtnl_qdisc_alloc()));
  rtnl_tc_set_ifindex(tc(queue), interface_);
  rtnl_tc_set_parent(tc(queue), kOurRoot | minor);
  must(rtnl_tc_set_kind(tc(queue), "bfifo"), "bfifo");
  must(rtnl_qdisc_fifo_set_limit(queue.get(), HOSTD_CLASS_BYTES), "bfifo");
  must(rtnl_qdisc_add(socket_.get(), queue.get(), NLM_F_CREATE), name_ + ": adding the qdisc bfifo");
}

// If it is ours; the kernel puts its default in its place.
void TrafficControl::remove_root() const {
  const Qdisc root(made(rtnl_qdisc_alloc()));
  rtnl_tc_set_ifindex(tc(root), interface_);
  rtnl_tc_set_parent(tc(root), TC_H_ROOT);
  rtnl_tc_set_handle(tc(root), kOurRoot);
  rtnl_qdisc_delete(socket_.get(), root.get());
}

ClassStates TrafficControl::look(uint64_t) {
  ClassStates states{};
  nl_cache* all = nullptr;
  must(rtnl_class_alloc_cache(socket_.get(), interface_, &all), name_ + ": classes");
  const Cache cache(all);
  for (nl_object* object = nl_cache_get_first(all); object != nullptr; object = nl_cache_get_next(object)) {
    auto* one = reinterpret_cast<rtnl_tc*>(object);
    const uint32_t minor = rtnl_tc_get_handle(one) ^ kOurRoot;
    if (minor == 0 || minor > HOSTD_CLASSES) continue;
    states[minor] = {.sent_bytes = rtnl_tc_get_stat(one, RTNL_TC_BYTES),
                     .waiting_bytes = static_cast<uint32_t>(rtnl_tc_get_stat(one, RTNL_TC_BACKLOG)),
                     .dropped_packets = rtnl_tc_get_stat(one, RTNL_TC_DROPS),
                     .delay_ns = 0};
  }
  return states;
}

}  // namespace heddle::hostd
