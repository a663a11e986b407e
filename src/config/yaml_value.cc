// SPDX-License-Identifier: Apache-2.0
#include "config/yaml_value.h"

#include <algorithm>
#include <numeric>

#include "config/units.h"

namespace heddle {

namespace {

using Kind = YamlNode::Kind;

// Insertions, deletions and replacements that make one text out of the other.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

YamlValue::YamlValue(const YamlDocument& document, ConfigErrors& errors)
    : document_(&document), errors_(&errors), node_(&document.root()), key_mark_(document.root().mark) {}

std::string_view YamlValue::text() const {
  return is(Kind::kScalar) ? std::string_view(node_->scalar) : std::string_view();
}

void YamlValue::report(YamlMark mark, const std::string& found, const std::string& allowed) const {
  errors_->add({document_->file_name(), mark.line, mark.column, path_, found, allowed});
}

void YamlValue::problem(const std::string& found, const std::string& allowed) const {
  report(present() ? node_->mark : key_mark_, found, allowed);
}

void YamlValue::problem_at_key(const std::string& found, const std::string& allowed) const {
  report(key_mark_, found, allowed);
}

bool YamlValue::require(const std::string& allowed) const {
  if (!present()) report(key_mark_, "nothing", allowed);
  return present();
}

std::string YamlValue::described() const {
  if (!present() || node_->kind == Kind::kNull) return "nothing";
  if (node_->kind == Kind::kList) return "a list";
  if (node_->kind == Kind::kMap) return "a map";
  const std::string shown = printable(node_->scalar);
  return node_->quoted ? "\"" + shown + "\"" : shown;
}

bool YamlValue::expect_map(std::span<const std::string_view> keys) const {
  if (!present() || node_->kind == Kind::kNull) return true;
  if (node_->kind != Kind::kMap) {
    problem("a map");
    return false;
  }
  bool good = true;
  for (const YamlValue& entry : entries()) {
    if (std::find(keys.begin(), keys.end(), entry.key()) != keys.end()) continue;
    entry.problem_at_key("an unknown key", suggested_name(entry, entry.key(), keys, joined(keys)));
    good = false;
  }
  return good;
}

bool YamlValue::expect_free_map(const std::string& of_what) const {
  if (!present() || node_->kind == Kind::kMap) return true;
  problem("a map of " + of_what);
  return false;
}

bool YamlValue::expect_list(const std::string& of_what) const {
  if (!present() || node_->kind == Kind::kList) return true;
  problem("a list of " + of_what);
  return false;
}

YamlValue YamlValue::child(const YamlNode::Child& child, std::string path) const {
  YamlValue value(*this);
  value.node_ = &document_->node(child.node);
  value.path_ = std::move(path);
  value.key_ = child.key;
  value.key_mark_ = is(Kind::kMap) ? child.key_mark : value.node_->mark;
  return value;
}

YamlValue YamlValue::operator[](std::string_view key) const {
  const std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  if (is(Kind::kMap)) {
    for (const YamlNode::Child& entry : node_->children) {
      if (entry.key == key) return child(entry, path);
    }
  }
  YamlValue absent(*this);
  absent.node_ = nullptr;
  absent.path_ = path;
  absent.key_ = key;
  return absent;
}

std::vector<YamlValue> YamlValue::entries() const {
  std::vector<YamlValue> values;
  if (!is(Kind::kMap)) return values;
  for (const YamlNode::Child& entry : node_->children) {
    values.push_back(child(entry, path_.empty() ? entry.key : path_ + "." + entry.key));
  }
  return values;
}

std::vector<YamlValue> YamlValue::items() const {
  std::vector<YamlValue> values;
  if (!is(Kind::kList)) return values;
  for (const YamlNode::Child& item : node_->children) {
    values.push_back(child(item, path_ + "[" + std::to_string(values.size()) + "]"));
  }
  return values;
}

bool YamlValue::read_text(std::string& out, size_t bytes_max) const {
  if (!present()) return false;
  if (text().empty() || text().size() > bytes_max || std::any_of(text().begin(), text().end(), is_control)) {
    problem("1 to " + std::to_string(bytes_max) + " characters of text");
    return false;
  }
  out = text();
  return true;
}

bool YamlValue::read_bool(bool& out) const {
  if (!present()) return false;
  const bool plain = is(Kind::kScalar) && !node_->quoted;
  if (plain && (text() == "true" || text() == "false")) {
    out = text() == "true";
    return true;
  }
  problem("true or false");
  return false;
}

bool YamlValue::read_number(uint64_t& out, uint64_t min, uint64_t max) const {
  if (!present()) return false;
  const auto value = parse_integer(text());
  if (!value || node_->quoted || *value < min || *value > max) {
    problem(std::to_string(min) + " to " + std::to_string(max));
    return false;
  }
  out = *value;
  return true;
}

bool YamlValue::read_duration(Nanos& out, Nanos min, Nanos max) const {
  if (!present()) return false;
  const auto value = parse_duration(text());
  if (!value || *value < min || *value > max) {
    problem(format_duration(min) + " to " + format_duration(max));
    return false;
  }
  out = *value;
  return true;
}

bool YamlValue::read_rate(uint64_t& out, uint64_t min, uint64_t max) const {
  if (!present()) return false;
  const auto value = parse_rate(text());
  if (!value || *value < min || *value > max) {
    problem(format_rate(min) + " to " + format_rate(max) + " bits per second");
    return false;
  }
  out = *value;
  return true;
}

bool YamlValue::read_size(uint64_t& out, uint64_t min, uint64_t max) const {
  if (!present()) return false;
  const auto value = parse_size(text());
  if (!value || *value < min || *value > max) {
    problem(format_size(min) + " to " + format_size(max) + " bytes");
    return false;
  }
  out = *value;
  return true;
}

bool YamlValue::read_loss(uint32_t& out_ppm) const {
  constexpr uint64_t kMillion = 1'000'000;
  if (!present()) return false;
  const auto value = parse_loss_ppm(text());
  if (!value || *value > kMillion) {
    problem("0% to 100%, in steps of 1ppm");
    return false;
  }
  out_ppm = static_cast<uint32_t>(*value);
  return true;
}

bool YamlValue::read_ratio(uint32_t& out_ppm) const {
  constexpr uint64_t kMost = 4'000'000'000;
  if (!present()) return false;
  const auto value = parse_loss_ppm(text());
  if (!value || *value > kMost) {
    problem("0% to 400000%, as in 105%");
    return false;
  }
  out_ppm = static_cast<uint32_t>(*value);
  return true;
}

bool YamlValue::read_mac(uint64_t& out) const {
  constexpr uint64_t kGroupBit = uint64_t{1} << 40;
  if (!present()) return false;
  const auto value = parse_mac(text());
  if (!value || *value == 0 || (*value & kGroupBit) != 0) {
    problem("the MAC address of one station, as in 02:00:00:00:00:0a");
    return false;
  }
  out = *value;
  return true;
}

bool YamlValue::read_choice(size_t& out, std::span<const std::string_view> names) const {
  if (!present()) return false;
  const auto it = std::find(names.begin(), names.end(), text());
  if (it == names.end()) {
    problem(joined(names));
    return false;
  }
  out = static_cast<size_t>(it - names.begin());
  return true;
}

std::string_view nearest_name(std::string_view text, std::span<const std::string_view> names) {
  constexpr size_t kTextBytesMax = 64;  // the distance takes time in the product of both
  if (text.size() > kTextBytesMax) return {};
  std::string_view best;
  size_t best_distance = text.size() / 3 + 2;  // at this distance it is another word
  for (std::string_view name : names) {
    const size_t distance = edit_distance(text, name);
    if (distance >= best_distance) continue;
    best = name;
    best_distance = distance;
  }
  return best;
}

std::string suggested_name(const YamlValue& at, std::string_view text, std::span<const std::string_view> names,
                           const std::string& otherwise) {
  if (at.errors_so_far() >= ConfigErrors::kMax) return otherwise;
  const std::string_view near = nearest_name(text, names);
  return near.empty() ? otherwise : std::string(near);
}

std::string joined(std::span<const std::string_view> names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i != 0) out += i + 1 == names.size() ? " or " : ", ";
    out += names[i];
  }
  return out;
}

std::string printable(std::string_view text) {
  constexpr size_t kBytesMax = 60;
  std::string out(text.substr(0, kBytesMax));
  std::replace_if(out.begin(), out.end(), is_control, '?');
  return text.size() > kBytesMax ? out + "..." : out;
}

bool is_name(std::string_view text, size_t bytes_max) {
  const auto is_word = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  if (text.empty() || text.size() > bytes_max || !is_word(text[0])) return false;
  return std::all_of(text.begin(), text.end(), [&](char c) { return is_word(c) || c == '-' || c == '_'; });
}

}  // namespace heddle
