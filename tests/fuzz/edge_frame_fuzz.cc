// SPDX-License-Identifier: Apache-2.0
// Any bytes from a host (E3): parsed, and the checksum completed on a copy of exactly their size.
#include <cstdlib>

#include "tests/unit/packet_builder.h"
#include "wire/checksum.h"
#include "wire/ethernet.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle;
  if (size > 0xffff) return 0;
  test::ExactBuffer copy(data, size);
  EdgeHeaders headers;
  const bool plain = is_plain_ipv4(copy.data(), copy.size());
  if (parse_edge_frame(copy.data(), copy.size(), headers) != DropReason::none) {
    if (plain && load_mac(copy.data() + 6) != 0) std::abort();
    return 0;
  }
  if (plain && (headers.tagged || headers.l3 != 4 || headers.l4_offset != 34 || !headers.ports_valid)) std::abort();
  if (headers.l3 != 0 && uint32_t{headers.l4_offset} + headers.l4_bytes > size) std::abort();

  const bool left = checksum_left_to_hardware(copy.data(), copy.size(), headers);
  const bool completed = complete_checksum(copy.data(), copy.size(), headers);
  if (left && !completed) std::abort();
  if (!completed) return 0;
  EdgeHeaders again;  // completing changes nothing but the checksum
  if (parse_edge_frame(copy.data(), copy.size(), again) != DropReason::none) std::abort();
  const uint32_t field = headers.l4_offset + (headers.protocol == kProtocolTcp ? 16u : 6u);
  for (uint32_t i = 0; i < size; ++i) {
    if (copy.data()[i] != data[i] && i - field > 1) std::abort();
  }
  return 0;
}
