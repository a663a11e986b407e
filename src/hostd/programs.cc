// SPDX-License-Identifier: Apache-2.0
#include "hostd/programs.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/pkt_sched.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstring>
#include <set>
#include <stdexcept>

#include "hostd.skel.h"
#include "hostd/traffic_control.h"

namespace heddle::hostd {

namespace {

constexpr uint32_t kHandle = HOSTD_QDISC, kPriority = 1;  // before what others filter
constexpr uint64_t kRecentNs = 10'000'000'000;

std::string* libbpf_log;  // of the one that is being loaded

int keep_log(libbpf_print_level level, const char* format, va_list arguments) {
  char line[1024];
  const int length = std::vsnprintf(line, sizeof line, format, arguments);
  if (level != LIBBPF_DEBUG && libbpf_log != nullptr && length > 0) *libbpf_log += line;
  return length;
}

bpf_tc_hook hook_of(int interface, bpf_tc_attach_point point) {
  bpf_tc_hook hook{};
  hook.sz = sizeof hook;
  hook.ifindex = interface;
  hook.attach_point = point;
  return hook;
}

bpf_tc_opts ours() {
  bpf_tc_opts options{};
  options.sz = sizeof options;
  options.handle = kHandle;
  options.priority = kPriority;
  return options;
}

// Each key of a map once. Where one is taken out meanwhile the kernel begins from the first again.
template <typename Key, typename Visit>
void for_each_key(int map, Visit visit) {
  const auto less = [](const Key& one, const Key& other) { return std::memcmp(&one, &other, sizeof one) < 0; };
  std::set<Key, decltype(less)> seen(less);
  Key key, next;
  for (const Key* from = nullptr; bpf_map_get_next_key(map, from, &next) == 0; from = &key) {
    key = next;
    if (seen.insert(key).second) visit(key);
    if (seen.size() > HOSTD_PAUSES) return;
  }
}

}  // namespace

void Programs::Destroy::operator()(hostd_bpf* programs) const { hostd_bpf__destroy(programs); }

Programs::Programs() {
  libbpf_log = &log_;
  libbpf_set_print(keep_log);
  programs_.reset(hostd_bpf__open_and_load());
  libbpf_log = nullptr;
  if (programs_ == nullptr)
    throw std::runtime_error("the kernel does not take the programs: " + std::string(std::strerror(errno)) + "\n" +
                             log_);
}

Programs::~Programs() { detach_all(); }

void Programs::attach(int interface, const std::string& name, PacedBy paced_by) {
  bpf_program* egress =
      paced_by == PacedBy::departures ? programs_->progs.hostd_departures : programs_->progs.hostd_classes;
  const std::pair<bpf_tc_attach_point, bpf_program*> points[] = {{BPF_TC_INGRESS, programs_->progs.hostd_ingress},
                                                                 {BPF_TC_EGRESS, egress}};
  bpf_tc_hook both = hook_of(interface, static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS));
  const int made = bpf_tc_hook_create(&both);
  if (made != 0 && made != -EEXIST)
    throw std::runtime_error(name + ": adding the qdisc clsact: " + std::strerror(-made));
  attached_.push_back(interface);
  for (const auto& [point, program] : points) {
    bpf_tc_hook hook = hook_of(interface, point);
    bpf_tc_opts options = ours();
    options.prog_fd = bpf_program__fd(program);
    options.flags = BPF_TC_F_REPLACE;
    if (const int error = bpf_tc_attach(&hook, &options); error != 0) {
      detach(interface);
      throw std::runtime_error(name + ": attaching the programs: " + std::strerror(-error));
    }
  }
}

// The qdisc clsact goes, too, unless others have filters there.
void Programs::detach(int interface) {
  std::erase(attached_, interface);
  bool used = false;
  for (const bpf_tc_attach_point point : {BPF_TC_INGRESS, BPF_TC_EGRESS}) {
    bpf_tc_hook hook = hook_of(interface, point);
    bpf_tc_opts options = ours();
    bpf_tc_detach(&hook, &options);
    used = used || has_filters(interface, point == BPF_TC_INGRESS ? TC_H_MIN_INGRESS : TC_H_MIN_EGRESS);
  }
  if (used) return;
  bpf_tc_hook both = hook_of(interface, static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS));
  bpf_tc_hook_destroy(&both);
}

