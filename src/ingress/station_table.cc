// SPDX-License-Identifier: Apache-2.0
#include "ingress/station_table.h"

#include <algorithm>

namespace heddle {

StationTable::StationTable(uint32_t capacity, Nanos age_ns, const HashKey& key)
    : key_(key), table_(capacity, sizeof(uint64_t)), stations_(capacity), age_ns_(age_ns) {}

uint32_t StationTable::index_of(uint64_t mac, uint16_t vlan) const {
  const uint64_t packed = pack(mac, vlan);
  return table_.find(&packed, keyed_hash<8>(&packed, key_));
}

const Station* StationTable::find(uint64_t mac, uint16_t vlan) const {
  const uint32_t index = index_of(mac, vlan);
  return index == kNotFound ? nullptr : &stations_[index];
}

uint32_t& StationTable::stations_at(FabricAddress address) {
  for (Quota& quota : quotas_)
    if (quota.address == address) return quota.stations;
  quotas_.push_back({address, 0});
  return quotas_.back().stations;
}

Learned StationTable::learn(uint64_t mac, uint16_t vlan, FabricAddress address, uint32_t quota, Nanos now) {
  uint32_t index = index_of(mac, vlan);
  if (index == kNotFound) {
    if (used_ == table_.capacity() || stations_at(address) >= quota) return Learned::refused;
    const uint64_t packed = pack(mac, vlan);
    index = table_.add(&packed, keyed_hash<8>(&packed, key_));
    if (index == kNotFound) return Learned::refused;
    stations_[index] = {.seen_ns = now,
                        .moves_since_ns = now,
                        .held_until_ns = 0,
                        .address = address,
                        .moves = 0,
                        .used = true,
                        .fixed = false};
    ++used_;
    ++stations_at(address);
    ++version_;
    return Learned::added;
  }
  Station& station = stations_[index];
  if (station.address == address) {
    station.seen_ns = now;
    return Learned::known;
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
  ++stations_at(address);
  station.address = address;
  station.seen_ns = now;
  ++version_;
  return Learned::moved;
}

void StationTable::add_fixed(uint64_t mac, uint16_t vlan, FabricAddress address) {
  const uint64_t packed = pack(mac, vlan);
  const uint32_t index = table_.add(&packed, keyed_hash<8>(&packed, key_));
  if (index == kNotFound) return;  // the configuration check keeps static stations below the capacity
  stations_[index] = {.seen_ns = 0,
                      .moves_since_ns = 0,
                      .held_until_ns = 0,
                      .address = address,
                      .moves = 0,
                      .used = true,
                      .fixed = true};
  ++used_;
  ++stations_at(address);
}

void StationTable::remove(uint32_t index) {
  const uint64_t packed = *static_cast<const uint64_t*>(table_.key_at(index));
  table_.remove(&packed, keyed_hash<8>(&packed, key_));
  stations_[index].used = false;
  --stations_at(stations_[index].address);
  --used_;
  ++version_;
}

void StationTable::age(Nanos now) {
  constexpr uint32_t kLooks = 16;
  const auto looks = std::min<uint32_t>(kLooks, static_cast<uint32_t>(stations_.size()));
  for (uint32_t i = 0; i < looks; ++i) {
    const uint32_t index = sweep_;
    sweep_ = sweep_ + 1 == stations_.size() ? 0 : sweep_ + 1;
    const Station& station = stations_[index];
    if (station.used && !station.fixed && now > station.seen_ns + age_ns_) remove(index);
  }
}

}  // namespace heddle
