// SPDX-License-Identifier: Apache-2.0
// Socket files that a process left behind when it was killed: nobody answers on them, and they keep the next one from
// listening.
#pragma once

#include <sys/types.h>

#include <string>

namespace heddle {

// Of a stream socket, or one of packets.
enum class SocketState : unsigned char { absent, stale, answers, other };  // other: no socket, or not for us to know
SocketState socket_state(const std::string& path, bool is_stream);

// Who listens at a stream socket; 0 = nobody, or nobody that can be told.
pid_t socket_owner(const std::string& path);

// Removes it if it is stale. What it then is, or is still.
SocketState remove_stale_socket(const std::string& path, bool is_stream);

}  // namespace heddle
