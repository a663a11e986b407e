// SPDX-License-Identifier: Apache-2.0
#include "hostd/traffic_control.h"

#include <linux/pkt_sched.h>
#include <netlink/netlink.h>
#include <netlink/route/class.h>
#include <netlink/route/classifier.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/qdisc/fifo.h>
#include <netlink/route/qdisc/htb.h>
#include <netlink/route/tc.h>

#include <stdexcept>

#include "hostd/pacing.h"

namespace heddle::hostd {

namespace {

constexpr uint32_t kRoot = uint32_t{HOSTD_QDISC} << 16;
// Of a class. All that the kernel lets a socket have outside of it by default (212,992 bytes of memory, 139 kB of
// frames), so that who sends more waits, and loses nothing.
constexpr int kQueueBytes = 160 * 1024;
constexpr uint32_t kBurstBytes = 16'000;   // at a time, or one frame of the stack if that is longer
constexpr uint32_t kQuantumBytes = 1'514;  // classes never share what is left over, but the kernel wants one
constexpr uint32_t kMtu = 1'514;

template <typename Object, void (*put)(Object*)>
struct Put {
  void operator()(Object* object) const { put(object); }
};
using Qdisc = std::unique_ptr<rtnl_qdisc, Put<rtnl_qdisc, rtnl_qdisc_put>>;
using Class = std::unique_ptr<rtnl_class, Put<rtnl_class, rtnl_class_put>>;
using Cache = std::unique_ptr<nl_cache, Put<nl_cache, nl_cache_free>>;

void must(int error, const std::string& what) {
  if (error < 0) throw std::runtime_error(what + ": " + nl_geterror(error));
}

template <typename Object>
Object made(Object object) {
  if (object == nullptr) throw std::bad_alloc();
  return object;
}

template <typename Object>
rtnl_tc* tc(const Object& object) {
  return reinterpret_cast<rtnl_tc*>(object.get());
}

}  // namespace

bool has_filters(int interface, uint32_t side) {
  const std::unique_ptr<nl_sock, Put<nl_sock, nl_socket_free>> socket(made(nl_socket_alloc()));
  nl_cache* all = nullptr;
  if (nl_connect(socket.get(), NETLINK_ROUTE) < 0) return true;
  if (rtnl_cls_alloc_cache(socket.get(), interface, TC_H_MAKE(TC_H_CLSACT, side), &all) < 0) return true;
  const Cache cache(all);
  return nl_cache_nitems(all) != 0;
}

void TrafficControl::Close::operator()(nl_sock* socket) const { nl_socket_free(socket); }

TrafficControl::TrafficControl(int interface, std::string name, bool replace_mq)
    : interface_(interface), name_(std::move(name)), socket_(made(nl_socket_alloc())) {
  must(nl_connect(socket_.get(), NETLINK_ROUTE), "netlink");
  check(interface_, name_, replace_mq);
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

// A qdisc that somebody has put there has a handle; the kernel's own have none.
void TrafficControl::check(int interface, const std::string& name, bool replace_mq) {
  const std::unique_ptr<nl_sock, Close> socket(made(nl_socket_alloc()));
  must(nl_connect(socket.get(), NETLINK_ROUTE), "netlink");
  nl_cache* all = nullptr;
  must(rtnl_qdisc_alloc_cache(socket.get(), &all), name + ": qdiscs");
  const Cache cache(all);
  for (nl_object* object = nl_cache_get_first(all); object != nullptr; object = nl_cache_get_next(object)) {
    auto* root = reinterpret_cast<rtnl_tc*>(object);
    if (rtnl_tc_get_ifindex(root) != interface || rtnl_tc_get_parent(root) != TC_H_ROOT) continue;
    const std::string kind = rtnl_tc_get_kind(root);
    const uint32_t handle = rtnl_tc_get_handle(root);
    if (handle == kRoot) continue;
    if (handle != 0)
      throw std::runtime_error(name + ": has a root qdisc that somebody has put there (" + kind +
                               "); take it away with `tc qdisc del dev " + name + " root`");
    if (kind == "mq" && !replace_mq)
      throw std::runtime_error(name +
                               ": has a qdisc for each queue of the card, and one takes their place only if asked: "
                               "--replace-mq");
  }
}

void TrafficControl::add_root() {
  const Qdisc root(made(rtnl_qdisc_alloc()));
  rtnl_tc_set_ifindex(tc(root), interface_);
  rtnl_tc_set_parent(tc(root), TC_H_ROOT);
  rtnl_tc_set_handle(tc(root), kRoot);
  must(rtnl_tc_set_kind(tc(root), "htb"), "htb");
  must(rtnl_htb_set_defcls(root.get(), 0), "htb");  // what no program gives a class is not queued
  must(rtnl_qdisc_add(socket_.get(), root.get(), NLM_F_CREATE | NLM_F_REPLACE), name_ + ": adding the qdisc htb");
}

void TrafficControl::set_rate(uint16_t minor, uint64_t bytes_per_second) {
  const Class one(made(rtnl_class_alloc()));
  rtnl_tc_set_ifindex(tc(one), interface_);
  rtnl_tc_set_parent(tc(one), kRoot);
  rtnl_tc_set_handle(tc(one), kRoot | minor);
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
  rtnl_tc_set_parent(tc(queue), kRoot | minor);
  must(rtnl_tc_set_kind(tc(queue), "bfifo"), "bfifo");
  must(rtnl_qdisc_fifo_set_limit(queue.get(), kQueueBytes), "bfifo");
  must(rtnl_qdisc_add(socket_.get(), queue.get(), NLM_F_CREATE), name_ + ": adding the qdisc bfifo");
}

// If it is ours; the kernel puts its default in its place.
void TrafficControl::remove_root() const {
  const Qdisc root(made(rtnl_qdisc_alloc()));
  rtnl_tc_set_ifindex(tc(root), interface_);
  rtnl_tc_set_parent(tc(root), TC_H_ROOT);
  rtnl_tc_set_handle(tc(root), kRoot);
  rtnl_qdisc_delete(socket_.get(), root.get());
}

std::array<ClassState, HOSTD_CLASSES + 1> TrafficControl::classes() const {
  std::array<ClassState, HOSTD_CLASSES + 1> states{};
  nl_cache* all = nullptr;
  must(rtnl_class_alloc_cache(socket_.get(), interface_, &all), name_ + ": classes");
  const Cache cache(all);
  for (nl_object* object = nl_cache_get_first(all); object != nullptr; object = nl_cache_get_next(object)) {
    auto* one = reinterpret_cast<rtnl_tc*>(object);
    const uint32_t minor = rtnl_tc_get_handle(one) ^ kRoot;
    if (minor == 0 || minor > HOSTD_CLASSES) continue;
    states[minor] = {.sent_bytes = rtnl_tc_get_stat(one, RTNL_TC_BYTES),
                     .waiting_bytes = static_cast<uint32_t>(rtnl_tc_get_stat(one, RTNL_TC_BACKLOG)),
                     .dropped_packets = rtnl_tc_get_stat(one, RTNL_TC_DROPS)};
  }
  return states;
}

}  // namespace heddle::hostd
