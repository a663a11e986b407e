// SPDX-License-Identifier: Apache-2.0
#include "hostd/root_qdisc.h"

#include "hostd/netlink.h"

namespace heddle::hostd {

RootQdisc root_of(int interface, const std::string& name) {
  using namespace netlink;
  const Socket socket = connected();
  nl_cache* all = nullptr;
  must(rtnl_qdisc_alloc_cache(socket.get(), &all), name + ": qdiscs");
  const Cache cache(all);
  RootQdisc root;
  for (nl_object* object = nl_cache_get_first(all); object != nullptr; object = nl_cache_get_next(object)) {
    auto* qdisc = reinterpret_cast<rtnl_tc*>(object);
    if (rtnl_tc_get_ifindex(qdisc) != interface || rtnl_tc_get_parent(qdisc) == TC_H_CLSACT) continue;
    const std::string kind = rtnl_tc_get_kind(qdisc);
    if (rtnl_tc_get_parent(qdisc) == TC_H_ROOT) {
      root.kind = kind;
      root.handle = rtnl_tc_get_handle(qdisc);
    } else {
      ++root.queues;
      root.fq_queues += kind == "fq";
    }
  }
  return root;
}

PacedBy pacing_of(const RootQdisc& root, const std::string& name, bool replace_mq) {
  if (root.kind.empty()) return PacedBy::nothing;
  if (root.kind == "fq") return PacedBy::departures;
  if (root.kind == "mq" && root.queues != 0 && root.queues == root.fq_queues) return PacedBy::departures;
  if (root.is_ours()) return PacedBy::classes;
  // What somebody has put there has a handle.
  if (root.handle != 0)
    throw std::runtime_error(name + ": has a root qdisc that somebody has put there (" + root.kind +
                             "); take it away with `tc qdisc del dev " + name + " root`, or put fq there");
  if (root.kind == "mq" && !replace_mq)
    throw std::runtime_error(name +
                             ": has a qdisc for each queue of the card, and one takes their place only if asked: "
                             "--replace-mq; where each of them is fq they stay");
  return PacedBy::classes;
}

}  // namespace heddle::hostd
