// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <rte_version.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "config/yaml_value.h"
#include "version.h"

namespace heddle {

namespace {

std::string nearest_of(const std::string& word, const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return std::string(nearest_name(word, views));
}

// What could stand where the word does: subcommands and options of the innermost command that was understood.
std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    words.push_back(command->get_name());
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  return words;
}

const CLI::App& innermost(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : innermost(*parsed.back());
}

}  // namespace

std::string joined_text(const std::vector<std::string>& names) {
  const std::vector<std::string_view> views(names.begin(), names.end());
  return joined(views);
}

CLI::Validator one_of(const std::vector<std::string>& names) {
  return CLI::Validator(
      [names](std::string& word) -> std::string {
        if (std::find(names.begin(), names.end(), word) != names.end()) return {};
        const std::string nearest = nearest_of(word, names);
        return "found " + printable(word) + ", " +
               (nearest.empty() ? "allowed " + joined_text(names) : "did you mean " + nearest + "?");
      },
      "");
}

std::string version_text(const std::string& program) {
  return program + " " + HEDDLE_VERSION_TEXT + " (" + HEDDLE_COMMIT + "), DPDK " + std::to_string(RTE_VER_YEAR) + "." +
         (RTE_VER_MONTH < 10 ? "0" : "") + std::to_string(RTE_VER_MONTH) + "." + std::to_string(RTE_VER_MINOR);
}

void add_version(CLI::App& app, const std::string& program) {
  app.set_version_flag("--version", version_text(program));
}

int exit_with(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<std::string> not_understood = app.remaining(true);
  if (error.get_exit_code() == 0 || not_understood.empty()) return app.exit(error);
  const std::string nearest = nearest_of(not_understood.front(), words_of(innermost(app)));
  std::fprintf(stderr, "%s: found %s%s%s%s; --help tells what there is\n", app.get_name().c_str(),
               printable(not_understood.front()).c_str(), nearest.empty() ? "" : ", did you mean ", nearest.c_str(),
               nearest.empty() ? "" : "?");
  return error.get_exit_code();
}

}  // namespace heddle
