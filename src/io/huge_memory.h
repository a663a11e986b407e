// SPDX-License-Identifier: Apache-2.0
// Memory for large tables, in pages of 2 MiB where the kernel has them (transparent huge pages, on request): a look-up
// at random in a table of small pages costs a walk of the page tables besides its cache miss.
#pragma once

#include <memory_resource>

namespace heddle {

class HugeMemory : public std::pmr::memory_resource {
 private:
  void* do_allocate(size_t bytes, size_t alignment) override;
  void do_deallocate(void* memory, size_t bytes, size_t alignment) override;
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace heddle
