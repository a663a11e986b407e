// SPDX-License-Identifier: Apache-2.0
// Many seeds, over several processes: each takes every so-manieth seed and tells its coverage through a pipe.
#include "sim/fuzz.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <vector>

#include "wire/types.h"

namespace heddle::sim {

namespace {

struct Totals {
  Coverage coverage;
  uint64_t seeds = 0, failures = 0, packet_hops = 0, turns = 0, checks = 0, delivered = 0, virtual_ns = 0;

  // As text between processes; one line per number.
  void write(std::ostream& out) const {
    out << seeds << ' ' << failures << ' ' << packet_hops << ' ' << turns << ' ' << checks << ' ' << delivered << ' '
        << virtual_ns << '\n';
    for (const auto& [row, count] : coverage.seeds()) out << count << ' ' << row << '\n';
  }
  void add(std::istream& in) {
    uint64_t n[7] = {};
    for (uint64_t& number : n) in >> number;
    seeds += n[0], failures += n[1], packet_hops += n[2], turns += n[3], checks += n[4], delivered += n[5];
    virtual_ns += n[6];
    uint64_t count = 0;
    std::string row;
    while (in >> count && std::getline(in >> std::ws, row)) coverage.add_row(row, count);
  }
};

void print_failure(const FuzzOptions& options, uint64_t seed, const SeedResult& result) {
  std::ostringstream text;
  text << "seed " << seed << " fails: " << result.failure << "\n\n"
       << result.options << "\nreplay: " << options.program << " fuzz --seeds " << seed << '-' << seed
       << " --verbose\n";
  const std::string whole = text.str();
  std::fwrite(whole.data(), 1, whole.size(), stdout);
  std::fflush(stdout);
}

// False if the seed failed.
bool run_one(const FuzzOptions& options, uint64_t seed, Totals& totals) {
  std::ostream* log = options.verbose ? &std::cout : nullptr;
  SeedResult result = run_seed(seed, log, options.frames);
  if (options.verbose) std::cout << "seed " << seed << '\n' << result.options << std::flush;
  if (result.failure.empty() && options.twice_every != 0 && seed % options.twice_every == 0) {
    const SeedResult again = run_seed(seed, nullptr);
    if (again.trace_hash != result.trace_hash)
      result.failure = "invariant 10 (determinism): two runs of the same seed went different ways";
  }
  ++totals.seeds;
  totals.packet_hops += result.packet_hops;
  totals.turns += result.turns;
  totals.checks += result.checks;
  totals.delivered += result.delivered_frames;
  totals.virtual_ns += result.virtual_ns;
  totals.coverage.add(result.coverage);
  if (options.verbose)
    std::cout << "seed " << seed << ": " << result.virtual_ns / 1000000 << " ms, " << result.turns << " turns, "
              << result.packet_hops << " packet-hops, " << result.checks << " checks, " << result.delivered_frames
              << " frames delivered, trace " << std::hex << result.trace_hash << std::dec << std::endl;
  if (result.failure.empty()) return true;
  ++totals.failures;
  print_failure(options, seed, result);
  return false;
}

// `at`: the seed it is at, for whoever must tell if the process dies.
void run_share(const FuzzOptions& options, uint32_t job, Totals& totals, volatile uint64_t& at) {
  // The first condition ends it where the last seed is near the largest number.
  for (uint64_t seed = options.first_seed + job; seed >= options.first_seed && seed <= options.last_seed;
       seed += options.jobs) {
    at = seed;
    if (!run_one(options, seed, totals) && !options.keep_going) return;
  }
}

struct Child {
  pid_t pid;
  int pipe;
};

Child start_child(const FuzzOptions& options, uint32_t job, volatile uint64_t& at) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t pid = fork();
  if (pid != 0) {
    close(ends[1]);
    return {pid, ends[0]};
  }
  Totals totals;
  run_share(options, job, totals, at);
  std::ostringstream text;
  totals.write(text);
  const std::string whole = text.str();
  for (size_t done = 0; done < whole.size();) {
    const ssize_t written = write(ends[1], whole.data() + done, whole.size() - done);
    if (written <= 0) break;
    done += static_cast<size_t>(written);
  }
  _exit(0);
}

void run_children(const FuzzOptions& options, Totals& totals) {
  void* shared =
      mmap(nullptr, options.jobs * sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  auto* at = static_cast<volatile uint64_t*>(shared);
  std::vector<Child> children;
  for (uint32_t job = 0; job < options.jobs; ++job) children.push_back(start_child(options, job, at[job]));
  for (uint32_t job = 0; job < options.jobs; ++job) {
    std::string whole;
    char buffer[4096];
    for (ssize_t got; (got = read(children[job].pipe, buffer, sizeof buffer)) > 0;)
      whole.append(buffer, static_cast<size_t>(got));
    close(children[job].pipe);
    int status = 0;
    waitpid(children[job].pid, &status, 0);
    if (whole.empty() || status != 0) {  // its last words are on stderr
      SeedResult died;
      died.failure = WIFSIGNALED(status) ? "the process died of signal " + std::to_string(WTERMSIG(status))
                                         : "the process ended early";
      print_failure(options, at[job], died);
      ++totals.failures;
    }
    std::istringstream in(whole);
    totals.add(in);
  }
  munmap(shared, options.jobs * sizeof(uint64_t));
}

}  // namespace

int fuzz(const FuzzOptions& options, std::ostream& out) {
  const auto started = std::chrono::steady_clock::now();
  Totals totals;
  volatile uint64_t at = 0;
  if (options.jobs > 1)
    run_children(options, totals);
  else
    run_share(options, 0, totals, at);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  totals.coverage.print(out, totals.seeds);
  const auto rate = [seconds](uint64_t count) { return static_cast<uint64_t>(static_cast<double>(count) / seconds); };
  out << totals.seeds << " seeds in " << seconds << " s, " << totals.failures << " failed; " << totals.packet_hops
      << " packet-hops (" << rate(totals.packet_hops) << "/s), " << totals.turns << " turns, " << totals.checks
      << " checks, " << totals.delivered << " frames delivered, " << totals.virtual_ns / kSecond
      << " s of virtual time\n";
  const std::vector<std::string> unreached = totals.coverage.unreached();
  if (options.coverage_required && !unreached.empty()) {
    out << "no seed reached:\n";
    for (const std::string& row : unreached) out << "  " << row << '\n';
  }
  return totals.failures != 0 || (options.coverage_required && !unreached.empty()) ? 1 : 0;
}

}  // namespace heddle::sim
