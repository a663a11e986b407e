// SPDX-License-Identifier: Apache-2.0
// heddle: the operator's command. Asks a running heddled, and brings labs up and down.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "apps/check_command.h"
#include "apps/topology_command.h"
#include "cli/command_line.h"
#include "lab/lab_command.h"
#include "telemetry/clear_command.h"
#include "telemetry/show_command.h"
#include "telemetry/trace_command.h"

int main(int argc, char** argv) {
  const std::vector<std::string> exec_command = heddle::take_exec_command(argc, argv);
  CLI::App app("Looks into a heddle fabric and runs labs.", "heddle");
  heddle::add_version(app, "heddle");
  app.require_subcommand(1);
  heddle::add_show_command(app);
  heddle::add_trace_command(app);
  heddle::add_clear_command(app);
  heddle::add_lab_command(app, exec_command);
  heddle::add_check_command(app);
  heddle::add_doctor_command(app);
  heddle::add_topology_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return heddle::exit_with(app, error);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "heddle: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
