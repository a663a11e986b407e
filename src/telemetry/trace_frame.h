// SPDX-License-Identifier: Apache-2.0
// A frame that nobody has sent, for a question about it.
#pragma once

#include <cstdint>
#include <vector>

#include "telemetry/json.h"

namespace heddle {

constexpr uint32_t kTraceFrameBytesMax = 9018;

// As a host would send it:
//   {"to": "02:00:00:00:00:06", "from": "02:00:00:00:00:01", "vlan": 10, "pcp": 0, "dscp": 0, "bytes": 64,
//    "ip_from": "10.0.0.1", "ip_to": "10.0.0.6", "protocol": "udp", "port_from": 1000, "port_to": 2000}
// or whole: {"hex": "0200..."}. Without "vlan" and "pcp" it has no tag, without addresses it is no IP packet; ports
// need "tcp" or "udp". "bytes" are those of the frame with its tag; it is made as long as its headers at least. Throws
// Refused.
std::vector<uint8_t> make_trace_frame(const Json& fields);

}  // namespace heddle
