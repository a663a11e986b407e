// SPDX-License-Identifier: Apache-2.0
// Flow IDs of one output that input ports wait for (K11): for how many each waits in each virtual channel that its
// flows go on in, and whose turn it is. Owned by the output's worker. Allocates in its constructor only.
#pragma once

#include <array>
#include <bit>
#include <vector>

#include "wire/types.h"

namespace heddle {

class WantedIds {
 public:
  explicit WantedIds(uint32_t inputs) : of_input_(inputs) {}

  PortSet inputs() const { return inputs_; }                                        // that wait for any
  ChannelSet channels(PortIndex input) const { return of_input_[input].channels; }  // in which it does
  uint32_t of(PortIndex input, uint8_t channel) const { return of_input_[input].ids[channel]; }

  void add(PortIndex input, uint8_t channel, uint32_t ids) {
    inputs_ |= PortSet{1} << input;
    of_input_[input].channels = static_cast<ChannelSet>(of_input_[input].channels | 1u << channel);
    of_input_[input].ids[channel] += ids;
  }
  // It has so many of them, or has been told that there are none.
  void answered(PortIndex input, uint8_t channel, uint32_t ids) {
    Input& waiting = of_input_[input];
    if ((waiting.ids[channel] -= ids) != 0) return;
    waiting.channels = static_cast<ChannelSet>(waiting.channels & ~(1u << channel));
    if (waiting.channels == 0) inputs_ &= ~(PortSet{1} << input);
  }
  // Whose turn it is; there is one. The next one's it is from then on.
  PortIndex next_input() {
    const PortSet later = inputs_ & ~((PortSet{1} << turn_) - 1);
    const auto input = PortIndex::of(std::countr_zero(later != 0 ? later : inputs_));
    turn_ = PortIndex::of((input + 1) % kPortsMax);
    return input;
  }
  // The same of the channels in which the input waits.
  uint8_t next_channel(PortIndex input) {
    Input& waiting = of_input_[input];
    const unsigned later = waiting.channels & ~0u << waiting.turn;
    const auto channel = static_cast<uint8_t>(std::countr_zero(later != 0 ? later : waiting.channels));
    waiting.turn = static_cast<uint8_t>((channel + 1) % kVirtualChannels);
    return channel;
  }

 private:
  struct Input {
    std::array<uint32_t, kVirtualChannels> ids{};  // by channel: that it waits for
    ChannelSet channels = 0;                       // in which it waits for any
    uint8_t turn = 0;                              // of its channels
  };

  std::vector<Input> of_input_;
  PortSet inputs_ = 0;
  PortIndex turn_ = 0;
};

}  // namespace heddle
