// SPDX-License-Identifier: Apache-2.0
#include "hostd/examine.h"

#include <net/if.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <future>
#include <thread>

#include "hostd/control_group.h"
#include "hostd/programs.h"
#include "hostd/root_qdisc.h"
#include "hostd/status_socket.h"
#include "hostd/traffic_control.h"

namespace heddle::hostd {

namespace {

Finding programs() {
  try {
    const Programs tried;
    return {Severity::good, "programs", "the kernel takes them", ""};
  } catch (const std::exception& error) {
    return {Severity::bad, "programs", error.what(), geteuid() == 0 ? "" : "sudo heddle-hostd doctor"};
  }
}

// On the loopback interface of a namespace that ends with the thread which is in it.
Finding classes() {
  return std::async(std::launch::async,
                    []() -> Finding {
                      if (unshare(CLONE_NEWNET) != 0)
                        return {Severity::advice, "classes",
                                std::string("not tried: a network namespace can't be made: ") + std::strerror(errno),
                                ""};
                      try {
                        const TrafficControl tried(static_cast<int>(if_nametoindex("lo")), "lo");
                        return {Severity::good, "classes", "the kernel has htb and bfifo", ""};
                      } catch (const std::exception& error) {
                        return {Severity::bad, "classes", error.what(), "modprobe sch_htb"};
                      }
                    })
      .get();
}

Finding control_groups() {
  if (control_group_paths().empty())
    return {Severity::advice, "control groups", "cgroup2 is not mounted: `show` does not name them", ""};
  return {Severity::good, "control groups", "`show` names those of senders", ""};
}

// `classes`: set if it needs them.
Finding interface_finding(const std::string& name, bool replace_mq, bool& classes) {
  const auto index = static_cast<int>(if_nametoindex(name.c_str()));
  if (index == 0) return {Severity::bad, name, "there is no such interface", ""};
  try {
    switch (pacing_of(root_of(index, name), name, replace_mq)) {
      case PacedBy::nothing:
        classes = true;
        return {Severity::advice, name, "is not up: its root qdisc is not to be seen yet", ""};
      case PacedBy::departures:
        return {Severity::good, name, "its frames go through fq: they get departure times", ""};
      case PacedBy::classes:
        classes = true;
        return {Severity::good, name, "its root qdisc can be replaced", ""};
    }
  } catch (const std::exception& error) {
    return {Severity::bad, name, error.what(), ""};
  }
  return {};
}

Finding another() {
  try {
    std::string names;
    const nlohmann::json status = ask_status();
    for (const nlohmann::json& name : status.at("interfaces")) names += " " + name.get<std::string>();
    return {Severity::advice, "this namespace", "a heddle-hostd runs here already, for" + names, ""};
  } catch (const std::exception&) {
    return {Severity::good, "this namespace", "no heddle-hostd runs here", ""};
  }
}

}  // namespace

Findings examine(const std::vector<std::string>& interfaces, bool replace_mq) {
  bool needs_classes = interfaces.empty();
  Findings of_interfaces;
  for (const std::string& name : interfaces)
    of_interfaces.push_back(interface_finding(name, replace_mq, needs_classes));
  Findings findings{programs()};
  if (needs_classes) findings.push_back(classes());
  findings.push_back(control_groups());
  findings.push_back(another());
  findings.insert(findings.end(), of_interfaces.begin(), of_interfaces.end());
  return findings;
}

}  // namespace heddle::hostd
