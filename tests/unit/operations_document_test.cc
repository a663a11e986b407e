// SPDX-License-Identifier: Apache-2.0
// docs/operations.md explains all that an operator gets to see: each column of each table of `heddle show` and `heddle
// trace`, each reason of a drop and of a link that is down, each kind of event. The names come from the sources: a new
// one that is not explained fails here.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "switch_process_fixture.h"
#include "telemetry/inspect.h"
#include "telemetry/link_reason.h"
#include "telemetry/transit_flows.h"

namespace heddle::operations_document_test {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

const fs::path kRoot = HEDDLE_SOURCE_ROOT;

std::string text_of(const fs::path& path) {
  std::ifstream file(kRoot / path);
  EXPECT_TRUE(file.good()) << path << ": run the test where the source tree is";
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// All sources of a folder, one behind the other.
std::string sources_in(const fs::path& folder) {
  std::string text;
  for (const auto& entry : fs::directory_iterator(kRoot / folder)) text += text_of(entry.path());
  return text;
}

// What the first group of the pattern finds, in order.
Texts matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  Texts found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) found.push_back((*at)[1]);
  return found;
}

std::string document() { return text_of("docs/operations.md"); }

// From one headline of the second level to the next, by its text.
std::vector<std::pair<std::string, std::string>> sections() {
  std::vector<std::pair<std::string, std::string>> all;
  std::istringstream in(document());
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("## ")) all.emplace_back(line.substr(3), "");
    if (!all.empty()) all.back().second += line + "\n";
  }
  return all;
}

std::string section(const std::string& headline) {
  for (const auto& [name, text] : sections())
    if (name == headline) return text;
  return {};
}

bool has_row(const std::string& text, const std::string& name) {
  return text.find("\n| `" + name + "` | ") != std::string::npos;
}

// The titles of the tables that the sources make, table by table. Some columns have none.
std::vector<Texts> tables_of_sources() {
  std::vector<Texts> tables;
  for (const std::string& columns : matches(sources_in("src/telemetry"), R"(TextTable \w+\(\{([^;]*)\}\);)")) {
    tables.emplace_back();
    for (std::string& title : matches(columns, R"re("([^"]*)")re"))
      if (!title.empty()) tables.back().push_back(std::move(title));
  }
  return tables;
}

// Columns of an output stand two spaces apart or more.
bool shows_table(const std::string& text, const Texts& titles) {
  std::string line;
  for (const std::string& title : titles) line += (line.empty() ? "\n *" : " {2,}") + title;
  return std::regex_search(text, std::regex(line + "\n"));
}

TEST(OperationsDocument, ExplainsEachColumnWhereItShowsTheTable) {
  const std::vector<Texts> tables = tables_of_sources();
  EXPECT_GE(tables.size(), 15u) << "the tables are no longer found in the sources";
  for (const Texts& titles : tables) {
    ASSERT_GE(titles.size(), 3u);
    std::string shown;
    for (const auto& [name, text] : sections()) {
      if (!name.starts_with("heddle ") || !shows_table(text, titles)) continue;
      shown = name;
      for (const std::string& title : titles)
        EXPECT_TRUE(has_row(text, title))
            << "section " << name << " shows the column " << title << " and does not explain it";
    }
    EXPECT_NE(shown, "") << "no output has the titles " << testing::PrintToString(titles);
  }
}

TEST(OperationsDocument, HasASectionForEachTable) {
  const Texts lists = matches(text_of("src/telemetry/show_command.cc"), R"(kTables\{([^}]*)\};)");
  ASSERT_EQ(lists.size(), 1u);
  const Texts names = matches(lists[0], R"re("(\w+)")re");
  EXPECT_GE(names.size(), 12u);
  for (const std::string& name : names) {
    const std::string text = section(name == "events" ? "Events" : "heddle show " + name);
    EXPECT_NE(text.find("$ heddle show " + name), std::string::npos) << name;
  }
}

TEST(OperationsDocument, ExplainsEachDropReason) {
  const std::string text = section("Drop reasons");
  for (const std::string_view reason : kDropReasonNames) EXPECT_TRUE(has_row(text, std::string(reason))) << reason;
  const std::string inspect = text_of("src/telemetry/inspect.h");
  Texts below = matches(inspect.substr(inspect.find("losses_below(")), R"re("([a-z_]+)")re");
  EXPECT_GE(below.size(), 6u);
  below.push_back("lost_on_wire");
  for (const std::string& reason : below) EXPECT_TRUE(has_row(text, reason)) << reason;
  // None that is no more.
  const std::string sources = text_of("src/wire/drop_reason.h") + inspect + text_of("src/telemetry/show_drops.cc");
  for (const std::string& reason : matches(text, R"re(\n\| `(\w+)` \|)re"))
    EXPECT_TRUE(std::regex_search(sources, std::regex("\\b" + reason + "\\b"))) << reason << " is not in the sources";
}

TEST(OperationsDocument, ExplainsEachStateOfAFlow) {
  const std::string text = section("heddle show flows");
  const auto expect_row = [&](const std::string& state) { EXPECT_TRUE(has_row(text, state)) << state; };
  for (unsigned state = 0; std::string(state_text(static_cast<FlowState>(state), false)) != "?"; ++state)
    expect_row(state_text(static_cast<FlowState>(state), false));
  expect_row(state_text(FlowState::idle, true));
}

TEST(OperationsDocument, ExplainsEachKindOfEvent) {
  const std::string sources = sources_in("src/telemetry") + sources_in("src/service");
  Texts kinds = matches(sources, R"re(kind = "(\w+)")re");
  for (std::string& kind : matches(sources, R"re(tell\(context, [^"]*, "(\w+)")re")) kinds.push_back(std::move(kind));
  EXPECT_GE(kinds.size(), 8u);
  for (const std::string& kind : kinds) EXPECT_TRUE(has_row(section("Events"), kind)) << kind;
}

class OperationsDocumentLinks : public SwitchProcessTest {
 protected:
  static void expect_explained(const std::string& reason) {
    const std::string text = section("Why a link is down");
    EXPECT_NE(text.find("\n- `" + reason + "`: "), std::string::npos) << reason;
  }
  std::string reason_of_link() const { return show_links(*process, {})["links"][0]["reason"].get<std::string>(); }
};

// Ports as PORT, numbers as N.
TEST_F(OperationsDocumentLinks, EachReasonIsExplained) {
  const TopologyPort& port = process->topology().nodes[0].ports[0];
  for (uint32_t i = 0; i < kLinkDownReasons; ++i) {
    const auto reason = static_cast<LinkDownReason>(i);
    if (reason == LinkDownReason::none) continue;
    expect_explained(link_down_text(reason));
    std::string text = link_reason(*process, port, reason, "right:host");
    text = std::regex_replace(text, std::regex(R"(\w+:\w+)"), "PORT");
    expect_explained(std::regex_replace(text, std::regex(R"(\d+)"), "N"));
  }
}

TEST_F(OperationsDocumentLinks, ReasonsOfAnOperatorAreExplained) {
  run_for(kSecond);
  process->change_link({0, 0}, {.up = false, .loss_ppm = {}, .delay_ns = {}});
  run_for(kSecond);
  expect_explained(reason_of_link());
  process->change_link({0, 0}, {.up = true, .loss_ppm = {}, .delay_ns = {}});
  process->set_node_up(0, false);
  run_for(kSecond);
  EXPECT_EQ(reason_of_link(), "node is down");
  expect_explained(reason_of_link());
}

}  // namespace
}  // namespace heddle::operations_document_test
