// SPDX-License-Identifier: Apache-2.0
// Numbers as they stand on a wire: big-endian, at any alignment. For every parser of this folder.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace heddle {

namespace wire_detail {
template <typename T>
inline T swap_to_big(T value) {
  if constexpr (std::endian::native == std::endian::big) return value;
  if constexpr (sizeof(T) == 2) return static_cast<T>(__builtin_bswap16(value));
  if constexpr (sizeof(T) == 4) return static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 8) return static_cast<T>(__builtin_bswap64(value));
}

template <typename T>
inline T load_big(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(value));
  return swap_to_big(value);
}
}  // namespace wire_detail

inline uint16_t big_endian(uint16_t value) { return wire_detail::swap_to_big(value); }
inline uint32_t big_endian(uint32_t value) { return wire_detail::swap_to_big(value); }
inline uint64_t big_endian(uint64_t value) { return wire_detail::swap_to_big(value); }

inline uint16_t load_be16(const uint8_t* bytes) { return wire_detail::load_big<uint16_t>(bytes); }
inline uint32_t load_be32(const uint8_t* bytes) { return wire_detail::load_big<uint32_t>(bytes); }
inline uint64_t load_be64(const uint8_t* bytes) { return wire_detail::load_big<uint64_t>(bytes); }

inline void store_be16(uint8_t* bytes, uint16_t value) {
  value = big_endian(value);
  std::memcpy(bytes, &value, sizeof(value));
}
inline void store_be32(uint8_t* bytes, uint32_t value) {
  value = big_endian(value);
  std::memcpy(bytes, &value, sizeof(value));
}

// MAC addresses are 48-bit numbers in host order; the first byte on the wire is the highest.
inline uint64_t load_mac(const uint8_t* bytes) { return uint64_t{load_be16(bytes)} << 32 | load_be32(bytes + 2); }
inline void store_mac(uint8_t* bytes, uint64_t mac) {
  store_be16(bytes, static_cast<uint16_t>(mac >> 32));
  store_be32(bytes + 2, static_cast<uint32_t>(mac));
}

}  // namespace heddle
