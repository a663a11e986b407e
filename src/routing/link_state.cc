// SPDX-License-Identifier: Apache-2.0
#include "routing/link_state.h"

#include "topology/graph.h"

namespace heddle {

namespace {
// As docs/protocol.md has it.
uint64_t mixed(uint64_t word) {
  word = (word ^ word >> 32) * 0xd6e8feb86659fd93u;
  return word ^ word >> 29;
}

uint64_t mix_ends(uint16_t node_index, const LinkState::Record& record) {
  return record.sequence == 0 ? 0 : mixed(mixed(node_index + 1u) ^ record.session_ends);
}

uint64_t mix_all(uint16_t node_index, const LinkState::Record& record) {
  if (record.sequence == 0) return 0;
  uint64_t word = mixed(uint64_t{record.sequence} << 16 | node_index);
  for (const uint64_t said :
       {record.ports_up, record.ports_settled, record.ports_kept_out, record.ends_seen, uint64_t{record.session_ends}})
    word = mixed(word ^ said);
  return word;
}
}  // namespace

LinkState::LinkState(const Topology& topology, uint16_t self_index, bool speaks)
    : records_(topology.nodes.size()), ports_up_(all_fabric_ports(topology)), self_(self_index), speaks_(speaks) {
  originate({});  // no link of ours has a session yet
}

void LinkState::store(uint16_t node_index, const Record& record) {
  const Record& known = records_[node_index];
  digest_ ^= mix_all(node_index, known) ^ mix_all(node_index, record);
  ends_seen_ ^= mix_ends(node_index, known) ^ mix_ends(node_index, record);
  records_[node_index] = record;
  ports_up_[node_index] = record.ports_up;
}

bool LinkState::apply(uint16_t node_index, const Record& record) {
  const Record& known = records_[node_index];
  const bool same = record.sequence == known.sequence && record.says() != known.says();
  const bool newer = known.sequence == 0 || serial_before(known.sequence, record.sequence);
  if (record.sequence == 0 || (!newer && !same)) return false;
  if (node_index == self_ && speaks_) {
    Record own = records_[self_];
    own.sequence = after(record.sequence);
    store(self_, own);
    return true;
  }
  if (same && record.says() < known.says()) return false;
  store(node_index, record);
  return true;
}

bool LinkState::originate(Record record) {
  const Record& own = records_[self_];
  if (own.sequence != 0 && own.says() == record.says()) return false;
  record.sequence = after(own.sequence);
  store(self_, record);
  return true;
}

}  // namespace heddle
