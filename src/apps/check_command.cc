// SPDX-License-Identifier: Apache-2.0
#include "apps/check_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include "apps/fabric_of_file.h"
#include "apps/findings.h"
#include "config/lab_file.h"
#include "config/node_file.h"
#include "config/resolved_fabric.h"
#include "machine/doctor.h"

namespace heddle {

namespace {

constexpr const char* kServiceFile = "/etc/heddle/node.yaml";

template <typename Config>
Config or_errors(std::optional<Config> config, const ConfigErrors& errors) {
  if (config) return std::move(*config);
  std::fputs(errors.text().c_str(), stderr);
  throw CLI::RuntimeError(EXIT_FAILURE);
}

void check(const std::vector<std::string>& files) {
  bool sound = true;
  for (const std::string& file : files) {
    ConfigErrors errors;
    const std::optional<FileKind> kind = file_kind(file, errors);
    if (kind && load_fabric(*kind, file, errors)) {
      std::printf("%s: %s, no problem found\n", file.c_str(), std::string(file_kind_name(*kind)).c_str());
      continue;
    }
    std::fputs(errors.text().c_str(), stderr);
    sound = false;
  }
  if (!sound) throw CLI::RuntimeError(EXIT_FAILURE);
}

void dump(const std::string& file) {
  ConfigErrors errors;
  const FileKind kind = or_errors(file_kind(file, errors), errors);
  std::fputs(resolved_fabric(or_errors(load_fabric(kind, file, errors), errors)).c_str(), stdout);
}

Findings examine(const std::string& file) {
  if (file.empty()) return examine_this_machine();
  ConfigErrors errors;
  switch (or_errors(file_kind(file, errors), errors)) {
    case FileKind::node:
      return examine_process(or_errors(load_node_file(file, errors), errors));
    case FileKind::lab:
      return examine_lab(or_errors(load_lab(file, errors), errors));
    default:
      throw std::runtime_error(file + " asks nothing of a machine; give a node file or a lab file");
  }
}

void doctor(const std::string& file, bool json) {
  if (!print_findings(examine(file), json)) throw CLI::RuntimeError(EXIT_FAILURE);
}

}  // namespace

void add_check_command(CLI::App& app) {
  struct Options {
    std::vector<std::string> files;
    bool dump = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("check", "Say what is wrong with node, topology and lab files and scenarios");
  command->add_option("file", options->files, "files of any kind")->required();
  command->add_flag("--dump", options->dump,
                    "of one file: print its settings and classes with every key, defaults too");
  command->callback([options] {
    if (!options->dump) return check(options->files);
    if (options->files.size() > 1) throw CLI::ValidationError("--dump", "takes one file");
    dump(options->files.front());
  });
}

void add_doctor_command(CLI::App& app) {
  struct Options {
    std::string file;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("doctor", "Say what is wrong with this machine, and what mends it");
  command->add_option("file", options->file,
                      std::string("for what this node file or lab file wants of it; else ") + kServiceFile +
                          ", and without that what the machine has to offer");
  command->add_flag("--json", options->json, "as JSON");
  command->callback([options] {
    if (options->file.empty() && std::filesystem::exists(kServiceFile)) options->file = kServiceFile;
    doctor(options->file, options->json);
  });
}

}  // namespace heddle
