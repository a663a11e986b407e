// SPDX-License-Identifier: Apache-2.0
#include "routing/link_state.h"

#include <utility>

#include "topology/graph.h"

namespace heddle {

LinkState::LinkState(const Topology& topology, uint16_t self_index, bool speaks)
    : records_(topology.nodes.size()), ports_up_(all_fabric_ports(topology)), self_(self_index), speaks_(speaks) {
  originate(0, 0);  // no link of ours has a session yet
}

uint64_t LinkState::mix(uint16_t node_index, const Record& record) {
  if (record.sequence == 0) return 0;
  uint64_t word = record.ports_up ^ record.ports_settled * 0xff51afd7ed558ccdu ^
                  (uint64_t{record.sequence} << 16 | node_index) * 0x9e3779b97f4a7c15u;
  word = (word ^ word >> 32) * 0xd6e8feb86659fd93u;
  return word ^ word >> 29;
}

void LinkState::store(uint16_t node_index, const Record& record) {
  digest_ ^= mix(node_index, records_[node_index]) ^ mix(node_index, record);
  records_[node_index] = record;
  ports_up_[node_index] = record.ports_up;
}

bool LinkState::apply(uint16_t node_index, const Record& record) {
  const Record& known = records_[node_index];
  const bool same = record.sequence == known.sequence && !record.says_as(known);
  const bool newer = known.sequence == 0 || serial_before(known.sequence, record.sequence);
  if (record.sequence == 0 || (!newer && !same)) return false;
  if (node_index == self_ && speaks_) {
    const Record& own = records_[self_];
    store(self_, {after(record.sequence), own.ports_up, own.ports_settled});
    return true;
  }
  const auto masks = [](const Record& one) { return std::pair{one.ports_up, one.ports_settled}; };
  if (same && masks(record) < masks(known)) return false;
  store(node_index, record);
  return true;
}

bool LinkState::originate(PortSet ports_up, PortSet ports_settled) {
  const Record& own = records_[self_];
  const Record next{after(own.sequence), ports_up, ports_settled};
  if (own.sequence != 0 && own.says_as(next)) return false;
  store(self_, next);
  return true;
}

}  // namespace heddle
