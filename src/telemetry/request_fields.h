// SPDX-License-Identifier: Apache-2.0
// Fields of a request on the operator socket: what is not of its kind is refused with what is allowed.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#include "io/switch_process.h"
#include "telemetry/json.h"

namespace heddle {

// Told to whoever asked.
struct Refused : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// --- fields that may be left out ---
std::optional<std::string> read_text(const Json& request, const char* key);
std::optional<bool> read_bool(const Json& request, const char* key);
std::optional<uint64_t> read_number(const Json& request, const char* key, uint64_t most);

uint16_t find_node(const SwitchProcess& process, const std::string& name);
PortIndex find_port(const SwitchProcess& process, uint16_t node, const std::string& name);
// leaf1:p3
LinkEnd find_end(const SwitchProcess& process, const std::string& name);

}  // namespace heddle
