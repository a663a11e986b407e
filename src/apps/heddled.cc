// SPDX-License-Identifier: Apache-2.0
// heddled: runs one node, or several, or all switches of a lab, until it is told to stop.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "cli/command_line.h"
#include "config/file_kind.h"
#include "config/lab_file.h"
#include "config/node_file.h"
#include "lab/lab_names.h"
#include "machine/doctor.h"
#include "service/daemon.h"

namespace {

using namespace heddle;

struct Arguments {
  std::string file;
  bool is_lab = false;
  bool check = false;
};

// A lab file can be checked without being told what it is.
std::optional<ProcessConfig> load(const Arguments& arguments, ConfigErrors& errors) {
  if (!arguments.is_lab) {
    const std::optional<FileKind> kind = file_kind(arguments.file, errors);
    if (!kind) return std::nullopt;
    if (*kind != FileKind::node && !(*kind == FileKind::lab && arguments.check)) {
      const std::string use = *kind == FileKind::lab ? "; `heddle lab up` runs that" : "; `heddle check` judges any";
      errors.add({arguments.file, 1, 1, "", "a " + std::string(file_kind_name(*kind)) + use, "a node file"});
      return std::nullopt;
    }
    if (*kind == FileKind::node) return load_node_file(arguments.file, errors);
  }
  const std::optional<LabConfig> lab = load_lab(arguments.file, errors);
  if (!lab) return std::nullopt;
  return lab_process(*lab);
}

// What `heddle doctor` says is bad.
void tell_what_mends(const ProcessConfig& process) {
  for (const Finding& finding : examine_process(process)) {
    if (finding.severity != Severity::bad) continue;
    std::fprintf(stderr, "heddled: %s %s%s%s\n", finding.place.c_str(), finding.text.c_str(),
                 finding.mend.empty() ? "" : "; mend: ", finding.mend.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Runs the switches that a node file or a lab file describes.", "heddled");
  app.add_option("file", arguments.file, "node file (YAML)")->required();
  app.add_flag("--lab", arguments.is_lab, "the file is a lab file; its interfaces have been made by `heddle lab up`");
  app.add_flag("--check", arguments.check, "only say what is wrong with the file");
  add_version(app, "heddled");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return exit_with(app, error);
  }
  ConfigErrors errors;
  std::optional<ProcessConfig> config = load(arguments, errors);
  if (!config) {
    std::fputs(errors.text().c_str(), stderr);
    return EXIT_FAILURE;
  }
  if (arguments.check) {
    std::printf("%s: no problem found\n", arguments.file.c_str());
    return EXIT_SUCCESS;
  }
  const ProcessConfig wanted = *config;
  try {
    run_daemon(std::move(*config), [arguments](ConfigErrors& found) { return load(arguments, found); });
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddled: %s\n", error.what());
    tell_what_mends(wanted);
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
