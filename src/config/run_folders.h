// SPDX-License-Identifier: Apache-2.0
// Where what runs is found. Labs have a folder of their own, for root alone: that of nodes belongs to the user as whom
// the service runs, who must not be able to tell root's `lab down` what to remove.
#pragma once

namespace heddle {

constexpr const char* kNodeRunFolder = "/run/heddle";      // operator sockets, NODE.sock
constexpr const char* kLabRunFolder = "/run/heddle-labs";  // LAB/: heddled.sock, heddled.log, lab.yaml, state.json

}  // namespace heddle
