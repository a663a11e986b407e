// SPDX-License-Identifier: Apache-2.0
// A process of pair_config.h, polled by the test in virtual time: the pair, if it is not told another one.
#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "pair_config.h"

namespace heddle {

class SwitchProcessTest : public testing::Test {
 protected:
  explicit SwitchProcessTest(ProcessConfig config = test::pair_config())
      : process(std::make_unique<SwitchProcess>(std::move(config))) {}

  void run_for(Nanos duration) {
    constexpr Nanos kStep = 100 * kMicrosecond;
    for (const Nanos end = now + duration; now < end; now += kStep) test::poll_all(*process, now);
  }
  const LinkSession& session(size_t node) const { return process->nodes()[node].node->port(0).session; }

  std::unique_ptr<SwitchProcess> process;
  Nanos now = kSecond;
};

}  // namespace heddle
