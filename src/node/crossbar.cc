// SPDX-License-Identifier: Apache-2.0
#include "node/crossbar.h"

#include <bit>
#include <cstdlib>
#include <new>

namespace heddle {

void RingMemory::Free::operator()(void* memory) const { std::free(memory); }

RingMemory::RingMemory(uint32_t capacity, uint32_t element_bytes) {
  const uint32_t slots = std::bit_ceil(capacity + 1);  // a ring holds one less than its size
  const auto bytes = static_cast<size_t>(rte_ring_get_memsize_elem(element_bytes, slots));
  void* memory = std::aligned_alloc(RTE_CACHE_LINE_SIZE,
                                    (bytes + RTE_CACHE_LINE_SIZE - 1) / RTE_CACHE_LINE_SIZE * RTE_CACHE_LINE_SIZE);
  if (memory == nullptr) throw std::bad_alloc();
  ring_.reset(static_cast<rte_ring*>(memory));
  rte_ring_init(ring_.get(), "crossing", slots, RING_F_SP_ENQ | RING_F_SC_DEQ);
}

// Unlike rte_ring_count() ordered against what follows: packets that crossed before the pins counted here are seen.
uint32_t RingMemory::used() const {
  const uint32_t produced = __atomic_load_n(&ring_->prod.tail, __ATOMIC_ACQUIRE);
  const uint32_t consumed = __atomic_load_n(&ring_->cons.tail, __ATOMIC_ACQUIRE);
  return produced - consumed;
}

}  // namespace heddle
