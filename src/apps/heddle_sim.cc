// SPDX-License-Identifier: Apache-2.0
// heddle-sim: the switch under virtual time. `run` plays a scenario, `report` draws several beside baselines, `fuzz`
// plays random ones under faults.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "cli/progress.h"
#include "config/units.h"
#include "sim/report/report_page.h"
#include "sim/scenario/scenario_run.h"
#include "sim/swarm/fuzz.h"

namespace {

std::pair<uint64_t, uint64_t> seed_range(const std::string& text) {
  const std::string_view whole = text;
  const size_t dash = whole.find('-');
  const auto first = heddle::parse_integer(whole.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : heddle::parse_integer(whole.substr(dash + 1));
  if (!first || !last || *first > *last)
    throw std::runtime_error("--seeds: found " + text + ", allowed one number or first-last, as in 1-1000");
  return {*first, *last};
}

struct RunOptions {
  std::string scenario, json, csv, baseline = "none";
  uint32_t slower = 1, workers = 0;
  std::optional<uint64_t> seed;
  bool check = false;
};

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  if (path == "-") {
    std::cout << text;
    return;
  }
  std::ofstream out(path);
  if (!(out << text)) throw std::runtime_error("can't write " + path);
}

heddle::sim::ScenarioVariant variant_of(const std::string& baseline, uint32_t slower) {
  const auto& names = heddle::sim::kBaselineNames;
  const auto found = std::find(names.begin(), names.end(), baseline);
  return {.baseline = static_cast<heddle::sim::Baseline>(found - names.begin()), .slower = slower};
}

heddle::sim::ScenarioResult play(const heddle::sim::Scenario& scenario, const std::string& what,
                                 heddle::sim::ScenarioOptions options) {
  const double milliseconds = static_cast<double>(scenario.duration_ns) / 1e6;
  heddle::Progress progress(what, milliseconds, "ms");
  options.progress = [&](double share) { progress.at(share * milliseconds); };
  return heddle::sim::run_scenario(scenario, options);
}

int run(const RunOptions& options) {
  heddle::ConfigErrors errors;
  heddle::sim::ScenarioVariant variant = variant_of(options.baseline, options.slower);
  variant.workers = options.workers;
  variant.seed = options.seed;
  const auto scenario = heddle::sim::load_scenario(options.scenario, errors, variant);
  if (!scenario) {
    std::cerr << errors.text();
    return 2;
  }
  const heddle::sim::ScenarioResult result = play(*scenario, scenario->name, {.check = options.check});
  const bool quiet = options.json == "-" || options.csv == "-";
  (quiet ? std::cerr : std::cout) << heddle::sim::report_text(*scenario, result);
  write_file(options.json, heddle::sim::report_json(*scenario, result));
  write_file(options.csv, heddle::sim::report_csv(*scenario, result));
  return result.passed() ? 0 : 1;
}

struct ReportOptions {
  std::vector<std::string> scenarios, baselines = {"drop-tail", "credits-only", "pause-only"};
  std::string out, plots;
  uint32_t slower = 1;
};

// Each chart as a file of its own: scenario-1.svg and so on.
void write_plots(const std::string& folder, const std::vector<heddle::sim::PlayedScenario>& variants) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const heddle::sim::Chart& chart : heddle::sim::charts_of(variants))
    write_file(folder + "/" + variants.front().scenario.name + "-" + std::to_string(++number) + ".svg",
               heddle::sim::svg_of(chart));
}

