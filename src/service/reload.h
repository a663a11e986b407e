// SPDX-License-Identifier: Apache-2.0
// SIGHUP: reads the file again that heddled was started with. What can be changed while it runs is changed, what can't
// is named, and a file with problems changes nothing. It never ends the process.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "config/config_errors.h"
#include "config/node_config.h"
#include "io/switch_process.h"
#include "telemetry/event_journal.h"
#include "telemetry/operator_server.h"

namespace heddle {

class Reload {
 public:
  using Load = std::function<std::optional<ProcessConfig>(ConfigErrors& errors)>;
  Reload(Load load, SwitchProcess& process, OperatorServer& server, EventJournal& journal)
      : load_(std::move(load)), process_(process), running_(process.config()), server_(server), journal_(journal) {}

  void run();

 private:
  void tell(bool is_bad, const std::string& text);

  Load load_;
  SwitchProcess& process_;
  ProcessConfig running_;
  OperatorServer& server_;
  EventJournal& journal_;
};

}  // namespace heddle
