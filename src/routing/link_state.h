// SPDX-License-Identifier: Apache-2.0
// State of the links of the configured graph as this worker knows it (W6, R12): one record per node, newest sequence
// wins. It says which links are up, of which that are down nothing is left on its way (K9), and which neighbours are
// kept out, because all have given them up (R12, dead_neighbours.h). A node that restarts counts anew and may reach a
// sequence that its former life has used: of two records with the same sequence all nodes keep the one that says
// more (says()), and the node itself answers with a later one, so the two never stand side by side for ever. A digest
// of all records rides in every hello; where it differs the records are sent again, so a lost notice is healed within a
// hello interval.
#pragma once

#include <tuple>
#include <vector>

#include "topology/topology.h"
#include "wire/types.h"

namespace heddle {

class LinkState {
 public:
  struct Record {
    uint32_t sequence = 0;  // 0 = nothing heard: all its links count as up
    PortSet ports_up = 0;
    PortSet ports_settled = 0;
    PortSet ports_kept_out = 0;
    uint64_t ends_seen = 0;     // ends_seen() of that node, as it began to keep them out; 0: it keeps out none
    uint32_t session_ends = 0;  // at all its ports since it began, and from some number on

    auto says() const { return std::tie(ports_up, ports_settled, ports_kept_out, session_ends, ends_seen); }
  };

  // `speaks`: this worker tells the node's own record; the others take it from it.
  LinkState(const Topology& topology, uint16_t self_index, bool speaks);

  // True if the record is news. To the worker that speaks for this node, a newer or a different record about it is from
  // before a restart: it keeps its own, with a sequence past that one, and that is the news.
  bool apply(uint16_t node_index, const Record& record);
  // This node's own record, with the next sequence if it says anything else than the one before. True if it does.
  bool originate(Record record);

  const Record& record(uint16_t node_index) const { return records_[node_index]; }
  const std::vector<PortSet>& ports_up() const { return ports_up_; }
  uint64_t digest() const { return digest_; }
  // Which ends of sessions are known, of all nodes: two that have seen the same ones have the same number.
  uint64_t ends_seen() const { return ends_seen_; }

 private:
  static uint32_t after(uint32_t sequence) { return sequence + 1 != 0 ? sequence + 1 : 1; }  // 0 means nothing heard
  void store(uint16_t node_index, const Record& record);

  std::vector<Record> records_;
  std::vector<PortSet> ports_up_;  // by node index, as the graph functions want it
  uint64_t digest_ = 0;            // xor over all records heard
  uint64_t ends_seen_ = 0;         // the same of their session_ends alone
  uint16_t self_;
  bool speaks_;
};

}  // namespace heddle
