// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "hostd/socket_owners.h"

namespace heddle::hostd::socket_owners_test {
namespace {

constexpr const char* kHeading =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

class SocketOwnersTest : public testing::Test {
 protected:
  SocketOwnersTest() { std::filesystem::create_directories(proc_ / "self/net"); }
  ~SocketOwnersTest() override { std::filesystem::remove_all(proc_); }
  void write(const std::string& name, const std::string& text) { std::ofstream(proc_ / name) << text; }
  void process(uint32_t pid, const std::string& name, uint64_t inode) {
    const std::filesystem::path folder = std::to_string(pid);
    std::filesystem::create_directories(proc_ / folder / "fd");
    std::filesystem::create_symlink("/dev/null", proc_ / folder / "fd/0");
    std::filesystem::create_symlink("socket:[" + std::to_string(inode) + "]", proc_ / folder / "fd/5");
    write(folder / "comm", name + "\n");
  }
  static std::string line(const std::string& local, const std::string& remote, uint64_t inode) {
    return "  12: " + local + " " + remote + " 01 00000000:00000000 00:00000000 00000000     0        0 " +
           std::to_string(inode) + " 2 0000000000000000 0\n";
  }
  std::string udp(uint16_t port, const std::string& to = "10.0.0.2") const {
    return SocketOwners(proc_).of({17, "10.0.0.1", to, port, 5201});
  }

  const std::filesystem::path proc_ =
      std::filesystem::path(testing::TempDir()) / ("socket-owners-" + std::to_string(getpid()));
};

TEST_F(SocketOwnersTest, OneThatIsConnectedIsFound) {
  write("self/net/udp", kHeading + line("0100000A:1388", "0200000A:1451", 77));
  process(42, "iperf3", 77);
  EXPECT_EQ(udp(5000), "iperf3 (42)");
  EXPECT_EQ(udp(5001), "");
  EXPECT_EQ(udp(5000, "10.0.0.3"), "") << "it is connected to another one";
  EXPECT_EQ(SocketOwners(proc_).of({6, "10.0.0.1", "10.0.0.2", 5000, 5201}), "") << "no TCP";
}

TEST_F(SocketOwnersTest, OneOfIpv6MayHoldBoth) {
  write("self/net/udp6", kHeading +
                             line("0000000000000000FFFF00000100000A:1388", "0000000000000000FFFF00000200000A:1451", 7) +
                             line("000000FD000000000000000001000000:1389", "000000FD000000000000000002000000:1451", 8));
  process(42, "four", 7);
  process(43, "six", 8);
  EXPECT_EQ(udp(5000), "four (42)");
  EXPECT_EQ(SocketOwners(proc_).of({17, "fd00::1", "fd00::2", 5001, 5201}), "six (43)");
}

TEST_F(SocketOwnersTest, TheOneThatFitsBestIs) {
  write("self/net/udp",
        kHeading + line("00000000:1388", "00000000:0000", 1) + line("0100000A:1388", "00000000:0000", 2));
  process(1, "any", 1);
  process(2, "address", 2);
  process(3, "connected", 3);
  EXPECT_EQ(udp(5000), "address (2)");
  write("self/net/udp6",
        kHeading + line("0000000000000000FFFF00000100000A:1388", "0000000000000000FFFF00000200000A:1451", 3));
  EXPECT_EQ(udp(5000), "connected (3)");
}

TEST_F(SocketOwnersTest, OfSeveralProcessesItIsTheFirst) {
  write("self/net/tcp", kHeading + line("0100000A:1388", "0200000A:1451", 9));
  process(100, "child", 9);
  process(20, "parent", 9);
  EXPECT_EQ(SocketOwners(proc_).of({6, "10.0.0.1", "10.0.0.2", 5000, 5201}), "parent (20)");
}

TEST_F(SocketOwnersTest, WhatCantBeReadHasNoOwner) {
  EXPECT_EQ(udp(5000), "") << "no tables";
  write("self/net/udp", kHeading + std::string("nonsense\n 1: 0100000A 0200000A:1451 1 2 3 4 5 6 7\n") +
                            line("0100000A:1388", "0200000A:1451", 0));
  process(0, "nobody", 0);
  EXPECT_EQ(udp(5000), "") << "an end that has gone";
  write("self/net/udp", kHeading + line("0100000A:1388", "0200000A:1451", 4));
  EXPECT_EQ(udp(5000), "") << "a process that may not be looked into";
  EXPECT_EQ(SocketOwners(proc_).of({17, "h1", "10.0.0.2", 5000, 5201}), "");
}

}  // namespace
}  // namespace heddle::hostd::socket_owners_test
