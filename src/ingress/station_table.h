// SPDX-License-Identifier: Apache-2.0
// Where stations are (E1): (MAC, VLAN) -> fabric address. Static entries stay; learned ones age, move, and are held
// when they move too often (a loop outside). One per worker; workers tell each other what they learn.
#pragma once

#include <map>

#include "flow/keyed_table.h"
#include "wire/types.h"

namespace heddle {

struct Station {
  Nanos seen_ns;
  Nanos told_ns;         // when the other workers last heard of it
  Nanos moves_since_ns;  // start of the window in which `moves` are counted
  Nanos held_until_ns;
  FabricAddress address;
  uint16_t moves;
  bool used;
  bool fixed;  // from the topology file
};

enum class Learned : uint8_t {
  known,    // nothing new
  renewed,  // nothing new, but the other workers want to hear again that it is alive
  added,    // new: the other workers want to know
  moved,    // now elsewhere: the other workers want to know
  held,     // moves too often, stays where it was
  refused,  // table or port quota is full
};

class StationTable {
 public:
  StationTable(uint32_t capacity, Nanos age_ns, const HashKey& key,
               std::pmr::memory_resource& memory = *std::pmr::get_default_resource());

  // nullptr if unknown. `mac` has 48 bits.
  const Station* find(uint64_t mac, uint16_t vlan) const;
  // `quota`: learned stations this address may have at most. A full table makes room at the expense of the address
  // that has most, so that one port's stations never keep out another's (K11).
  // Is the station to stay where it is, if it were seen at `address` now?
  bool holds(uint64_t mac, uint16_t vlan, FabricAddress address, Nanos now) const {
    const uint32_t index = index_of(mac, vlan);
    if (index == kNotFound || stations_[index].address == address) return false;
    return stations_[index].fixed || now < stations_[index].held_until_ns;
  }
  Learned learn(uint64_t mac, uint16_t vlan, FabricAddress address, uint32_t quota, Nanos now);
  void add_fixed(uint64_t mac, uint16_t vlan, FabricAddress address);
  // Removes aged entries; looks at a bounded number per call.
  void age(Nanos now);
  // Grows with each change that can make an earlier find() wrong, and now and then besides: who remembers what it found
  // asks again, and the stations it hears of are seen to be alive.
  uint32_t version() const { return version_; }
  // What was compared with the table is to be looked at again, though nothing has changed here.
  void look_again() { ++version_; }
  uint32_t used() const { return used_; }
  // For inspection, in pieces: calls visit(mac, vlan, station) for each of places `first` to `last` of capacity().
  template <typename Visit>
  void for_each(uint32_t first, uint32_t last, Visit visit) const;
  uint32_t capacity() const { return stations_.capacity(); }  // never changes

  static constexpr uint16_t kMovesMax = 5;  // within kMoveWindow, then held
  static constexpr Nanos kMoveWindowNs = 1 * kSecond;
  static constexpr Nanos kHoldNs = 10 * kSecond;
  static constexpr Nanos kRenewNs = 1 * kSecond;
  static constexpr Nanos kAskAgainNs = 128 * kMillisecond;

 private:
  static uint64_t pack(uint64_t mac, uint16_t vlan) { return mac << 16 | vlan; }
  uint32_t index_of(uint64_t mac, uint16_t vlan) const;
  uint32_t& stations_at(FabricAddress address) { return count_at_[uint32_t{address.node} << 16 | address.port]; }
  uint32_t add(uint64_t mac, uint16_t vlan, FabricAddress address);
  bool make_room_for(FabricAddress address);
  void remove(uint32_t index);
  void find_most();

  HashKey key_;
  KeyedTable<Station> stations_;           // key: MAC << 16 | VLAN
  std::map<uint32_t, uint32_t> count_at_;  // stations per address: node << 16 | port
  FabricAddress most_{};                   // the address that has most
  Nanos age_ns_;
  uint32_t used_ = 0;
  uint32_t version_ = 1;
  Nanos ask_again_ns_;  // between such times
  Nanos next_asked_ns_ = 0;
  uint32_t sweep_ = 0;
  Nanos aged_ns_ = 0;  // when age() was called last
};

template <typename Visit>
void StationTable::for_each(uint32_t first, uint32_t last, Visit visit) const {
  for (uint32_t index = first; index < std::min(last, capacity()); ++index) {
    if (!stations_[index].used) continue;
    const uint64_t packed = stations_.key_at(index);
    visit(packed >> 16, static_cast<uint16_t>(packed), stations_[index]);
  }
}

}  // namespace heddle
