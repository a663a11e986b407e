// SPDX-License-Identifier: Apache-2.0
// Which process has the socket that a flow comes from, as /proc tells: of this network namespace's sockets, and of the
// processes that the caller may look into. A picture of the moment when it is made.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_map>

namespace heddle::hostd {

// As heddle-hostd tells it; addresses are texts, ports in host order.
struct SocketFlow {
  uint8_t protocol = 0;  // 6 or 17, else it has no owner
  std::string source, destination;
  uint16_t source_port = 0, destination_port = 0;
};

class SocketOwners {
 public:
  explicit SocketOwners(const std::filesystem::path& proc = "/proc");

  // "iperf3 (4711)", of several the one with the lowest number; empty if it is not known.
  std::string of(const SocketFlow& flow) const;

 private:
  using Address = std::array<uint8_t, 16>;  // of IPv4 as ::ffff:10.0.0.1
  struct Socket {
    Address local, remote;
    uint16_t remote_port;
    uint64_t inode;
  };

  static bool read_address(const std::string& text, Address& address);
  void read_sockets(const std::filesystem::path& table, uint8_t protocol);
  void read_process(const std::filesystem::path& process, uint32_t pid);

  std::unordered_multimap<uint32_t, Socket> sockets_;  // by protocol << 16 | local port
  std::map<uint64_t, uint32_t> owners_;                // by inode: process
  std::map<uint32_t, std::string> names_;              // of those
};

}  // namespace heddle::hostd
