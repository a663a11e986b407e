// SPDX-License-Identifier: Apache-2.0
// Source addresses behind an edge port that have said that they obey fine-grained flow control (G1): there may be
// several, of a bridge or of virtual machines. Who says so has to say it again and again; who then does not is not
// believed for a while.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "heddle/fgfc.h"
#include "wire/types.h"

namespace heddle {

struct ObeyingHost {
  uint64_t mac = 0;
  Nanos until_ns = 0;         // when what it has said is forgotten
  Nanos not_believed_ns = 0;  // until then
  Nanos last_strike_ns = 0;
  uint32_t strikes = 0;  // times that it has not obeyed, since it was forgiven last
};

class ObeyingHosts {
 public:
  static constexpr uint32_t kMost = 64;  // of one port
  static constexpr uint32_t kStrikes = 3;
  static constexpr Nanos kForgivenNs = 10 * kSecond;

  bool any() const { return count_ != 0; }
  std::span<const ObeyingHost> all() const { return {hosts_.data(), count_}; }

  // It says that it obeys. False: there is no room for another one.
  bool announced(uint64_t mac, Nanos now) {
    ObeyingHost* host = find(mac);
    if (host == nullptr) {
      forget(now);
      if (count_ == kMost) return false;
      host = &hosts_[count_++];
      *host = {.mac = mac};
    }
    host->until_ns = now + HEDDLE_FGFC_FORGET_NS;
    return true;
  }
  // It obeys no longer, it says. What it did is not forgotten.
  void withdrawn(uint64_t mac) {
    if (ObeyingHost* host = find(mac)) host->until_ns = 0;
  }
  bool obeys(uint64_t mac, Nanos now) const {
    const uint32_t index = index_of(mac);
    return index < count_ && now < hosts_[index].until_ns && now >= hosts_[index].not_believed_ns;
  }
  // It has not obeyed. True: that was once too often, and from now on it does not count as one that does.
  bool strike(uint64_t mac, Nanos now) {
    ObeyingHost* host = find(mac);
    if (host == nullptr) return false;
    if (now - host->last_strike_ns >= kForgivenNs) host->strikes = 0;
    host->last_strike_ns = now;
    if (++host->strikes < kStrikes) return false;
    host->strikes = 0;
    host->not_believed_ns = now + kForgivenNs;
    return true;
  }

 private:
  uint32_t index_of(uint64_t mac) const {
    uint32_t index = 0;
    while (index < count_ && hosts_[index].mac != mac) ++index;
    return index;
  }
  ObeyingHost* find(uint64_t mac) {
    const uint32_t index = index_of(mac);
    return index < count_ ? &hosts_[index] : nullptr;
  }
  void forget(Nanos now) {
    const auto over = [now](const ObeyingHost& host) {
      const bool forgiven = host.strikes == 0 || now - host.last_strike_ns >= kForgivenNs;
      return now >= host.until_ns && now >= host.not_believed_ns && forgiven;
    };
    count_ = static_cast<uint32_t>(std::remove_if(hosts_.data(), hosts_.data() + count_, over) - hosts_.data());
  }

  std::array<ObeyingHost, kMost> hosts_{};
  uint32_t count_ = 0;
};

}  // namespace heddle
