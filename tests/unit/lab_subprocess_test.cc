// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "lab/subprocess.h"

namespace heddle::lab_subprocess_test {
namespace {

TEST(RunProgram, GivesStatusAndOutputOfBothStreams) {
  const RunResult result = run_program({"sh", "-c", "echo out; echo err >&2; exit 3"});
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_TRUE(run_program({"true"}).ok());
}

TEST(RunProgram, ArgumentsAreNotForAShell) {
  EXPECT_EQ(run_program({"printf", "%s", "$HOME; `ls` *"}).output, "$HOME; `ls` *");
}

TEST(RunProgram, InputIsRead) { EXPECT_EQ(run_program({"tr", "a-z", "A-Z"}, "words").output, "WORDS"); }

TEST(RunProgram, WhatIsNotThereIsTold) {
  const RunResult result = run_program({"heddle-no-such-program"});
  EXPECT_EQ(result.status, 127);
  EXPECT_NE(result.output.find("heddle-no-such-program"), std::string::npos);
  EXPECT_THROW(run_or_throw({"false"}), std::runtime_error);
}

TEST(RunProgram, PatienceEnds) {
  EXPECT_EQ(run_program({"sleep", "1000"}, "", std::chrono::seconds(0)).status, 128 + SIGKILL);
}

TEST(RunProgram, AChildThatStaysIsNotWaitedFor) {
  EXPECT_EQ(run_program({"sh", "-c", "sleep 5 & echo done"}).output, "done\n");
}

TEST(RunProgram, MuchOutputIsCutAndNotStuck) {
  const RunResult result = run_program({"head", "-c", "1000000", "/dev/zero"});
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.output.size(), 65536u);
}

TEST(StartDaemon, WritesItsLogAndIsKnownByItsStart) {
  char log[] = "/tmp/heddle-test-XXXXXX";
  close(mkstemp(log));
  const pid_t pid = start_daemon({"sh", "-c", "echo up; exec sleep 1000"}, log);
  const auto start = process_start_time(pid);
  EXPECT_NE(start, 0u);
  EXPECT_EQ(process_start_time(pid), start);
  EXPECT_NE(getsid(pid), getsid(0)) << "a session of its own";
  kill(pid, SIGKILL);
  siginfo_t ended;
  waitid(P_PID, static_cast<id_t>(pid), &ended, WEXITED | WNOWAIT);
  EXPECT_EQ(process_start_time(pid), 0u) << "what nobody has waited for yet is dead all the same";
  waitpid(pid, nullptr, 0);
  EXPECT_EQ(process_start_time(pid), 0u);
  std::filesystem::remove(log);
}

}  // namespace
}  // namespace heddle::lab_subprocess_test
