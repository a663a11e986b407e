// SPDX-License-Identifier: Apache-2.0
#include "config/units.h"

#include <charconv>
#include <limits>
#include <span>

namespace heddle {

namespace {

struct Unit {
  std::string_view suffix;
  uint64_t factor;
};

// Smallest first; the last one that divides a value is the one it is shown in.
constexpr Unit kDurations[] = {{"ns", 1}, {"us", kMicrosecond}, {"ms", kMillisecond}, {"s", kSecond}};
constexpr Unit kRates[] = {{"", 1}, {"k", 1000}, {"M", 1000'000}, {"G", 1000'000'000}, {"T", 1000'000'000'000}};
constexpr Unit kSizes[] = {{"B", 1}, {"k", 1024}, {"M", 1024 * 1024}, {"G", 1024 * 1024 * 1024}};
constexpr Unit kLosses[] = {{"ppm", 1}, {"%", 10'000}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// value * factor + digit, or nullopt where that does not fit.
std::optional<uint64_t> extend(uint64_t value, uint64_t factor, uint64_t digit) {
  uint64_t result = 0;
  if (__builtin_mul_overflow(value, factor, &result) || __builtin_add_overflow(result, digit, &result)) {
    return std::nullopt;
  }
  return result;
}

// digits [. digits] suffix, where the suffix is that of one unit with a name.
std::optional<uint64_t> parse_scaled(std::string_view text, std::span<const Unit> units) {
  uint64_t number = 0;
  uint64_t divisor = 1;
  size_t at = 0;
  bool point = false;
  for (; at < text.size() && (is_digit(text[at]) || (text[at] == '.' && !point && at > 0)); ++at) {
    if (text[at] == '.') {
      point = true;
      continue;
    }
    const auto longer = extend(number, 10, static_cast<uint64_t>(text[at] - '0'));
    if (!longer) return std::nullopt;
    number = *longer;
    if (!point) continue;
    const auto larger = extend(divisor, 10, 0);
    if (!larger) return std::nullopt;
    divisor = *larger;
  }
  if (at == 0 || text[at - 1] == '.') return std::nullopt;
  for (const Unit& unit : units) {
    if (unit.suffix.empty() || unit.suffix != text.substr(at)) continue;
    const auto scaled = extend(number, unit.factor, 0);
    if (!scaled || *scaled % divisor != 0) return std::nullopt;
    return *scaled / divisor;
  }
  return std::nullopt;
}

std::string format_scaled(uint64_t value, std::span<const Unit> units) {
  const Unit* best = &units.front();
  for (const Unit& unit : units) {
    if (value != 0 && value % unit.factor == 0) best = &unit;
  }
  return std::to_string(value / best->factor).append(best->suffix);
}

}  // namespace

std::optional<uint64_t> parse_integer(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Nanos> parse_duration(std::string_view text) { return parse_scaled(text, kDurations); }
std::optional<uint64_t> parse_rate(std::string_view text) { return parse_scaled(text, kRates); }
std::optional<uint64_t> parse_size(std::string_view text) { return parse_scaled(text, kSizes); }
std::optional<uint64_t> parse_loss_ppm(std::string_view text) { return parse_scaled(text, kLosses); }

std::optional<uint64_t> parse_mac(std::string_view text) {
  constexpr size_t kTextBytes = 17;
  if (text.size() != kTextBytes) return std::nullopt;
  uint64_t mac = 0;
  for (size_t at = 0; at < kTextBytes; at += 3) {
    uint8_t byte = 0;
    const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + 2, byte, 16);
    if (error != std::errc{} || end != text.data() + at + 2) return std::nullopt;
    if (at + 2 < kTextBytes && text[at + 2] != ':') return std::nullopt;
    mac = mac << 8 | byte;
  }
  return mac;
}

std::string format_duration(Nanos nanoseconds) { return format_scaled(nanoseconds, kDurations); }
std::string format_rate(uint64_t bits_per_second) { return format_scaled(bits_per_second, kRates); }
std::string format_size(uint64_t bytes) { return format_scaled(bytes, kSizes); }

}  // namespace heddle
