// SPDX-License-Identifier: Apache-2.0
// The programs in the kernel (hostd.bpf.c) and what they have written down (G3). One thread. Errors are
// std::runtime_error; where the kernel refuses a program they have the verifier's log.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hostd/departure_times.h"
#include "hostd/root_qdisc.h"
#include "hostd/shared_maps.h"

struct hostd_bpf;

namespace heddle::hostd {

struct HeldFlow {
  hostd_flow flow;
  hostd_pause pause;
};

class Programs : public DepartureMaps {
 public:
  Programs();
  ~Programs();
  Programs(const Programs&) = delete;

  // From now on frames of the interface pass them. Throws: then none does.
  void attach(int interface, const std::string& name, PacedBy paced_by);
  // The interface may be gone already.
  void detach(int interface);
  void detach_all();

  // Flows are held back until then, CLOCK_MONOTONIC.
  void set_alive_until(uint64_t ns);
  std::vector<HeldFlow> held() const;
  // What is over is taken out, unless it has begun anew since it was looked at.
  void forget(const HeldFlow& over);
  uint64_t forgotten() const { return forgotten_; }  // flows

  void add_departures(const hostd_class& one) override;
  void remove_departures(const hostd_class& one) override;
  void set_rate(const hostd_class& one, const hostd_rate& rate) override;
  hostd_departures departures(const hostd_class& one) const override;

  // Classes of which no flow has been since the last time but one: others may have them.
  void free_unused_classes(const std::vector<HeldFlow>& held);
  // Addresses that frames were sent from in the last ten seconds.
  std::vector<hostd_source> sources(uint64_t now_ns) const;
  uint64_t count(hostd_count what) const;

 private:
  struct Destroy {
    void operator()(hostd_bpf* programs) const;
  };

  std::string log_;  // of libbpf
  std::unique_ptr<hostd_bpf, Destroy> programs_;
  std::vector<int> attached_;
  uint64_t forgotten_ = 0;
  std::vector<uint64_t> unused_;  // interface << 32 | class, at the last look
};

}  // namespace heddle::hostd
