// SPDX-License-Identifier: Apache-2.0
#include "machine/interface_facts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "machine/interface_lock.h"

namespace heddle {

namespace {

// SIOCETHTOOL and its like want some socket, whichever.
class InterfaceQuestion {
 public:
  explicit InterfaceQuestion(const std::string& name) : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    name.copy(request_.ifr_name, IFNAMSIZ - 1);
  }
  ~InterfaceQuestion() { close(fd_); }
  InterfaceQuestion(const InterfaceQuestion&) = delete;
  InterfaceQuestion& operator=(const InterfaceQuestion&) = delete;

  short flags() { return ioctl(fd_, SIOCGIFFLAGS, &request_) == 0 ? request_.ifr_flags : short{0}; }
  uint32_t mtu_bytes() { return ioctl(fd_, SIOCGIFMTU, &request_) == 0 ? static_cast<uint32_t>(request_.ifr_mtu) : 0; }
  uint32_t ethtool(uint32_t command) {
    ethtool_value value{.cmd = command, .data = 0};
    request_.ifr_data = reinterpret_cast<char*>(&value);
    return ioctl(fd_, SIOCETHTOOL, &request_) == 0 ? value.data : 0;
  }

 private:
  int fd_;
  ifreq request_{};
};

std::vector<std::string> addresses_of(const std::string& name) {
  std::vector<std::string> texts;
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return texts;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || entry->ifa_name != name) continue;
    const void* address = nullptr;
    const int family = entry->ifa_addr->sa_family;
    if (family == AF_INET) {
      address = &reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
    } else if (family == AF_INET6) {
      const auto* six = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr);
      if (!IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr)) address = &six->sin6_addr;
    }
    char text[INET6_ADDRSTRLEN];
    if (address != nullptr && inet_ntop(family, address, text, sizeof(text)) != nullptr) texts.emplace_back(text);
  }
  freeifaddrs(list);
  return texts;
}

}  // namespace

InterfaceFacts interface_facts(const std::string& name) {
  InterfaceFacts facts;
  facts.name = name;
  facts.present = if_nametoindex(name.c_str()) != 0;
  if (!facts.present) return facts;
  InterfaceQuestion question(name);
  const short flags = question.flags();
  facts.up = (flags & IFF_UP) != 0;
  facts.carrier = (flags & IFF_RUNNING) != 0;
  facts.mtu_bytes = question.mtu_bytes();
  facts.merges_frames = question.ethtool(ETHTOOL_GGRO) != 0 || (question.ethtool(ETHTOOL_GFLAGS) & ETH_FLAG_LRO) != 0;
  facts.addresses = addresses_of(name);
  const std::filesystem::path folder = "/sys/class/net/" + name;
  std::error_code none;
  facts.master = std::filesystem::read_symlink(folder / "master", none).filename();
  facts.has_hardware = std::filesystem::exists(folder / "device", none);
  std::ifstream(folder / "device/numa_node") >> facts.numa_node;
  if (!facts.has_hardware) facts.numa_node = -1;
  facts.heddled = interface_lock_owner(name);
  return facts;
}

}  // namespace heddle
