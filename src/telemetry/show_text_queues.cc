// SPDX-License-Identifier: Apache-2.0
#include "telemetry/row_text.h"
#include "telemetry/show_tables_text.h"

namespace heddle {

using namespace row_text;

// Classes that nothing is to be told of are left out.
std::string queues_text(const Json& reply) {
  TextTable classes({{"PORT"},
                     {"CLASS"},
                     {"IN QUEUES", Align::right},
                     {"MOST", Align::right},
                     {"DROPPED", Align::right},
                     {"AT OUTPUT", Align::right},
                     {"MOST", Align::right},
                     {"DROPPED", Align::right}});
  bool any = false;
  for (const Json& row : reply.at("classes")) {
    const auto used = [&row](const char* key) { return number(row, key) != 0; };
    if (!used("in_most_bytes") && !used("in_dropped_frames") && !used("out_most_bytes") && !used("out_dropped_frames"))
      continue;
    any = true;
    classes.add({place(row), text(row, "class"), bytes(row, "in_bytes"), bytes(row, "in_most_bytes"),
                 count(row, "in_dropped_frames"), bytes(row, "out_bytes"), bytes(row, "out_most_bytes"),
                 count(row, "out_dropped_frames")});
  }
  const std::string text = any ? classes.text() : "nothing has waited in any queue\n";
  if (!reply.contains("groups") || reply["groups"].empty()) return text;
  TextTable groups({{"PORT"},
                    {"GROUP", Align::right},
                    {"NAME"},
                    {"IN QUEUES", Align::right},
                    {"MOST", Align::right},
                    {"DROPPED", Align::right}});
  for (const Json& row : reply["groups"])
    groups.add({place(row), exact(row, "group"), row.value("name", "-"), bytes(row, "bytes"), bytes(row, "most_bytes"),
                count(row, "dropped_frames")});
  return text + "\n" + groups.text();
}

}  // namespace heddle
