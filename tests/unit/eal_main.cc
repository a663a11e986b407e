// SPDX-License-Identifier: Apache-2.0
// main() of tests that need an EAL: pools and rings of mbufs; no huge pages, no root.
#include <gtest/gtest.h>
#include <rte_eal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "io/eal.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  const std::string prefix = "--file-prefix=heddle-test-" + std::to_string(getpid());
  std::vector<std::string> words = {"test",           "--no-huge",         "-m", "256", "--no-shconf", "--no-pci",
                                    "--no-telemetry", "--log-level=error", "-l", "0",   prefix};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  if (rte_eal_init(static_cast<int>(arguments.size()), arguments.data()) < 0) return 1;
  heddle::remove_eal_folder();
  return RUN_ALL_TESTS();
}
