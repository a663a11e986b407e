// SPDX-License-Identifier: Apache-2.0
// What becomes of a frame at one hop, stage by stage with the reason, or what stands there of a flow.
//   {"command": "trace", "port": "leaf1:p1", "frame": {...}}            a host's frame, see telemetry/trace_frame.h
//   {"command": "trace", "port": "leaf1:p1", "flow_id": 3}              a flow that is there
//   {"command": "trace", "port": "spine1:p1", "hop": {...}}             what "next" said in the answer of the hop
//   before
// The answer: {"node", "port", "steps": [{"stage", "decision", "why"}], "next": {"port", ...}}, without "next" where it
// ends. Asks the code that decides for real frames, and changes nothing.
#pragma once

#include "io/switch_process.h"
#include "telemetry/json.h"

namespace heddle {

// Throws Refused (telemetry/request_fields.h).
Json trace(const SwitchProcess& process, const Json& request);

}  // namespace heddle
