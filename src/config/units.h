// SPDX-License-Identifier: Apache-2.0
// Numbers with units, as people write them. Exact: what is no whole number of the base unit is refused, never
// rounded. Every parse function gives nullopt for text that is not of its form or does not fit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "wire/types.h"

namespace heddle {

std::optional<uint64_t> parse_integer(std::string_view text);   // decimal digits only
std::optional<Nanos> parse_duration(std::string_view text);     // 50us, 10ms, 1.5s: ns, us, ms, s
std::optional<uint64_t> parse_rate(std::string_view text);      // 100M, 2.5G: bits per second; k, M, G, T of 1000
std::optional<uint64_t> parse_size(std::string_view text);      // 256k, 1G: bytes; k, M, G of 1024
std::optional<uint64_t> parse_loss_ppm(std::string_view text);  // 0.1%, 20ppm
std::optional<uint64_t> parse_mac(std::string_view text);       // 02:00:00:00:00:0a

// The shortest form that reads back as the same value.
std::string format_duration(Nanos nanoseconds);
std::string format_rate(uint64_t bits_per_second);
std::string format_size(uint64_t bytes);

}  // namespace heddle
