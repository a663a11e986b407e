// SPDX-License-Identifier: Apache-2.0
#include "io/huge_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace heddle {

namespace {
constexpr size_t kHugePageBytes = 2 * 1024 * 1024;
}  // namespace

// Smaller pieces come from the heap. Where the kernel has no huge pages it takes small ones.
void* HugeMemory::do_allocate(size_t bytes, size_t alignment) {
  if (bytes < kHugePageBytes) return std::pmr::new_delete_resource()->allocate(bytes, alignment);
  const size_t whole = (bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  void* memory = std::aligned_alloc(kHugePageBytes, whole);
  if (memory == nullptr) throw std::bad_alloc();
  madvise(memory, whole, MADV_HUGEPAGE);  // a wish
  return memory;
}

void HugeMemory::do_deallocate(void* memory, size_t bytes, size_t alignment) {
  if (bytes < kHugePageBytes) return std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  std::free(memory);
}

}  // namespace heddle