void Programs::detach_all() {
  while (!attached_.empty()) detach(attached_.back());
}

void Programs::set_alive_until(uint64_t ns) { __atomic_store_n(&programs_->bss->alive_until_ns, ns, __ATOMIC_RELAXED); }

std::vector<HeldFlow> Programs::held() const {
  std::vector<HeldFlow> all;
  const int map = bpf_map__fd(programs_->maps.pauses);
  for_each_key<hostd_flow>(map, [&](const hostd_flow& flow) {
    HeldFlow held{.flow = flow, .pause = {}};
    if (bpf_map_lookup_elem(map, &flow, &held.pause) == 0) all.push_back(held);
  });
  return all;
}

void Programs::forget(const HeldFlow& over) {
  const int map = bpf_map__fd(programs_->maps.pauses);
  hostd_pause now{};
  if (bpf_map_lookup_elem(map, &over.flow, &now) != 0 || now.until_ns != over.pause.until_ns) return;
  if (bpf_map_delete_elem(map, &over.flow) == 0) ++forgotten_;
}

void Programs::add_departures(const hostd_class& one) {
  constexpr hostd_departures kNone{};
  if (bpf_map_update_elem(bpf_map__fd(programs_->maps.departures), &one, &kNone, BPF_ANY) != 0)
    throw std::runtime_error("no more than " + std::to_string(HOSTD_INTERFACES) + " interfaces can be held");
}

void Programs::remove_departures(const hostd_class& one) {
  bpf_map_delete_elem(bpf_map__fd(programs_->maps.departures), &one);
  bpf_map_delete_elem(bpf_map__fd(programs_->maps.rates), &one);
}

void Programs::set_rate(const hostd_class& one, const hostd_rate& rate) {
  if (bpf_map_update_elem(bpf_map__fd(programs_->maps.rates), &one, &rate, BPF_ANY) != 0)
    throw std::runtime_error("the rate of a class is not taken: " + std::string(std::strerror(errno)));
}

hostd_departures Programs::departures(const hostd_class& one) const {
  hostd_departures found{};
  bpf_map_lookup_elem(bpf_map__fd(programs_->maps.departures), &one, &found);
  return found;
}

void Programs::free_unused_classes(const std::vector<HeldFlow>& held) {
  std::set<uint64_t> used;
  for (const HeldFlow& one : held) used.insert(uint64_t{one.flow.interface} << 32 | one.pause.class_minor);
  const int map = bpf_map__fd(programs_->maps.classes);
  std::vector<uint64_t> unused;
  std::vector<hostd_class> over;
  for_each_key<hostd_class>(map, [&](const hostd_class& key) {
    const uint64_t id = uint64_t{key.interface} << 32 | key.minor;
    if (used.contains(id)) return;
    unused.push_back(id);
    if (std::find(unused_.begin(), unused_.end(), id) != unused_.end()) over.push_back(key);
  });
  for (const hostd_class& key : over) bpf_map_delete_elem(map, &key);
  unused_ = std::move(unused);
}

std::vector<hostd_source> Programs::sources(uint64_t now_ns) const {
  std::vector<hostd_source> all;
  const int map = bpf_map__fd(programs_->maps.sources);
  for_each_key<hostd_source>(map, [&](const hostd_source& source) {
    uint64_t seen_ns = 0;
    if (bpf_map_lookup_elem(map, &source, &seen_ns) == 0 && now_ns < seen_ns + kRecentNs) all.push_back(source);
  });
  return all;
}

uint64_t Programs::count(hostd_count what) const {
  std::vector<uint64_t> by_cpu(static_cast<size_t>(libbpf_num_possible_cpus()));
  const uint32_t key = what;
  uint64_t sum = 0;
  if (bpf_map_lookup_elem(bpf_map__fd(programs_->maps.counts), &key, by_cpu.data()) != 0) return 0;
  for (const uint64_t count : by_cpu) sum += count;
  return sum;
}

}  // namespace heddle::hostd
