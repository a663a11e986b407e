// SPDX-License-Identifier: Apache-2.0
// What the command lines of all programs have in common: a word that is not known gets the one that was probably meant,
// and
// --version says what is to be said in a report of a fault.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <string>
#include <vector>

namespace heddle {

// "nodes, ports or links"
std::string joined_text(const std::vector<std::string>& names);

// One of the names; else the nearest of them is proposed.
CLI::Validator one_of(const std::vector<std::string>& names);

// Version of heddle with its commit, and of the DPDK it was built with.
std::string version_text(const std::string& program);
void add_version(CLI::App& app, const std::string& program);

// Instead of app.exit(): the same, and a proposal where a subcommand or an option is not known. The exit status.
int exit_with(const CLI::App& app, const CLI::ParseError& error);

}  // namespace heddle
