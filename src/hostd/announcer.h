// SPDX-License-Identifier: Apache-2.0
// Says on an interface, once a second, that addresses of this host obey (G1); at the end that they do no longer. Frames
// go out past the kernel's stack. Errors are std::runtime_error.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::hostd {

using MacAddress = std::array<uint8_t, 6>;

class Announcer {
 public:
  Announcer(int interface, const std::string& name);
  // Takes back what it has said.
  ~Announcer();
  Announcer(const Announcer&) = delete;

  // Its own address and those, as far as a switch keeps them. What finds no way out now is said again a second later.
  void announce(const std::vector<MacAddress>& others);

 private:
  void say(const MacAddress& address, bool obeys) const;

  int socket_;
  const int interface_;
  MacAddress own_{};
  std::vector<MacAddress> said_;
};

}  // namespace heddle::hostd