int report(const ReportOptions& options) {
  std::vector<std::vector<heddle::sim::PlayedScenario>> played;
  std::vector<std::string> variants = {"none"};
  variants.insert(variants.end(), options.baselines.begin(), options.baselines.end());
  size_t number = 0;
  for (const std::string& file : options.scenarios) {
    played.emplace_back();
    for (const std::string& baseline : variants) {
      heddle::ConfigErrors errors;
      auto scenario = heddle::sim::load_scenario(file, errors, variant_of(baseline, options.slower));
      if (!scenario) {
        std::cerr << errors.text();
        return 2;
      }
      const std::string what =
          std::to_string(++number) + " of " + std::to_string(options.scenarios.size() * variants.size());
      auto result = play(*scenario, what + ", " + scenario->name + (baseline == "none" ? "" : ", " + baseline),
                         {.keep_flows = true});
      played.back().push_back({std::move(*scenario), std::move(result)});
    }
  }
  write_file(options.out, heddle::sim::report_page(played, heddle::version_text("heddle-sim")));
  for (const auto& scenario : played)
    if (!options.plots.empty()) write_plots(options.plots, scenario);
  const auto passed = [](const auto& scenario) { return scenario.front().result.passed(); };
  return std::all_of(played.begin(), played.end(), passed) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("The switch of heddled under virtual time.", "heddle-sim");
  heddle::add_version(app, "heddle-sim");
  app.require_subcommand(1);
  heddle::sim::FuzzOptions fuzz;
  fuzz.program = "heddle-sim";
  std::string seeds = "1-100";
  CLI::App* fuzz_command = app.add_subcommand("fuzz", "random fabrics under faults, checked");
  fuzz_command->add_option("--seeds", seeds, "first and last seed, as in 1-1000");
  fuzz_command->add_option("--jobs", fuzz.jobs, "processes")->check(CLI::Range(1, 256));
  fuzz_command->add_option("--twice", fuzz.twice_every, "run each so-manieth seed twice and compare; 0 = none");
  fuzz_command->add_option("--hashes", fuzz.hashes, "write a line with seed and trace hash for each seed there");
  fuzz_command->add_flag("--verbose", fuzz.verbose, "print options and faults of each seed");
  fuzz_command->add_flag("--frames", fuzz.frames, "with --verbose: print every frame on fabric links");
  fuzz_command->add_flag("--keep-going", fuzz.keep_going, "go on after a failure");
  fuzz_command->add_flag("--require-coverage", fuzz.coverage_required,
                         "fail if a row of the coverage table stays at zero; always so for 1,000 seeds and more");
  RunOptions run_options;
  CLI::App* run_command = app.add_subcommand("run", "play a scenario; exit status 1 if an expectation is not met");
  run_command->add_option("scenario", run_options.scenario, "scenario file")->required();
  run_command->add_option("--json", run_options.json, "write results there; - = standard output");
  run_command->add_option("--csv", run_options.csv, "write throughput over time there; - = standard output");
  run_command->add_flag("--check", run_options.check, "check all invariants as in fuzz; slower");
  run_command->add_option("--baseline", run_options.baseline, "switch parts off, as the classes of the file could")
      ->check(CLI::IsMember(
          std::vector<std::string>(heddle::sim::kBaselineNames.begin(), heddle::sim::kBaselineNames.end())));
  run_command->add_option("--slower", run_options.slower, "divide all rates by this, multiply all delays and times")
      ->check(CLI::Range(1, 1000));
  run_command
      ->add_option("--workers", run_options.workers, "of each node, as far as it has ports; else as the file says")
      ->check(CLI::Range(1, 64));
  run_command->add_option("--seed", run_options.seed, "in place of the one in the file")
      ->check([](const std::string& text) {
        return heddle::parse_integer(text) ? "" : "found " + text + ", allowed 0 to 18446744073709551615";
      });
  ReportOptions report_options;
  CLI::App* report_command = app.add_subcommand(
      "report", "play scenarios as they are and as baselines, and draw both; exit status 1 if one is not met as it is");
  report_command->add_option("scenarios", report_options.scenarios, "scenario files")->required();
  report_command->add_option("--out", report_options.out, "HTML page to write; - = standard output")->required();
  report_command->add_option("--plots", report_options.plots, "folder that gets each chart as an SVG file, too");
  report_command->add_option("--baselines", report_options.baselines, "which, with commas; none = no baselines")
      ->delimiter(',')
      ->check(CLI::IsMember(
          std::vector<std::string>(heddle::sim::kBaselineNames.begin(), heddle::sim::kBaselineNames.end())));
  report_command->add_option("--slower", report_options.slower, "as of run")->check(CLI::Range(1, 1000));
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return heddle::exit_with(app, error);
  }
  std::erase(report_options.baselines, "none");
  try {
    if (run_command->parsed()) return run(run_options);
    if (report_command->parsed()) return report(report_options);
    std::tie(fuzz.first_seed, fuzz.last_seed) = seed_range(seeds);
    if (fuzz.last_seed - fuzz.first_seed >= 999) fuzz.coverage_required = true;
    return heddle::sim::fuzz(fuzz, std::cout);
  } catch (const std::exception& error) {
    std::cerr << "heddle-sim: " << error.what() << '\n';
    return 2;
  }
}
