// SPDX-License-Identifier: Apache-2.0
// docs/protocol.md is byte-exact: its tables, constants, example frames and test vectors are compared with
// include/heddle/*.h and with what the encoder makes, in both directions.
#include <gtest/gtest.h>

#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/unit/packet_builder.h"
#include "wire/fabric_frame.h"
#include "wire/fgfc.h"

namespace heddle::protocol_document_test {
namespace {

using test::Bytes;
using test::TestPacket;

std::string read_file(const std::string& name) {
#ifdef HEDDLE_SOURCE_ROOT
  const std::filesystem::path root = HEDDLE_SOURCE_ROOT;
#else
  const std::filesystem::path root = std::filesystem::path(__FILE__).parent_path() / ".." / "..";
#endif
  std::ifstream file(root / name);
  EXPECT_TRUE(file.good()) << name << ": run the test where the source tree is";
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
std::vector<std::string> lines_of(const std::string& name) {
  std::istringstream text(read_file(name));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}
std::vector<std::string> document_lines() { return lines_of("docs/protocol.md"); }

// "| 4 | 2 | `name` |" as {"4", "2", "`name`"}; empty if the line is no table row.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  if (line.empty() || line[0] != '|') return cells;
  std::istringstream text(line.substr(1));
  for (std::string cell; std::getline(text, cell, '|');) {
    const size_t first = cell.find_first_not_of(' ');
    cells.push_back(first == std::string::npos ? "" : cell.substr(first, cell.find_last_not_of(' ') + 1 - first));
  }
  return cells;
}
std::optional<uint64_t> number(const std::string& text) {
  char* end = nullptr;
  if (text.empty() || text.find_first_of("0123456789") != 0) return {};
  const uint64_t value = std::strtoull(text.c_str(), &end, 0);
  return *end == 0 ? std::optional<uint64_t>(value) : std::nullopt;
}
// What stands between backticks; empty if that is not all of the text.
std::string quoted(const std::string& text) {
  if (text.size() < 2 || text.front() != '`' || text.back() != '`') return "";
  return text.substr(1, text.size() - 2);
}
// The identifier that starts at `at`.
std::string identifier(const std::string& text, size_t at) {
  size_t end = at;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
  return text.substr(at, end - at);
}

struct Field {
  size_t offset;
  size_t size;
  std::string name;
  bool operator==(const Field&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Field& field) {
  return out << field.offset << " | " << field.size << " | " << field.name;
}
using Layouts = std::map<std::string, std::vector<Field>>;

#define HEDDLE_FIELD(type, field) \
  Field { offsetof(type, field), sizeof(type::field), #field }

// Every field of every struct on the wire; that none is missing shows in their filling the struct (see the
// tests).
Layouts header_layouts() {
  using L = heddle_link_header;
  using D = heddle_data_header;
  using A = heddle_ack_record;
  using R = heddle_record_header;
  using P = heddle_probe_record;
  using C = heddle_credit_record;
  using N = heddle_notice_record;
  using Y = heddle_retry_record;
  using O = heddle_load_record;
  using H = heddle_hello;
  using G = heddle_fgfc_header;
  using F = heddle_fgfc_pause;
  return {
      {"heddle_link_header",
       {HEDDLE_FIELD(L, version), HEDDLE_FIELD(L, kind), HEDDLE_FIELD(L, channel), HEDDLE_FIELD(L, flags),
        HEDDLE_FIELD(L, session_tag), HEDDLE_FIELD(L, sequence), HEDDLE_FIELD(L, check)}},
      {"heddle_data_header",
       {HEDDLE_FIELD(D, link), HEDDLE_FIELD(D, flow_id), HEDDLE_FIELD(D, ftag), HEDDLE_FIELD(D, vc),
        HEDDLE_FIELD(D, data_flow), HEDDLE_FIELD(D, destination_node), HEDDLE_FIELD(D, via),
        HEDDLE_FIELD(D, source_node), HEDDLE_FIELD(D, destination_port), HEDDLE_FIELD(D, source_port),
        HEDDLE_FIELD(D, vni), HEDDLE_FIELD(D, life), HEDDLE_FIELD(D, hop_limit), HEDDLE_FIELD(D, priority),
        HEDDLE_FIELD(D, length)}},
      {"heddle_record_header", {HEDDLE_FIELD(R, link), HEDDLE_FIELD(R, count), HEDDLE_FIELD(R, reserved)}},
      {"heddle_ack_record",
       {HEDDLE_FIELD(A, flow_id), HEDDLE_FIELD(A, flags), HEDDLE_FIELD(A, severity), HEDDLE_FIELD(A, ack_flow),
        HEDDLE_FIELD(A, lost_total), HEDDLE_FIELD(A, credit_limit), HEDDLE_FIELD(A, asked_by),
        HEDDLE_FIELD(A, reserved)}},
      {"heddle_probe_record", {HEDDLE_FIELD(P, flow_id), HEDDLE_FIELD(P, reserved), HEDDLE_FIELD(P, data_flow)}},
      {"heddle_credit_record",
       {HEDDLE_FIELD(C, vc), HEDDLE_FIELD(C, flags), HEDDLE_FIELD(C, reserved), HEDDLE_FIELD(C, sent_total),
        HEDDLE_FIELD(C, limit)}},
      {"heddle_notice_record",
       {HEDDLE_FIELD(N, node), HEDDLE_FIELD(N, reserved), HEDDLE_FIELD(N, sequence), HEDDLE_FIELD(N, ports_up),
        HEDDLE_FIELD(N, ports_settled), HEDDLE_FIELD(N, ports_kept_out), HEDDLE_FIELD(N, ends_seen),
        HEDDLE_FIELD(N, session_ends), HEDDLE_FIELD(N, reserved2)}},
      {"heddle_retry_record",
       {HEDDLE_FIELD(Y, channel), HEDDLE_FIELD(Y, flags), HEDDLE_FIELD(Y, round), HEDDLE_FIELD(Y, sequence)}},
      {"heddle_load_record",
       {HEDDLE_FIELD(O, port), HEDDLE_FIELD(O, ftag), HEDDLE_FIELD(O, flows), HEDDLE_FIELD(O, busy),
        HEDDLE_FIELD(O, part), HEDDLE_FIELD(O, waiting)}},
      {"heddle_hello",
       {HEDDLE_FIELD(H, link), HEDDLE_FIELD(H, nonce), HEDDLE_FIELD(H, echo), HEDDLE_FIELD(H, topology_hash),
        HEDDLE_FIELD(H, notice_digest), HEDDLE_FIELD(H, node), HEDDLE_FIELD(H, port), HEDDLE_FIELD(H, peer_node),
        HEDDLE_FIELD(H, peer_port), HEDDLE_FIELD(H, buffer_bytes), HEDDLE_FIELD(H, credits),
        HEDDLE_FIELD(H, notice_sequence), HEDDLE_FIELD(H, reserved), HEDDLE_FIELD(H, node_name),
        HEDDLE_FIELD(H, port_name)}},
      {"heddle_fgfc_header",
       {HEDDLE_FIELD(G, identifier), HEDDLE_FIELD(G, version), HEDDLE_FIELD(G, kind), HEDDLE_FIELD(G, flags)}},
      {"heddle_fgfc_pause",
       {HEDDLE_FIELD(F, header),     HEDDLE_FIELD(F, number),         HEDDLE_FIELD(F, timer_us),
        HEDDLE_FIELD(F, credit),     HEDDLE_FIELD(F, node),           HEDDLE_FIELD(F, port),
        HEDDLE_FIELD(F, fields),     HEDDLE_FIELD(F, vlan),           HEDDLE_FIELD(F, l3),
        HEDDLE_FIELD(F, protocol),   HEDDLE_FIELD(F, destination),    HEDDLE_FIELD(F, dscp),
        HEDDLE_FIELD(F, reserved),   HEDDLE_FIELD(F, source_port),    HEDDLE_FIELD(F, destination_port),
        HEDDLE_FIELD(F, flow_label), HEDDLE_FIELD(F, source_address), HEDDLE_FIELD(F, destination_address),
        HEDDLE_FIELD(F, vni),        HEDDLE_FIELD(F, process)}},
  };
}

const std::map<std::string, size_t> kStructBytes = {
    {"heddle_link_header", sizeof(heddle_link_header)},     {"heddle_data_header", sizeof(heddle_data_header)},
    {"heddle_record_header", sizeof(heddle_record_header)}, {"heddle_ack_record", sizeof(heddle_ack_record)},
    {"heddle_probe_record", sizeof(heddle_probe_record)},   {"heddle_credit_record", sizeof(heddle_credit_record)},
    {"heddle_notice_record", sizeof(heddle_notice_record)}, {"heddle_retry_record", sizeof(heddle_retry_record)},
    {"heddle_load_record", sizeof(heddle_load_record)},     {"heddle_hello", sizeof(heddle_hello)},
    {"heddle_fgfc_header", sizeof(heddle_fgfc_header)},     {"heddle_fgfc_pause", sizeof(heddle_fgfc_pause)},
};

// Rows "| 4 | 2 | `name` | ..." under a heading that names the struct: "### ACK record: `heddle_ack_record`,
// 20 bytes".
Layouts document_layouts(std::map<std::string, size_t>& struct_bytes) {
  Layouts layouts;
  std::string current;
  for (const std::string& line : document_lines()) {
    if (!line.empty() && line[0] == '#') {
      const size_t name = line.find("`heddle_");
      current = name == std::string::npos ? "" : identifier(line, name + 1);
      if (!current.empty()) struct_bytes[current] = std::stoul(line.substr(line.rfind(',') + 1));
      continue;
    }
    const auto cells = cells_of(line);
    if (cells.size() < 3 || !number(cells[0]) || !number(cells[1])) continue;
    EXPECT_FALSE(current.empty()) << "a row under no struct: " << line;
    layouts[current].push_back({*number(cells[0]), *number(cells[1]), quoted(cells[2])});
  }
  return layouts;
}

std::vector<std::string> header_lines() {
  std::vector<std::string> lines = lines_of("include/heddle/frames.h");
  for (std::string& line : lines_of("include/heddle/fgfc.h")) lines.push_back(std::move(line));
  return lines;
}

// Constants of the headers: numeric #defines and enumerators.
std::map<std::string, uint64_t> header_constants() {
  std::map<std::string, uint64_t> constants;
  for (const std::string& line : header_lines()) {
    std::istringstream text(line);
    std::string first, second, third;
    text >> first >> second >> third;
    const bool enumerator = first.rfind("HEDDLE_", 0) == 0 && second == "=" && third.back() == ',';
    if (enumerator) third.pop_back();
    if (!enumerator && (first != "#define" || second.rfind("HEDDLE_", 0) != 0)) continue;
    if (const auto value = number(third)) constants[enumerator ? first : second] = *value;
  }
  return constants;
}

// Rows "| `NAME` | value | ...".
std::map<std::string, uint64_t> document_constants() {
  std::map<std::string, uint64_t> constants;
  for (const std::string& line : document_lines()) {
    const auto cells = cells_of(line);
    if (cells.size() < 2 || quoted(cells[0]).rfind("HEDDLE_", 0) != 0 || !number(cells[1])) continue;
    EXPECT_TRUE(constants.emplace(quoted(cells[0]), *number(cells[1])).second) << line << ": twice";
  }
  return constants;
}

// Blocks "```hex name" of lines "0010  00 11 22 ..".
std::map<std::string, Bytes> document_examples() {
  std::map<std::string, Bytes> examples;
  std::string current;
  for (const std::string& line : document_lines()) {
    if (line.rfind("```", 0) == 0) {
      current = line.rfind("```hex ", 0) == 0 ? line.substr(7) : "";
    } else if (!current.empty()) {
      std::istringstream text(line);
      std::string word;
      text >> word;
      EXPECT_EQ(std::stoul(word, nullptr, 16), examples[current].size()) << current << ": " << line;
      while (text >> word) examples[current].push_back(static_cast<uint8_t>(std::stoul(word, nullptr, 16)));
    }
  }
  return examples;
}

std::string hex_dump(const Bytes& bytes) {
  std::string text;
  char buffer[32];
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % 16 == 0) {
      std::snprintf(buffer, sizeof(buffer), "%s%04zx ", i == 0 ? "" : "\n", i);
      text += buffer;
    }
    std::snprintf(buffer, sizeof(buffer), " %02x", bytes[i]);
    text += buffer;
  }
  return text;
}

// The values that the document states in words above each example.
constexpr uint64_t kNonceLeaf = 0x0123456789abcdef;   // node 1, port 2
constexpr uint64_t kNonceSpine = 0xfedcba9876543210;  // node 3, port 0
constexpr FlowId kFlow = 600;

Bytes example_data() {
  Bytes original = test::PacketBuilder().ethernet(0x020000000002, 0x020000000001).ether_type(0x9000).build();
  for (const char c : std::string_view("heddle")) original.push_back(static_cast<uint8_t>(c));
  TestPacket test(original);
  test.packet.ftag = 5;
  test.packet.destination = {4, 6};
  test.packet.source = {1, 7};
  test.packet.vni = 42;
  test.packet.hop_limit = 32;
  test.packet.priority = 5 << 1;
  prepend_fabric_header(test.packet);
  stamp_data_frame(test.packet, {.session_tag = session_tag(kNonceLeaf, kNonceSpine),
                                 .vc = 1,
                                 .channel = HEDDLE_RETRY_CHANNEL,
                                 .flags = HEDDLE_DATA_LOSSLESS,
                                 .sequence = 1,
                                 .flow = kFlow,
                                 .data_flow = first_position(kNonceLeaf, kNonceSpine, kFlow),
                                 .life_units = life_units(50 * kMillisecond),
                                 .start = data_frame_start(port_mac({1, 2}))});
  return test.bytes();
}

template <typename Record>
Bytes example_record(uint8_t kind, uint32_t sequence, FabricAddress sender, const Record& record) {
  TestPacket test;
  start_records(test.packet, kind);
  EXPECT_TRUE(append_record(test.packet, record));
  finish_records(test.packet, session_tag(kNonceLeaf, kNonceSpine), sequence, port_mac(sender));
  return test.bytes();
}

Bytes example_hello() {
  Hello hello{};
  hello.nonce = kNonceLeaf;
  hello.echo = kNonceSpine;
  hello.topology_hash = 0x1111111111111111;
  hello.notice_digest = 0x2222222222222222;
  hello.node = 1;
  hello.port = 2;
  hello.peer_node = 3;
  hello.peer_port = 0;
  hello.buffer_bytes = 2048;
  hello.credits = 1024;
  hello.notice_sequence = 6;
  hello.set_names("leaf-1", "up-1");
  TestPacket test;
  write_hello(test.packet, hello, 0, port_mac({1, 2}));
  return test.bytes();
}

// Between a switch and its host (G1): no session, no check.
std::map<std::string, Bytes> host_examples() {
  FgfcPause pause{.flow = {.fields = HEDDLE_FGFC_ADDRESSES | HEDDLE_FGFC_PORTS,
                           .l3 = 4,
                           .protocol = 17,
                           .source_port = 4000,
                           .destination_port = 53,
                           .destination = 0x020000000002},
                  .number = 9,
                  .timer_ns = 200 * kMillisecond,
                  .credit = 65536,
                  .by = {1, 2}};
  pause.flow.source_address = {10, 0, 0, 1};
  pause.flow.destination_address = {10, 0, 0, 2};
  TestPacket announcement, told;
  write_fgfc_announcement(announcement.packet, true, 0x020000000001);
  write_fgfc_pause(told.packet, pause, 0x020000000001, port_mac({1, 2}));
  return {{"announcement", announcement.bytes()}, {"pause", told.bytes()}};
}

std::map<std::string, Bytes> encoder_examples() {
  const uint32_t start = first_position(kNonceLeaf, kNonceSpine, kFlow);
  constexpr FabricAddress kLeaf{1, 2};
  constexpr FabricAddress kSpine{3, 0};
  const AckRecord ack{.flow = kFlow,
                      .flags = HEDDLE_ACK_CONGESTION_PERSISTENT,
                      .severity = 3,
                      .ack_flow = start + 20,
                      .lost_total = 0,
                      .credit_limit = 0,
                      .asked_by = 1};
  return {
      {"data", example_data()},
      {"ack", example_record(HEDDLE_ACK, 9, kSpine, ack)},
      {"probe", example_record(HEDDLE_PROBE, 2, kLeaf, ProbeRecord{kFlow, start + 20})},
      {"credit", example_record(HEDDLE_CREDIT, 10, kSpine, CreditRecord{0, HEDDLE_CREDIT_ASK, 12, 1025})},
      {"notice",
       example_record(HEDDLE_NOTICE, 11, kSpine, NoticeRecord{3, 7, 0x0b, 0x30, 0x10, 0x1122334455667788, 5})},
      {"load", example_record(HEDDLE_LOAD, 12, kSpine, LoadRecord{1, 0, 3, 0x8000, 0xffff, 65536})},
      {"retry",
       example_record(HEDDLE_RETRY, 13, kSpine, RetryRecord{HEDDLE_RETRY_CHANNEL, HEDDLE_RETRY_MISSING, 0, 41})},
      {"hello", example_hello()},
  };
}

TEST(ProtocolDocument, FieldListOfThisTestFillsEveryStruct) {
  for (const auto& [name, fields] : header_layouts()) {
    size_t end = 0;
    for (const Field& field : fields) {
      EXPECT_EQ(field.offset, end) << name << "." << field.name;
      end = field.offset + field.size;
    }
    EXPECT_EQ(end, kStructBytes.at(name)) << name;
  }
}

TEST(ProtocolDocument, KnowsEveryStructOfTheHeader) {
  size_t found = 0;
  for (const std::string& line : header_lines()) {
    if (line.rfind("struct heddle_", 0) != 0 || line.back() != '{') continue;
    const std::string name = identifier(line, 7);
    EXPECT_TRUE(kStructBytes.contains(name)) << name << " is new: add it here and to the document";
    ++found;
  }
  EXPECT_EQ(found, kStructBytes.size());
}

TEST(ProtocolDocument, TablesMatchTheHeader) {
  std::map<std::string, size_t> struct_bytes;
  const Layouts documented = document_layouts(struct_bytes);
  const Layouts actual = header_layouts();
  EXPECT_EQ(struct_bytes, kStructBytes);
  for (const auto& [name, fields] : actual) {
    ASSERT_TRUE(documented.contains(name)) << name << " has no table";
    EXPECT_EQ(documented.at(name), fields) << name;
  }
  EXPECT_EQ(documented.size(), actual.size());
}

TEST(ProtocolDocument, ConstantsMatchTheHeader) {
  const auto actual = header_constants();
  EXPECT_GT(actual.size(), 20u);
  EXPECT_EQ(document_constants(), actual);
}

TEST(ProtocolDocument, ExamplesAreWhatTheEncoderMakes) {
  const auto documented = document_examples();
  for (const auto& [name, frame] : encoder_examples()) {
    ASSERT_TRUE(documented.contains(name)) << name << " has no example; it is\n" << hex_dump(frame);
    EXPECT_EQ(documented.at(name), frame) << name << " is\n" << hex_dump(frame);
    LinkFrame link;
    EXPECT_EQ(check_frame(frame.data(), static_cast<uint32_t>(frame.size()), link), DropReason::none) << name;
  }
  for (const auto& [name, frame] : host_examples()) {
    ASSERT_TRUE(documented.contains(name)) << name << " has no example; it is\n" << hex_dump(frame);
    EXPECT_EQ(documented.at(name), frame) << name << " is\n" << hex_dump(frame);
  }
  EXPECT_EQ(documented.size(), encoder_examples().size() + host_examples().size());
}

// Rows "| `first_position(1, 2, 3)` | `result` |".
TEST(ProtocolDocument, TestVectorsMatchTheFunctions) {
  size_t vectors = 0;
  for (const std::string& line : document_lines()) {
    const auto cells = cells_of(line);
    if (cells.size() < 2 || cells[0].find('(') == std::string::npos) continue;
    const std::string call = quoted(cells[0]);
    std::vector<uint64_t> arguments;
    std::istringstream text(call.substr(call.find('(') + 1));
    for (std::string argument; std::getline(text, argument, ',');) {
      arguments.push_back(std::stoull(argument, nullptr, 0));
    }
    if (call.rfind("session_tag(", 0) == 0 && arguments.size() == 2) {
      EXPECT_EQ(session_tag(arguments[0], arguments[1]), number(quoted(cells[1]))) << line;
    } else if (call.rfind("first_position(", 0) == 0 && arguments.size() == 3) {
      const auto flow = FlowId::of(arguments[2]);
      EXPECT_EQ(first_position(arguments[0], arguments[1], flow), number(quoted(cells[1]))) << line;
    } else {
      continue;
    }
    ++vectors;
  }
  EXPECT_EQ(vectors, 7u);
}

}  // namespace
}  // namespace heddle::protocol_document_test
