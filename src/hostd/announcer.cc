// SPDX-License-Identifier: Apache-2.0
#include "hostd/announcer.h"

#include <linux/if_packet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "heddle/fgfc.h"

namespace heddle::hostd {

namespace {
constexpr size_t kSaidMost = 64;  // a switch keeps no more of a port
constexpr size_t kFrameBytes = 60;
}  // namespace

Announcer::Announcer(int interface, const std::string& name)
    : socket_(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)), interface_(interface) {
  if (socket_ < 0) throw std::runtime_error("packet socket: " + std::string(std::strerror(errno)));
  ifreq request{};
  name.copy(request.ifr_name, sizeof request.ifr_name - 1);
  if (ioctl(socket_, SIOCGIFHWADDR, &request) != 0) {
    const int error = errno;
    close(socket_);
    throw std::runtime_error(name + ": address: " + std::strerror(error));
  }
  // Past the programs of this interface as well, which would take the addresses for some that send.
  constexpr int kYes = 1;
  setsockopt(socket_, SOL_PACKET, PACKET_QDISC_BYPASS, &kYes, sizeof kYes);
  std::memcpy(own_.data(), request.ifr_hwaddr.sa_data, own_.size());
}

Announcer::~Announcer() {
  for (const MacAddress& address : said_) say(address, false);
  close(socket_);
}

void Announcer::announce(const std::vector<MacAddress>& others) {
  std::vector<MacAddress> all{own_};
  for (const MacAddress& other : others)
    if ((other[0] & 1) == 0 && all.size() < kSaidMost && std::find(all.begin(), all.end(), other) == all.end())
      all.push_back(other);
  for (const MacAddress& address : all) say(address, true);
  said_ = std::move(all);
}

// The bytes stand in docs/protocol.md.
void Announcer::say(const MacAddress& address, bool obeys) const {
  constexpr MacAddress kTo = {0x03, 0x68, 0x65, 0x64, 0x64, 0x6c};
  uint8_t frame[kFrameBytes] = {};
  std::memcpy(frame, kTo.data(), kTo.size());
  std::memcpy(frame + 6, address.data(), address.size());
  frame[12] = HEDDLE_OUI_ETHERTYPE >> 8;
  frame[13] = HEDDLE_OUI_ETHERTYPE & 0xff;
  heddle_fgfc_header header{};
  for (size_t i = 0; i < sizeof header.identifier; ++i)
    header.identifier[i] = static_cast<uint8_t>(HEDDLE_FGFC_IDENTIFIER >> 8 * (sizeof header.identifier - 1 - i));
  header.version = HEDDLE_FGFC_VERSION;
  header.kind = HEDDLE_FGFC_ANNOUNCEMENT;
  header.flags = obeys ? HEDDLE_FGFC_OBEYS : 0;
  std::memcpy(frame + HEDDLE_ETHERNET_BYTES, &header, sizeof header);
  sockaddr_ll to{};
  to.sll_family = AF_PACKET;
  to.sll_ifindex = interface_;
  to.sll_halen = static_cast<unsigned char>(kTo.size());
  std::memcpy(to.sll_addr, kTo.data(), kTo.size());
  [[maybe_unused]] const ssize_t sent =
      sendto(socket_, frame, sizeof frame, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to);
}

}  // namespace heddle::hostd
