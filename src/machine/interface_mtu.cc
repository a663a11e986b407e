// SPDX-License-Identifier: Apache-2.0
#include "machine/interface_mtu.h"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace heddle {

namespace {

// SIOCGIFMTU and SIOCSIFMTU want some socket, whichever.
class AnySocket {
 public:
  AnySocket() : fd_(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {}
  ~AnySocket() { close(fd_); }
  AnySocket(const AnySocket&) = delete;
  AnySocket& operator=(const AnySocket&) = delete;
  bool ask(unsigned long request, ifreq& about) const { return ioctl(fd_, request, &about) == 0; }

 private:
  int fd_;
};

}  // namespace

std::string ensure_interface_mtu(const std::string& device, const std::string& interface, uint32_t mtu_bytes) {
  const AnySocket any;
  ifreq request{};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (!any.ask(SIOCGIFMTU, request))
    throw std::runtime_error("device " + device + ": MTU of " + interface + ": " + std::strerror(errno));
  const int before = request.ifr_mtu;
  if (static_cast<uint32_t>(before) >= mtu_bytes) return {};
  const std::string was = std::to_string(before), needed = std::to_string(mtu_bytes);
  request.ifr_mtu = static_cast<int>(mtu_bytes);
  if (!any.ask(SIOCSIFMTU, request))
    throw std::runtime_error("device " + device + ": the MTU of " + interface + " is " + was + ", the port needs " +
                             needed + ", and it can't be set: " + std::strerror(errno));
  return "the MTU of " + interface + " was " + was + ", now it is " + needed;
}

}  // namespace heddle
