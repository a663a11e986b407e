// SPDX-License-Identifier: Apache-2.0
// Objects of libnl-route that free themselves, and its errors as std::runtime_error.
#pragma once

#include <netlink/netlink.h>
#include <netlink/route/class.h>
#include <netlink/route/qdisc.h>
#include <netlink/route/tc.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

namespace heddle::hostd::netlink {

template <typename Object, void (*put)(Object*)>
struct Put {
  void operator()(Object* object) const { put(object); }
};
using Socket = std::unique_ptr<nl_sock, Put<nl_sock, nl_socket_free>>;
using Cache = std::unique_ptr<nl_cache, Put<nl_cache, nl_cache_free>>;
using Qdisc = std::unique_ptr<rtnl_qdisc, Put<rtnl_qdisc, rtnl_qdisc_put>>;
using Class = std::unique_ptr<rtnl_class, Put<rtnl_class, rtnl_class_put>>;

inline void must(int error, const std::string& what) {
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

// Speaks with the kernel's routing.
inline Socket connected() {
  Socket socket(made(nl_socket_alloc()));
  must(nl_connect(socket.get(), NETLINK_ROUTE), "netlink");
  return socket;
}

}  // namespace heddle::hostd::netlink
