// SPDX-License-Identifier: Apache-2.0
// Many seeds, over several processes: each takes every so-manieth seed and tells its coverage through a pipe.
#include "sim/swarm/fuzz.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "cli/progress.h"
#include "wire/types.h"

namespace heddle::sim {

namespace {

struct Totals {
  Coverage coverage;
  uint64_t seeds = 0, failures = 0, packet_hops = 0, turns = 0, checks = 0, delivered = 0, virtual_ns = 0;
  std::map<uint64_t, uint64_t> hashes;  // by seed

  // As text between processes; one line per number.
  void write(std::ostream& out) const {
    out << seeds << ' ' << failures << ' ' << packet_hops << ' ' << turns << ' ' << checks << ' ' << delivered << ' '
        << virtual_ns << ' ' << hashes.size() << '\n';
    for (const auto& [seed, hash] : hashes) out << seed << ' ' << hash << '\n';
    for (const auto& [row, count] : coverage.seeds()) out << count << ' ' << row << '\n';
  }
  void add(std::istream& in) {
    uint64_t n[8] = {};
    for (uint64_t& number : n) in >> number;
    seeds += n[0], failures += n[1], packet_hops += n[2], turns += n[3], checks += n[4], delivered += n[5];
    virtual_ns += n[6];
    for (uint64_t seed, hash; n[7] > 0 && in >> seed >> hash; --n[7]) hashes[seed] = hash;
    uint64_t count = 0;
    std::string row;
    while (in >> count && std::getline(in >> std::ws, row)) coverage.add_row(row, count);
  }
};

void print_failure(const FuzzOptions& options, uint64_t seed, const SeedResult& result) {
  std::ostringstream text;
  text << Progress::cleared() << "seed " << seed << " fails: " << result.failure << "\n\n"
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
  totals.hashes[seed] = result.trace_hash;
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

// How far a share is, for whoever waits for its process or must tell that it died.
struct ShareState {
  std::atomic<uint64_t> seed, done;
};

void run_share(const FuzzOptions& options, uint32_t job, Totals& totals, ShareState& state, Progress* progress) {
  // The first condition ends it where the last seed is near the largest number.
  for (uint64_t seed = options.first_seed + job; seed >= options.first_seed && seed <= options.last_seed;
       seed += options.jobs) {
    state.seed = seed;
    if (!run_one(options, seed, totals) && !options.keep_going) return;
    ++state.done;
    if (progress != nullptr) progress->at(static_cast<double>(state.done));
  }
}

struct Child {
  pid_t pid;
  int pipe;
};

Child start_child(const FuzzOptions& options, uint32_t job, ShareState& state) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t pid = fork();
  if (pid != 0) {
    close(ends[1]);
    return {pid, ends[0]};
  }
  Totals totals;
  run_share(options, job, totals, state, nullptr);
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

// What the child has to say, which comes at its end.
std::string wait_for(const Child& child, const std::function<void()>& meanwhile) {
  constexpr int kLookMs = 250;
  std::string whole;
  char buffer[4096];
  for (;;) {
    pollfd waited{child.pipe, POLLIN, 0};
    const int ready = poll(&waited, 1, kLookMs);
    meanwhile();
    if (ready == 0) continue;
    const ssize_t got = read(child.pipe, buffer, sizeof buffer);
    if (got <= 0) break;
    whole.append(buffer, static_cast<size_t>(got));
  }
  close(child.pipe);
  return whole;
}

void run_children(const FuzzOptions& options, Totals& totals, Progress& progress) {
  const size_t bytes = options.jobs * sizeof(ShareState);
  void* shared = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
  auto* states = static_cast<ShareState*>(shared);
  const auto look = [&] {
    uint64_t done = 0;
    for (uint32_t job = 0; job < options.jobs; ++job) done += states[job].done;
    progress.at(static_cast<double>(done));
  };
  std::vector<Child> children;
  for (uint32_t job = 0; job < options.jobs; ++job) children.push_back(start_child(options, job, states[job]));
  for (uint32_t job = 0; job < options.jobs; ++job) {
    const std::string whole = wait_for(children[job], look);
    int status = 0;
    waitpid(children[job].pid, &status, 0);
    if (whole.empty() || status != 0) {  // its last words are on stderr
      SeedResult died;
      died.failure = WIFSIGNALED(status) ? "the process died of signal " + std::to_string(WTERMSIG(status))
                                         : "the process ended early";
      print_failure(options, states[job].seed, died);
      ++totals.failures;
    }
    std::istringstream in(whole);
    totals.add(in);
  }
  munmap(shared, bytes);
}

}  // namespace

namespace {
void write_hashes(const std::string& path, const std::map<uint64_t, uint64_t>& hashes) {
  std::ofstream out(path);
  for (const auto& [seed, hash] : hashes) out << seed << ' ' << std::hex << hash << std::dec << '\n';
  if (!out.flush()) throw std::runtime_error("can't write " + path);
}
}  // namespace

int fuzz(const FuzzOptions& options, std::ostream& out) {
  const auto started = std::chrono::steady_clock::now();
  Totals totals;
  {
    Progress progress("fuzz", static_cast<double>(options.last_seed - options.first_seed) + 1, "seeds");
    ShareState state{};
    if (options.jobs > 1)
      run_children(options, totals, progress);
    else
      run_share(options, 0, totals, state, &progress);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  if (!options.hashes.empty()) write_hashes(options.hashes, totals.hashes);
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
