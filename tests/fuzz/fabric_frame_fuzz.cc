// SPDX-License-Identifier: Apache-2.0
// Any bytes from a fabric link: checked as they are, and again with type, version and check put right, so
// that the rules behind the check and the readers are reached. What passes is read in full.
#include <cstdlib>

#include "tests/unit/packet_builder.h"
#include "wire/fabric_frame.h"

namespace heddle {
namespace {

// Sums all that the readers return, so that nothing is optimised away and every byte is touched.
template <typename Range, typename Read>
uint64_t read_all(const Range& records, const Read& read) {
  uint64_t sum = 0;
  for (const auto record : records) sum += read(record);
  return sum;
}

uint64_t read_frame(uint8_t* data, uint32_t length, const LinkFrame& link) {
  uint64_t sum = 0;
  sum += read_all(ack_records(link), [](const AckRecord& ack) { return uint64_t{ack.ack_flow} + ack.asked_by; });
  sum += read_all(probe_records(link), [](const ProbeRecord& probe) { return uint64_t{probe.data_flow}; });
  sum += read_all(credit_records(link), [](const CreditRecord& credit) { return uint64_t{credit.limit}; });
  sum +=
      read_all(notice_records(link), [](const NoticeRecord& notice) { return notice.ports_up ^ notice.ports_settled; });
  sum += read_all(load_records(link), [](const LoadRecord& load) { return uint64_t{load.waiting_ns}; });
  if (link.kind == HEDDLE_HELLO) {
    Hello hello;
    read_hello(link, hello);
    sum += std::string_view(hello.node_name).size() + std::string_view(hello.port_name).size();
  }
  if (link.kind == HEDDLE_DATA) {
    Packet packet{};
    packet.data = data;
    packet.length = static_cast<uint16_t>(length);
    read_data_header(packet);
    strip_fabric_header(packet);
    if (packet.length < HEDDLE_ETHERNET_BYTES || packet.data + packet.length > data + length) std::abort();
  }
  return sum;
}

void repair(uint8_t* data, uint32_t length) {
  if (length < kLinkHeaderEnd) return;
  store_be16(data + 12, HEDDLE_ETHERTYPE);
  data[14] = HEDDLE_VERSION;
  const uint8_t kind = data[15];
  uint32_t bytes = sizeof(heddle_hello);
  if (kind == HEDDLE_DATA) bytes = sizeof(heddle_data_header);
  if (kind >= HEDDLE_ACK && kind <= HEDDLE_LOAD && length >= kRecordsStart) {
    constexpr uint32_t kEach[] = {0, 0, 20, 8, 12, 16, 8};
    bytes = static_cast<uint32_t>(sizeof(heddle_record_header)) + load_be16(data + 30) * kEach[kind];
  }
  if (bytes <= length - HEDDLE_ETHERNET_BYTES) store_be32(data + 26, header_check(data + 14, bytes));
}

volatile uint64_t sink;

}  // namespace
}  // namespace heddle

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heddle;
  if (size > 0xffff) return 0;
  test::ExactBuffer copy(data, size);
  LinkFrame link;
  for (int round = 0; round < 2; ++round) {
    if (check_frame(copy.data(), copy.size(), link) == DropReason::none) {
      sink = read_frame(copy.data(), copy.size(), link);
    }
    repair(copy.data(), copy.size());
  }
  return 0;
}
