// SPDX-License-Identifier: Apache-2.0
#include "node/flow_timers.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "component_fixture.h"

namespace heddle::test::flow_timers_test {
namespace {

using FlowTimersTest = ComponentTest;

TEST_F(FlowTimersTest, TimersTellInputsFromOutputs) {
  timers_.add_input(0, 7, 5 * kMillisecond);
  timers_.add_output(4, 7, 5 * kMillisecond);
  std::vector<std::pair<PortIndex, FlowId>> inputs, outputs;
  const auto run = [&](Nanos now) {
    timers_.advance(
        now, [&](Port& port, FlowId id) { inputs.emplace_back(port.index, id); },
        [&](Port& port, FlowId id) { outputs.emplace_back(port.index, id); });
  };
  run(4 * kMillisecond);
  EXPECT_TRUE(inputs.empty() && outputs.empty());
  run(6 * kMillisecond);
  EXPECT_EQ(inputs, (std::vector<std::pair<PortIndex, FlowId>>{{PortIndex::of(0), FlowId::of(7)}}));
  EXPECT_EQ(outputs, (std::vector<std::pair<PortIndex, FlowId>>{{PortIndex::of(4), FlowId::of(7)}}));
  EXPECT_EQ(timers_.next_due(), kNever);
}

}  // namespace
}  // namespace heddle::test::flow_timers_test
