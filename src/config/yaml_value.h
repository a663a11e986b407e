// SPDX-License-Identifier: Apache-2.0
// A place in a YAML document, with strict typed reads. A read of a key that is not there leaves `out` as it
// is and reports nothing (require() does); a read of something else than asked for reports it, leaves `out`
// as it is and gives false. A value is cheap to copy and lives no longer than its document and its list of
// errors.
#pragma once

#include <concepts>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/config_errors.h"
#include "config/yaml_document.h"
#include "wire/types.h"

namespace heddle {

class YamlValue {
 public:
  YamlValue() = default;
  YamlValue(const YamlDocument& document, ConfigErrors& errors);

  bool present() const { return node_ != nullptr; }
  bool is(YamlNode::Kind kind) const { return present() && node_->kind == kind; }
  const std::string& path() const { return path_; }
  const std::string& key() const { return key_; }  // last part of the path, of values in maps
  // The text of a scalar, else empty.
  std::string_view text() const;

  // Report a problem here; the first form shows what stands here. at_key: of the key rather than of what it
  // holds.
  void problem(const std::string& allowed) const { problem(described(), allowed); }
  void problem(const std::string& found, const std::string& allowed) const;
  void problem_at_key(const std::string& found, const std::string& allowed) const;

  // Problems reported so far, by any value: tells whether a part was read without any.
  size_t errors_so_far() const { return errors_->size(); }

  // False and reported if absent.
  bool require(const std::string& allowed) const;

  // Maps. expect_map: false and reported if this is something else, or for each key that is not among `keys`;
  // an empty value counts as an empty map. expect_free_map: the same for maps whose keys are names.
  bool expect_map(std::span<const std::string_view> keys) const;
  bool expect_free_map(const std::string& of_what) const;
  YamlValue operator[](std::string_view key) const;
  std::vector<YamlValue> entries() const;
  bool has(std::string_view key) const { return (*this)[key].present(); }

  // Lists: false and reported if this is something else. items() of another kind is empty.
  bool expect_list(const std::string& of_what) const;
  std::vector<YamlValue> items() const;

  // Scalars.
  bool read_text(std::string& out, size_t bytes_max = 255) const;  // no control characters, not empty
  bool read_bool(bool& out) const;
  bool read_duration(Nanos& out, Nanos min, Nanos max) const;
  bool read_rate(uint64_t& out, uint64_t min, uint64_t max) const;
  bool read_size(uint64_t& out, uint64_t min, uint64_t max) const;
  bool read_loss(uint32_t& out_ppm) const;
  bool read_ratio(uint32_t& out_ppm) const;  // a share that may be above 100%, up to 400000%
  bool read_mac(uint64_t& out) const;        // of one station: neither zero nor a group address
  // One of the names; `out` = its index.
  bool read_choice(size_t& out, std::span<const std::string_view> names) const;
  template <std::unsigned_integral T>
  bool read_integer(T& out, uint64_t min = 0, uint64_t max = std::numeric_limits<T>::max()) const {
    uint64_t value = 0;
    if (!read_number(value, min, max)) return false;
    out = static_cast<T>(value);
    return true;
  }

 private:
  YamlValue child(const YamlNode::Child& child, std::string path) const;
  bool read_number(uint64_t& out, uint64_t min, uint64_t max) const;
  // What stands here, short and printable.
  std::string described() const;
  void report(YamlMark mark, const std::string& found, const std::string& allowed) const;

  const YamlDocument* document_ = nullptr;
  ConfigErrors* errors_ = nullptr;
  const YamlNode* node_ = nullptr;  // nullptr = absent
  YamlMark key_mark_;               // absent: of the map it is missing from
  std::string key_;
  std::string path_;
};

// The one of `names` that `text` was probably meant to be; empty if none is near.
std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names);

// For a message about a name that is not known: the nearest of `names`, or `otherwise`. Not looked for once there are
// more problems than are shown, since it takes time in the number of names.
std::string suggested_name(const YamlValue& at, std::string_view text, std::span<const std::string_view> names,
                           const std::string& otherwise);

// "a, b or c"
std::string joined(std::span<const std::string_view> names);

// Text of a file for a message: at most 60 bytes of it, without control characters.
std::string printable(std::string_view text);

// A name of a node, port, host or class: a letter or digit, then letters, digits, '-' and '_', at most
// `bytes_max`.
bool is_name(std::string_view text, size_t bytes_max);

}  // namespace heddle
