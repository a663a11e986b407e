// SPDX-License-Identifier: Apache-2.0
// Any bytes of a host or from a switch, as heddle-hostd's programs read them in the kernel (G3): within bounds, and
// where the switch reads a frame of this host, too, it sees the same flow.
#include <cstdlib>
#include <cstring>

#include "hostd/frame_flow.h"
#include "tests/unit/packet_builder.h"
#include "wire/ethernet.h"

namespace {

void require(bool good) {
  if (!good) std::abort();
}

void compare(const hostd_flow& flow, const heddle::EdgeHeaders& headers) {
  require(flow.l3 == headers.l3);
  require(HOSTD_BE16(flow.vlan) == (headers.tagged ? headers.tci & 0xfff : 0));
  if (headers.l3 == 0) return;
  require(flow.protocol == headers.protocol && flow.dscp == headers.dscp);
  require(HOSTD_BE32(flow.flow_label) == headers.flow_label);
  require(std::memcmp(flow.source_address, headers.address_source, 16) == 0);
  require(std::memcmp(flow.destination_address, headers.address_destination, 16) == 0);
  require(HOSTD_BE16(flow.source_port) == headers.source_port);
  require(HOSTD_BE16(flow.destination_port) == headers.destination_port);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle;
  if (size > 0xffff) return 0;
  test::ExactBuffer copy(data, size);
  const uint8_t* end = copy.data() + copy.size();
  hostd_flow flow{}, named{};
  if (hostd_is_fgfc(copy.data(), end) && hostd_read_pause(copy.data(), end, &named) != nullptr)
    require(named.fields < HOSTD_FIELDS_END &&
            (!(named.fields & HEDDLE_FGFC_ANY_DESTINATION) || load_mac(named.destination) == 0));
  const bool read = hostd_read_flow(copy.data(), end, 0, &flow);
  EdgeHeaders headers;
  if (parse_edge_frame(copy.data(), static_cast<uint32_t>(copy.size()), headers) == DropReason::none) {
    require(read);
    compare(flow, headers);
  }
  return 0;
}
