// SPDX-License-Identifier: Apache-2.0
// Lanes: the pairs (class, virtual channel) that frames wait in apart from each other, at every output and on the way
// to it (X2). Each class has one of channel 0, a lossless one has its lossless channels' besides: lane 0 to classes - 1
// are those of channel 0.
#pragma once

#include <array>

#include "topology/topology.h"
#include "topology/virtual_channels.h"

namespace heddle {

constexpr uint32_t kLanesMax = 64;
using LaneSet = uint64_t;  // bit l: lane l

class Lanes {
 public:
  explicit Lanes(const Topology& topology) {
    of_.fill(kNoLane);
    const auto add = [this](const TrafficClass& traffic_class, uint8_t channel) {
      channel_[count_] = channel;
      ftag_[count_] = traffic_class.ftag;
      of_[traffic_class.ftag * kVirtualChannels + channel] = LaneIndex::of(count_++);
      if (traffic_class.lossless != (channel != kLossyChannel)) return;
      const bool in_turn = traffic_class.lossless && traffic_class.link_retry;
      uint8_t& valid = valid_[in_turn][traffic_class.ftag];
      valid = static_cast<uint8_t>(valid | 1u << channel);
      if (in_turn) retry_lanes_ |= LaneSet{1} << (count_ - 1);
    };
    for (const TrafficClass& traffic_class : topology.classes) add(traffic_class, kLossyChannel);
    for (const TrafficClass& traffic_class : topology.classes) {
      if (!traffic_class.lossless) continue;
      lossless_ftags_ = static_cast<uint16_t>(lossless_ftags_ | 1u << traffic_class.ftag);
      channels_ = static_cast<uint8_t>(kFirstLosslessChannel + topology.lossless_channels);
      for (uint8_t channel = kFirstLosslessChannel; channel < channels_; ++channel) add(traffic_class, channel);
    }
  }

  // Of unicast frames; floods go in channel 0, whatever their class. Is there such a pair, in the link's retry channel
  // (K6) or outside of it?
  bool valid(uint8_t ftag, uint8_t channel, bool in_turn) const { return valid_[in_turn][ftag] >> channel & 1; }
  bool has(uint8_t ftag) const { return of(ftag, kLossyChannel) != kNoLane; }  // a class of that FTAG
  LaneIndex of(uint8_t ftag, uint8_t channel) const { return of_[ftag * kVirtualChannels + channel]; }
  // Position among the topology's classes, of one of that FTAG.
  uint8_t class_of(uint8_t ftag) const { return static_cast<uint8_t>(of(ftag, kLossyChannel)); }
  uint8_t channel(LaneIndex lane) const { return channel_[lane]; }
  uint8_t ftag(LaneIndex lane) const { return ftag_[lane]; }
  bool lossless(uint8_t ftag) const { return lossless_ftags_ >> ftag & 1; }
  bool any_lossless() const { return lossless_ftags_ != 0; }
  bool retry(LaneIndex lane) const { return retry_lanes_ >> lane & 1; }
  bool any_retry() const { return retry_lanes_ != 0; }
  uint32_t count() const { return count_; }
  uint8_t channels() const { return channels_; }  // of a link: 1 without lossless classes

  // How many lanes a topology has; more than kLanesMax cannot be had.
  static uint32_t needed(const Topology& topology) {
    uint32_t lanes = 0;
    for (const TrafficClass& traffic_class : topology.classes)
      lanes += 1 + (traffic_class.lossless ? topology.lossless_channels : 0);
    return lanes;
  }

 private:
  static constexpr LaneIndex kNoLane = 0xff;
  std::array<LaneIndex, kClassesMax * kVirtualChannels> of_;
  std::array<std::array<uint8_t, kClassesMax>, 2>
      valid_{};  // by FTAG, outside the retry channel and in it: bit per channel
  std::array<uint8_t, kLanesMax> channel_{};
  std::array<uint8_t, kLanesMax> ftag_{};
  uint32_t count_ = 0;
  uint16_t lossless_ftags_ = 0;
  LaneSet retry_lanes_ = 0;
  uint8_t channels_ = 1;
};

}  // namespace heddle
