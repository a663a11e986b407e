// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "io/eal.h"

namespace heddle {
namespace {

bool has(const std::vector<std::string>& arguments, const std::string& wanted) {
  return std::find(arguments.begin(), arguments.end(), wanted) != arguments.end();
}

TEST(EalArguments, WithoutHugePagesNothingIsSharedOrLeftBehind) {
  const auto arguments = eal_arguments({.threads = 2, .memory_mb = 300, .huge_pages = false, .pci_devices = {}}, "p");
  for (const char* wanted : {"--no-huge", "--no-shconf", "--no-pci", "--no-telemetry", "300"})
    EXPECT_TRUE(has(arguments, wanted)) << wanted;
  EXPECT_FALSE(has(arguments, "--in-memory"));
  // The caller and two threads, each free to go where it likes.
  const std::string& lcores = arguments.back();
  EXPECT_NE(lcores.find("0@("), std::string::npos) << lcores;
  EXPECT_NE(lcores.find(",2@("), std::string::npos) << lcores;
  EXPECT_EQ(lcores.find(",3@("), std::string::npos) << lcores;
}

TEST(EalArguments, PciDevicesAreTheOnlyOnesLookedAt) {
  const auto arguments =
      eal_arguments({.threads = 1, .memory_mb = 64, .huge_pages = true, .pci_devices = {"3b:00.0"}}, "p");
  EXPECT_TRUE(has(arguments, "--in-memory"));
  EXPECT_FALSE(has(arguments, "--no-huge"));
  EXPECT_FALSE(has(arguments, "--no-pci"));
  EXPECT_EQ(*(std::find(arguments.begin(), arguments.end(), "-a") + 1), "3b:00.0");
}

}  // namespace
}  // namespace heddle
