// SPDX-License-Identifier: Apache-2.0
#include "service/reload.h"

#include <exception>

#include "config/process_changes.h"
#include "io/clock.h"
#include "service/log.h"
#include "telemetry/event_watch.h"

namespace heddle {

void Reload::tell(bool is_bad, const std::string& text) {
  journal_.add({.at_ns = wall_clock_now(), .is_bad = is_bad, .kind = "configuration", .place = {}, .text = text});
}

void Reload::run() {
  ConfigErrors errors;
  const std::optional<ProcessConfig> file = load_(errors);
  if (!file) {
    constexpr size_t kShown = 5;
    for (size_t i = 0; i < errors.items().size() && i < kShown; ++i) tell(true, errors.items()[i].text());
    return tell(true, "the file has " + std::to_string(errors.size()) + " problem(s): nothing is changed");
  }
  const ProcessChanges changes = process_changes(running_, *file);
  if (changes.none()) return tell(false, "read again: nothing has changed");
  try {
    if (running_.socket_group != file->socket_group) server_.set_group(file->socket_group);
    set_log_level(file->log_level);
    for (const size_t position : changes.applications)
      process_.set_applications(file->nodes[position].node_index, file->nodes[position].applications);
    for (const size_t position : changes.shapers)
      process_.set_shapers(file->nodes[position].node_index, file->nodes[position].shapers);
    take_live_changes(running_, *file);
    for (const std::string& change : changes.live) tell(false, "changed: " + change);
  } catch (const std::exception& error) {
    tell(true, std::string("not changed: ") + error.what());
  }
  for (const std::string& change : changes.restart) tell(true, "needs a restart: " + change);
}

}  // namespace heddle
