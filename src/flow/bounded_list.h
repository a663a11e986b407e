// SPDX-License-Identifier: Apache-2.0
// Items in an array with room for all that there can be, so that adding one asks for nothing. Whoever fills it sees to
// that bound: each thing that is listed has a flag that says so.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>

namespace heddle {

template <typename T>
class BoundedList {
 public:
  explicit BoundedList(size_t most = 0) : items_(std::make_unique<T[]>(most)) {}

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T operator[](size_t at) const { return items_[at]; }
  const T* begin() const { return items_.get(); }
  const T* end() const { return items_.get() + size_; }
  void push_back(T item) { items_[size_++] = item; }
  void replace(size_t at, T item) { items_[at] = item; }
  void replace_by_last(size_t at) { items_[at] = items_[--size_]; }
  void clear() { size_ = 0; }
  void erase_front(size_t count) {
    std::copy(begin() + count, end(), items_.get());
    size_ -= count;
  }

 private:
  std::unique_ptr<T[]> items_;
  size_t size_ = 0;
};

}  // namespace heddle
