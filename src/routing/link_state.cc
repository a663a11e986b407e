// SPDX-License-Identifier: Apache-2.0
#include "routing/link_state.h"

#include "topology/graph.h"

namespace heddle {

LinkState::LinkState(const Topology& topology, uint16_t self_index, bool speaks)
    : records_(topology.nodes.size()), ports_up_(all_fabric_ports(topology)), self_(self_index), speaks_(speaks) {
  originate(0);  // no link of ours has a session yet
}

uint64_t LinkState::mix(uint16_t node_index, const Record& record) {
  if (record.sequence == 0) return 0;
  uint64_t word = record.ports_up ^ (uint64_t{record.sequence} << 16 | node_index) * 0x9e3779b97f4a7c15u;
  word = (word ^ word >> 32) * 0xd6e8feb86659fd93u;
  return word ^ word >> 29;
}

void LinkState::store(uint16_t node_index, const Record& record) {
  digest_ ^= mix(node_index, records_[node_index]) ^ mix(node_index, record);
  records_[node_index] = record;
  ports_up_[node_index] = record.ports_up;
}

bool LinkState::apply(uint16_t node_index, uint32_t sequence, PortSet ports_up) {
  const Record& known = records_[node_index];
  const bool same = sequence == known.sequence && ports_up != known.ports_up;
  const bool newer = known.sequence == 0 || serial_before(known.sequence, sequence);
  if (sequence == 0 || (!newer && !same)) return false;
  if (node_index == self_ && speaks_) {
    store(self_, {after(sequence), records_[self_].ports_up});
    return true;
  }
  if (same && ports_up < known.ports_up) return false;
  store(node_index, {sequence, ports_up});
  return true;
}

bool LinkState::originate(PortSet ports_up) {
  const Record& own = records_[self_];
  if (own.sequence != 0 && own.ports_up == ports_up) return false;
  store(self_, {after(own.sequence), ports_up});
  return true;
}

}  // namespace heddle
