// SPDX-License-Identifier: Apache-2.0
#include "ingress/station_table.h"

#include <algorithm>

namespace heddle {

StationTable::StationTable(uint32_t capacity, Nanos age_ns, const HashKey& key, std::pmr::memory_resource& memory)
    : key_(key), stations_(capacity, memory), age_ns_(age_ns), ask_again_ns_(std::min(age_ns / 4, kAskAgainNs)) {}

uint32_t StationTable::index_of(uint64_t mac, uint16_t vlan) const {
  const uint64_t packed = pack(mac, vlan);
  return stations_.find(packed, keyed_hash(packed, key_));
}

const Station* StationTable::find(uint64_t mac, uint16_t vlan) const {
  const uint32_t index = index_of(mac, vlan);
  return index == kNotFound ? nullptr : &stations_[index];
}

// A new entry for the address, counted; kNotFound if the table is full.
uint32_t StationTable::add(uint64_t mac, uint16_t vlan, FabricAddress address) {
  if (used_ == stations_.capacity()) return kNotFound;
  const uint64_t packed = pack(mac, vlan);
  const uint32_t index = stations_.add(packed, keyed_hash(packed, key_));
  if (index == kNotFound) return kNotFound;
  stations_[index].address = address;
  stations_[index].used = true;
  ++used_;
  if (++stations_at(address) > stations_at(most_)) most_ = address;
  return index;
}

// Takes a station from the address that has most, if that has more than `address` would have with one more. Looks at a
// bounded number of entries.
bool StationTable::make_room_for(FabricAddress address) {
  constexpr uint32_t kLooks = 64;
  if (stations_at(most_) <= stations_at(address) + 1) return false;
  for (uint32_t look = 0; look < kLooks; ++look) {
    const uint32_t index = sweep_;
    sweep_ = sweep_ + 1 == stations_.capacity() ? 0 : sweep_ + 1;
    const Station& station = stations_[index];
    if (!station.used || station.fixed || station.address != most_) continue;
    remove(index);
    return true;
  }
  return false;
}

Learned StationTable::learn(uint64_t mac, uint16_t vlan, FabricAddress address, uint32_t quota, Nanos now) {
  uint32_t index = index_of(mac, vlan);
  if (index == kNotFound) {
    if (stations_at(address) >= quota) return Learned::refused;
    if (used_ == stations_.capacity() && !make_room_for(address)) return Learned::refused;
    index = add(mac, vlan, address);
    if (index == kNotFound) return Learned::refused;
    stations_[index].seen_ns = stations_[index].told_ns = stations_[index].moves_since_ns = now;
    ++version_;
    return Learned::added;
  }
  Station& station = stations_[index];
  if (station.address == address) {
    station.seen_ns = now;
    if (station.fixed || now - station.told_ns < std::min(age_ns_ / 4, kRenewNs)) return Learned::known;
    station.told_ns = now;
    return Learned::renewed;
  }
  if (station.fixed || now < station.held_until_ns) return Learned::held;
  if (now - station.moves_since_ns > kMoveWindowNs) {
    station.moves_since_ns = now;
    station.moves = 0;
  }
  if (++station.moves > kMovesMax) {
    station.held_until_ns = now + kHoldNs;
    return Learned::held;
  }
  if (stations_at(address) >= quota) return Learned::refused;
  --stations_at(station.address);
  if (++stations_at(address) > stations_at(most_)) most_ = address;
  station.address = address;
  station.seen_ns = station.told_ns = now;
  ++version_;
  return Learned::moved;
}

void StationTable::add_fixed(uint64_t mac, uint16_t vlan, FabricAddress address) {
  const uint32_t index = add(mac, vlan, address);
  if (index != kNotFound) stations_[index].fixed = true;  // the configuration check keeps them below the capacity
}

void StationTable::remove(uint32_t index) {
  const uint64_t packed = stations_.key_at(index);
  stations_.remove(packed, keyed_hash(packed, key_));
  stations_[index].used = false;
  --stations_at(stations_[index].address);
  if (stations_[index].address == most_) find_most();
  --used_;
  ++version_;
}

void StationTable::find_most() {
  uint32_t most = 0;
  for (const auto& [address, stations] : count_at_)
    if (stations > most) {
      most = stations;
      most_ = {static_cast<uint16_t>(address >> 16), PortIndex::of(address & 0xffff)};
    }
}

void StationTable::age(Nanos now) {
  if (now >= next_asked_ns_) {
    ++version_;
    next_asked_ns_ = now + ask_again_ns_;
  }
  // All of them within a quarter of the age, or as fast as is bearable.
  constexpr uint64_t kLooksMin = 16, kLooksMax = 4096;
  const uint64_t share = stations_.capacity() * (now - aged_ns_) / std::max<Nanos>(1, age_ns_ / 4);
  const auto looks =
      static_cast<uint32_t>(std::min<uint64_t>(std::clamp(share, kLooksMin, kLooksMax), stations_.capacity()));
  aged_ns_ = now;
  for (uint32_t i = 0; i < looks; ++i) {
    const uint32_t index = sweep_;
    sweep_ = sweep_ + 1 == stations_.capacity() ? 0 : sweep_ + 1;
    const Station& station = stations_[index];
    if (station.used && !station.fixed && now > station.seen_ns + age_ns_ + ask_again_ns_) remove(index);
  }
}

}  // namespace heddle
