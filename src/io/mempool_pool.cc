// SPDX-License-Identifier: Apache-2.0
#include "io/mempool_pool.h"

#include <rte_errno.h>
#include <rte_lcore.h>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "io/mbuf_packet.h"

namespace heddle {

namespace {
constexpr uint32_t kCachePackets = 256;  // per lcore

Packet* fresh(rte_mbuf* mbuf) {
  Packet* packet = packet_of(mbuf);
  *packet = Packet{};
  packet->data = rte_pktmbuf_mtod(mbuf, uint8_t*);
  return packet;
}
}  // namespace

MempoolPool::MempoolPool(const char* name, uint32_t buffers, uint32_t room_bytes)
    : buffers_(buffers), room_bytes_(room_bytes) {
  const uint32_t cache = buffers >= 8 * kCachePackets ? kCachePackets : 0;
  pool_ = rte_pktmbuf_pool_create(name, buffers, cache, sizeof(Packet),
                                  static_cast<uint16_t>(room_bytes + kPacketHeadroomBytes),
                                  static_cast<int>(rte_socket_id()));
  if (pool_ == nullptr) {
    throw std::runtime_error("no memory for " + std::to_string(buffers) + " buffers of " + std::to_string(room_bytes) +
                             " bytes: " + rte_strerror(rte_errno) + "; raise memory or lower buffers");
  }
}

MempoolPool::~MempoolPool() { rte_mempool_free(pool_); }

uint32_t MempoolPool::allocate(Packet** packets, uint32_t count) {
  uint32_t done = 0;
  while (done < count) {
    rte_mbuf* mbufs[kBurst];
    const uint32_t wanted = std::min(count - done, kBurst);
    uint32_t got = 0;
    if (rte_pktmbuf_alloc_bulk(pool_, mbufs, wanted) == 0)
      got = wanted;
    else  // all or nothing: near the end of the pool take them one by one
      while (got < wanted && (mbufs[got] = rte_pktmbuf_alloc(pool_)) != nullptr) ++got;
    for (uint32_t i = 0; i < got; ++i) packets[done + i] = fresh(mbufs[i]);
    done += got;
    if (got < wanted) break;
  }
  return done;
}

void MempoolPool::release(Packet** packets, uint32_t count) {
  for (uint32_t done = 0; done < count;) {
    rte_mbuf* mbufs[kBurst];
    const uint32_t some = std::min(count - done, kBurst);
    for (uint32_t i = 0; i < some; ++i) mbufs[i] = mbuf_of(packets[done + i]);
    rte_pktmbuf_free_bulk(mbufs, some);
    done += some;
  }
}

bool MempoolPool::add_owner(Packet* packet) {
  rte_mbuf_refcnt_update(mbuf_of(packet), 1);
  return true;
}

uint32_t MempoolPool::in_use() const { return rte_mempool_in_use_count(pool_); }

}  // namespace heddle
