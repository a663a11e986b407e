// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "io/eal.h"

namespace heddle::io_arguments_test {
namespace {

bool has(const std::vector<std::string>& arguments, const std::string& wanted) {
  return std::find(arguments.begin(), arguments.end(), wanted) != arguments.end();
}

MachineFacts machine(std::vector<unsigned> isolated = {}) {
  MachineFacts facts;
  facts.allowed_cpus = {0, 2, 3, 4};
  facts.isolated_cpus = std::move(isolated);
  return facts;
}

TEST(EalArguments, WithoutHugePagesNothingIsSharedOrLeftBehind) {
  const auto arguments =
      eal_arguments({.threads = 2, .memory_mb = 300, .huge_pages = false, .pci_devices = {}}, "p", machine());
  for (const char* wanted : {"--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "300"})
    EXPECT_TRUE(has(arguments, wanted)) << wanted;
  EXPECT_FALSE(has(arguments, "--in-memory"));
}

TEST(EalArguments, ThreadsFloatUnlessEachCanHaveAnIsolatedCpu) {
  const auto lcores = [](std::vector<unsigned> isolated) {
    return eal_arguments({.threads = 2, .pci_devices = {}}, "p", machine(std::move(isolated))).back();
  };
  EXPECT_EQ(lcores({}), "0@(0,2,3,4),1@(0,2,3,4),2@(0,2,3,4)");
  EXPECT_EQ(lcores({1, 3}), "0@(0,2,3,4),1@(0,2,3,4),2@(0,2,3,4)") << "1 is not allowed";
  EXPECT_EQ(lcores({1, 3, 4}), "0@(0,2,3,4),1@3,2@4");
}

TEST(EalArguments, PciDevicesAreTheOnlyOnesLookedAt) {
  const auto arguments =
      eal_arguments({.threads = 1, .memory_mb = 64, .huge_pages = true, .pci_devices = {"3b:00.0"}}, "p", machine());
  EXPECT_TRUE(has(arguments, "--in-memory"));
  EXPECT_FALSE(has(arguments, "--no-huge"));
  EXPECT_FALSE(has(arguments, "--no-pci"));
  EXPECT_EQ(*(std::find(arguments.begin(), arguments.end(), "-a") + 1), "3b:00.0");
}

}  // namespace
}  // namespace heddle::io_arguments_test
