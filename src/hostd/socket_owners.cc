// SPDX-License-Identifier: Apache-2.0
#include "hostd/socket_owners.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace heddle::hostd {

namespace {

constexpr uint8_t kTcp = 6, kUdp = 17;
constexpr std::array<uint8_t, 12> kMapped{0, 0, 0, 0, 0,    0,
                                          0, 0, 0, 0, 0xff, 0xff};  // what an IPv4 address stands behind

// As the kernel prints them: 32-bit words of what stands on the wire, as numbers of this machine, and the port.
bool read_end(const std::string& text, std::array<uint8_t, 16>& address, uint16_t& port) {
  const size_t colon = text.find(':');
  if (colon != 8 && colon != 32) return false;
  address = {};
  size_t at = 0;
  if (colon == 8) at = std::copy(kMapped.begin(), kMapped.end(), address.begin()) - address.begin();
  for (size_t digit = 0; digit < colon; digit += 8, at += 4) {
    unsigned word = 0;
    if (std::sscanf(text.substr(digit, 8).c_str(), "%8x", &word) != 1) return false;
    std::memcpy(&address[at], &word, 4);
  }
  unsigned number = 0;
  if (std::sscanf(text.c_str() + colon + 1, "%4x", &number) != 1) return false;
  port = static_cast<uint16_t>(number);
  return true;
}

// 0.0.0.0 and ::
bool is_any(const std::array<uint8_t, 16>& address) {
  const bool mapped = std::equal(kMapped.begin(), kMapped.end(), address.begin());
  return std::all_of(address.begin() + (mapped ? kMapped.size() : 0), address.end(),
                     [](uint8_t byte) { return byte == 0; });
}

}  // namespace

SocketOwners::SocketOwners(const std::filesystem::path& proc) {
  for (const auto& [name, protocol] : {std::pair{"tcp", kTcp}, {"tcp6", kTcp}, {"udp", kUdp}, {"udp6", kUdp}})
    read_sockets(proc / "self/net" / name, protocol);
  std::error_code ignored;
  std::vector<uint32_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator(proc, ignored)) {
    const std::string name = entry.path().filename();
    if (name.size() <= 10 && name.find_first_not_of("0123456789") == std::string::npos)
      pids.push_back(static_cast<uint32_t>(std::stoul(name)));
  }
  std::sort(pids.begin(), pids.end());
  for (const uint32_t pid : pids) read_process(proc / std::to_string(pid), pid);
}

std::string SocketOwners::of(const SocketFlow& flow) const {
  Address source, destination;
  if (!read_address(flow.source, source) || !read_address(flow.destination, destination)) return {};
  const auto [first, last] = sockets_.equal_range(uint32_t{flow.protocol} << 16 | flow.source_port);
  uint64_t inode = 0;
  int best = 0;  // one that is connected before one that is not, one of this address before one of any
  for (auto at = first; at != last; ++at) {
    const Socket& socket = at->second;
    const bool connected = socket.remote == destination && socket.remote_port == flow.destination_port;
    if (!connected && socket.remote_port != 0) continue;
    if (socket.local != source && !is_any(socket.local)) continue;
    const int score = 1 + (connected ? 2 : 0) + (socket.local == source ? 1 : 0);
    if (score <= best) continue;
    best = score;
    inode = socket.inode;
  }
  const auto owner = owners_.find(inode);
  return best == 0 || owner == owners_.end() ? std::string{}
                                             : names_.at(owner->second) + " (" + std::to_string(owner->second) + ")";
}

bool SocketOwners::read_address(const std::string& text, Address& address) {
  std::copy(kMapped.begin(), kMapped.end(), address.begin());
  return inet_pton(AF_INET, text.c_str(), &address[kMapped.size()]) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

// A line of each, below a heading: number, local and remote end, state, queues, timer, retransmissions, user, timeout,
// inode. 0 is nobody's.
void SocketOwners::read_sockets(const std::filesystem::path& table, uint8_t protocol) {
  std::ifstream file(table);
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, other;
    fields >> number >> local >> remote;
    for (int i = 0; i < 6; ++i) fields >> other;
    Socket socket{};
    uint16_t port = 0;
    if (!(fields >> socket.inode) || socket.inode == 0 || !read_end(local, socket.local, port) ||
        !read_end(remote, socket.remote, socket.remote_port))
      continue;
    sockets_.emplace(uint32_t{protocol} << 16 | port, socket);
  }
}

void SocketOwners::read_process(const std::filesystem::path& process, uint32_t pid) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(process / "fd", ignored)) {
    const std::string target = std::filesystem::read_symlink(entry.path(), ignored);
    unsigned long long inode = 0;
    if (std::sscanf(target.c_str(), "socket:[%llu]", &inode) == 1) owners_.emplace(inode, pid);
  }
  std::ifstream file(process / "comm");
  std::getline(file, names_[pid]);
}

}  // namespace heddle::hostd
