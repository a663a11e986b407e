// SPDX-License-Identifier: Apache-2.0
#include "lab/lab_command.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>

#include "cli/text_table.h"
#include "config/units.h"
#include "lab/lab.h"
#include "lab/lab_hostds.h"
#include "lab/lab_names.h"
#include "lab/lab_state.h"
#include "telemetry/operator_client.h"

namespace heddle {

namespace {

struct LabOptions {
  std::string file, host, port, node, loss, delay;
  bool json = false, up = false, down = false, replace = false, force = false;
};

LabConfig load_or_throw(const std::string& file) {
  ConfigErrors errors;
  std::optional<LabConfig> lab = load_lab(file, errors);
  if (!lab) throw std::runtime_error("the lab file has problems:\n" + errors.text());
  return std::move(*lab);
}

// A lab is named by its file or, once it is there, by its name.
std::string lab_name(const std::string& file_or_name) {
  if (lab_present(file_or_name)) return file_or_name;
  if (!std::filesystem::is_regular_file(file_or_name))
    throw std::runtime_error(file_or_name +
                             " is neither a lab that is up nor a file; of a lab whose folder is lost, give the file");
  return load_or_throw(file_or_name).name;
}

// heddled and heddle-hostd stand beside heddle, or where PATH has them.
std::string path_of(const std::string& program) {
  const std::filesystem::path beside = std::filesystem::read_symlink("/proc/self/exe").parent_path() / program;
  if (std::filesystem::exists(beside)) return beside;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');)
    if (std::filesystem::exists(folder + "/" + program)) return folder + "/" + program;
  throw std::runtime_error("there is no " + program + " beside heddle nor in PATH");
}

std::string addresses_text(const nlohmann::json& interface) {
  std::string text = interface.value("address_v4", "");
  const std::string second = interface.value("address_v6", "");
  return text.empty() || second.empty() ? text + second : text + " " + second;
}

// "-" of hosts without.
std::string hostd_text(const nlohmann::json& host) {
  if (!host.contains("hostd")) return "-";
  return host["hostd"]["pid"].dump() + (host["hostd"]["alive"].get<bool>() ? "" : " (dead)");
}

std::string status_text(const nlohmann::json& status) {
  TextTable table({{"HOST"}, {"INTERFACE"}, {"PORT"}, {"ADDRESSES"}, {"HOSTD"}, {"NAMESPACE"}});
  for (const auto& host : status.at("hosts")) {
    const std::string name_space =
        host["namespace"].get<std::string>() + (host["present"].get<bool>() ? "" : " (missing)");
    for (const auto& interface : host.at("interfaces"))
      table.add({host["host"], interface["name"], interface["port"], addresses_text(interface), hostd_text(host),
                 name_space});
  }
  const nlohmann::json& heddled = status.at("heddled");
  const nlohmann::json& links = status.at("links");
  std::string text = "lab " + status["lab"].get<std::string>() + ": " + (status["up"].get<bool>() ? "up" : "not up");
  text += ", heddled " + heddled["pid"].dump() + (heddled["alive"].get<bool>() ? "" : " (dead)");
  if (!links.is_null()) text += ", " + links["up"].dump() + " of " + links["total"].dump() + " links up";
  return text + "\n" + table.text();
}

void print_status(const std::string& lab, bool json) {
  const nlohmann::json status = lab_status(lab);
  std::fputs((json ? status.dump(2) + "\n" : status_text(status)).c_str(), stdout);
}

void up(const LabOptions& options) {
  const LabConfig lab = load_or_throw(options.file);
  const bool made =
      lab_up(lab, {.file = options.file,
                   .heddled = path_of("heddled"),
                   .hostd = wants_hostds(lab) ? path_of("heddle-hostd") : std::string{},
                   .replace = options.replace,
                   .tell_restart = [](const std::string& why) { std::fprintf(stderr, "%s\n", why.c_str()); }});
  if (!options.json) std::printf("lab %s %s\n", lab.name.c_str(), made ? "is up" : "was up already");
  print_status(lab.name, options.json);
}

// With --force it may be a name of which nothing is written any more.
void down(const LabOptions& options) {
  const bool is_file = std::filesystem::is_regular_file(options.file);
  const std::string lab = options.force && !is_file ? options.file : lab_name(options.file);
  const bool was_there = lab_down(lab, options.force);
  if (options.json)
    std::printf("{\"lab\": \"%s\", \"removed\": %s}\n", lab.c_str(), was_there ? "true" : "false");
  else
    std::printf("lab %s %s\n", lab.c_str(), was_there ? "is down" : "was not up");
}

void status(const LabOptions& options) {
  if (!options.file.empty()) return print_status(lab_name(options.file), options.json);
  if (options.json) {
    nlohmann::json all = nlohmann::json::array();
    for (const std::string& lab : labs_present()) all.push_back(lab_status(lab));
    std::fputs((all.dump(2) + "\n").c_str(), stdout);
    return;
  }
  if (labs_present().empty()) std::puts("no labs");
  for (const std::string& lab : labs_present()) print_status(lab, false);
}

std::optional<bool> wanted_state(const LabOptions& options) {
  if (options.up == options.down) return std::nullopt;
  return options.up;
}

void ask(const LabOptions& options, const nlohmann::json& request) {
  OperatorClient client(lab_socket(lab_name(options.file)));
  client.ask(request);
  if (options.json) std::puts("{}");
}

void change_link(const LabOptions& options) {
  nlohmann::json request{{"command", "link"}, {"port", options.port}};
  if (const auto wanted = wanted_state(options)) request["up"] = *wanted;
  if (!options.loss.empty()) {
    const auto loss = options.loss == "0" ? 0 : parse_loss_ppm(options.loss);
    if (!loss || *loss > 1'000'000)
      throw std::runtime_error("--loss: found " + options.loss + ", allowed 0% to 100%, as in 1% or 20ppm");
    request["loss_ppm"] = *loss;
  }
  if (!options.delay.empty()) {
    const auto delay = options.delay == "0" ? 0 : parse_duration(options.delay);
    if (!delay) throw std::runtime_error("--delay is a duration, as in 50us or 10ms");
    request["delay_ns"] = *delay;
  }
  if (request.size() == 2) throw std::runtime_error("say --up, --down, --loss or --delay");
  ask(options, request);
}

void change_node(const LabOptions& options) {
  const auto wanted = wanted_state(options);
  if (!wanted) throw std::runtime_error("say --up or --down");
  ask(options, {{"command", "node"}, {"node", options.node}, {"up", *wanted}});
}

}  // namespace

std::vector<std::string> take_exec_command(int& argc, char** argv) {
  constexpr int kWords = 5;  // heddle lab exec LAB HOST
  const auto is = [argv](int index, const char* word) { return std::string_view(argv[index]) == word; };
  if (argc <= kWords || !is(1, "lab") || !is(2, "exec")) return {};
  const bool marked = is(kWords, "--");
  if (argv[kWords][0] == '-' && !marked) return {};
  std::vector<std::string> command(argv + kWords + (marked ? 1 : 0), argv + argc);
  argc = kWords;
  return command;
}

void add_lab_command(CLI::App& app, const std::vector<std::string>& exec_command) {
  auto options = std::make_shared<LabOptions>();
  CLI::App* lab = app.add_subcommand("lab", "Run a whole fabric with its hosts on this machine");
  lab->require_subcommand(1);
  const auto add = [&](const char* name, const char* about, void (*action)(const LabOptions&)) {
    CLI::App* command = lab->add_subcommand(name, about);
    command->callback([options, action] { action(*options); });
    command->add_flag("--json", options->json, "as JSON");
    return command;
  };
  const char* const kFile = "lab file, or the name of a lab that is there";
  CLI::App* up_command = add("up", "Bring a lab up; nothing happens if it is", up);
  up_command->add_option("file", options->file, "lab file")->required();
  up_command->add_flag("--replace", options->replace, "take away a lab of that name that runs from another file");
  CLI::App* down_command = add("down", "Take all of a lab away", down);
  down_command->add_option("file", options->file, kFile)->required();
  down_command->add_flag("--force", options->force, "also if nothing is written about it any more");
  add("status", "Show one lab, or all", status)->add_option("file", options->file, kFile);

  CLI::App* exec = lab->add_subcommand("exec", "Run a command on a host");
  exec->add_option("file", options->file, kFile)->required();
  exec->add_option("host", options->host, "host of the lab; behind it the command and its arguments")->required();
  exec->callback([options, exec_command] {
    if (exec_command.empty()) throw std::runtime_error("name a command to run");
    lab_exec(lab_name(options->file), options->host, exec_command);
  });

  CLI::App* link = add("link", "Change a link between two switches", change_link);
  link->add_option("file", options->file, kFile)->required();
  link->add_option("port", options->port, "either of its ports, as in leaf1:p1")->required();
  link->add_option("--loss", options->loss, "share of frames lost in each direction, as in 1%");
  link->add_option("--delay", options->delay, "in each direction, as in 50us");
  link->add_flag("--down", options->down, "cut it");
  link->add_flag("--up", options->up, "mend it")->excludes("--down");

  CLI::App* node = add("node", "Crash a switch or start it anew", change_node);
  node->add_option("file", options->file, kFile)->required();
  node->add_option("node", options->node, "the switch")->required();
  node->add_flag("--down", options->down, "as if its power had failed");
  node->add_flag("--up", options->up, "start it anew")->excludes("--down");
}

}  // namespace heddle
