// SPDX-License-Identifier: Apache-2.0
// What the operator socket understands:
//   {"command": "show", "what":
//   "nodes|ports|links|flows|applications|hosts|shapers|stations|routes|load|congestion|tables|queues|drops|workers",
//    "node": "leaf1", "port": "p1", "offset": 0, "limit": 64, "interval_ms": 250, "all": false}
//   {"command": "trace", "port": "leaf1:p1", "frame": {...} or "flow_id": 3, ...}, see telemetry/trace.h
//   {"command": "events", "after": 0, "limit": 256}
//   {"command": "link", "port": "leaf1:p1", "up": true, "loss_ppm": 10000, "delay_ns": 5000}
//   {"command": "node", "node": "spine1", "up": false}
//   {"command": "clear", "what": "queues", "node": "leaf1", "port": "p1"}
//   {"command": "version"}
// Everything but "command" and what it can't do without may be left out. The reply is {"ok": true, "result": ...} or
// {"ok": false, "error": "..."}. Runs in the control thread. Requests are not trusted.
#pragma once

#include <string>
#include <string_view>

#include "io/switch_process.h"
#include "telemetry/event_journal.h"
#include "telemetry/operator_server.h"

namespace heddle {

struct OperatorContext {
  SwitchProcess* process;
  EventJournal* journal;
};

// A reply; or for rates what gives it after the interval. The process outlives that.
OperatorServer::Answer answer_request(const OperatorContext& context, std::string_view request);

}  // namespace heddle
