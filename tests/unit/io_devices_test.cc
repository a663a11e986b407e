// SPDX-License-Identifier: Apache-2.0
// Interfaces that come and go, and what keeps two processes off each other. In a network namespace of its own; skipped
// without the rights for it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "io/device_supervisor.h"
#include "machine/interface_lock.h"
#include "machine/stale_socket.h"
#include "pair_config.h"

namespace heddle::io_devices_test {
namespace {

class DevicesTest : public testing::Test {
 protected:
  // A namespace belongs to a thread.
  void in_own_namespace(const std::function<void()>& function) {
    bool entered = false;
    std::thread([&] {
      entered = unshare(CLONE_NEWNET) == 0;
      if (entered) function();
    }).join();
    if (!entered) GTEST_SKIP() << "needs CAP_SYS_ADMIN";
  }
};

std::string failure(const std::function<void()>& function) {
  try {
    function();
  } catch (const std::exception& error) {
    return error.what();
  }
  return {};
}

TEST_F(DevicesTest, AnInterfaceHasOneHeddledAndItsLockEndsWithIt) {
  in_own_namespace([] {
    EXPECT_EQ(interface_lock_owner("eth1"), 0);
    {
      const InterfaceLock lock("eth1");
      for (int i = 0; i < 50; ++i) ASSERT_EQ(interface_lock_owner("eth1"), getpid()) << "whoever asks, however often";
      EXPECT_EQ(failure([] { const InterfaceLock second("eth1"); }),
                "interface eth1 is used by another heddled (process " + std::to_string(getpid()) + ")");
      EXPECT_EQ(failure([] { const InterfaceLock other("eth2"); }), "");
      std::thread([] {
        ASSERT_EQ(unshare(CLONE_NEWNET), 0);
        EXPECT_EQ(failure([] { const InterfaceLock same("eth1"); }), "") << "another eth1, in another namespace";
      }).join();
    }
    EXPECT_EQ(interface_lock_owner("eth1"), 0);
  });
}

// The name of a lock is anybody's to bind, so those of people do not count.
TEST_F(DevicesTest, NoPersonCanLockAnInterface) {
  in_own_namespace([] {
    constexpr uid_t kPerson = 4711;
    int ready[2], done[2];
    ASSERT_EQ(pipe(ready) + pipe(done), 0);
    const pid_t person = fork();
    if (person == 0) {
      char byte = 0;
      if (setuid(kPerson) != 0) _exit(1);
      const InterfaceLock lock("eth1");
      if (write(ready[1], &byte, 1) != 1 || read(done[0], &byte, 1) != 1) _exit(1);
      _exit(0);
    }
    char byte = 0;
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    EXPECT_EQ(interface_lock_owner("eth1"), 0);
    EXPECT_EQ(failure([] { const InterfaceLock lock("eth1"); }), "");
    ASSERT_EQ(write(done[1], &byte, 1), 1);
    int status = 0;
    ASSERT_EQ(waitpid(person, &status, 0), person);
    EXPECT_EQ(status, 0);
    for (const int fd : {ready[0], ready[1], done[0], done[1]}) close(fd);
  });
}

class SocketFileTest : public testing::Test {
 protected:
  SocketFileTest() {
    char pattern[] = "/tmp/heddle-test-XXXXXX";
    folder_ = mkdtemp(pattern);
    path_ = folder_ + "/socket";
  }
  ~SocketFileTest() override { std::filesystem::remove_all(folder_); }

  int listen_at_path(int type) const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, path_.size());
    const int fd = socket(AF_UNIX, type, 0);
    EXPECT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(listen(fd, 1), 0);
    return fd;
  }

  std::string folder_, path_;
};

TEST_F(SocketFileTest, OnlyWhatNobodyAnswersOnIsRemoved) {
  for (const int type : {SOCK_STREAM, SOCK_SEQPACKET}) {
    const bool is_stream = type == SOCK_STREAM;
    EXPECT_EQ(socket_state(path_, is_stream), SocketState::absent);
    const int fd = listen_at_path(type);
    EXPECT_EQ(remove_stale_socket(path_, is_stream), SocketState::answers);
    EXPECT_TRUE(std::filesystem::exists(path_));
    close(fd);
    EXPECT_EQ(socket_state(path_, is_stream), SocketState::stale);
    EXPECT_EQ(remove_stale_socket(path_, is_stream), SocketState::absent);
    EXPECT_FALSE(std::filesystem::exists(path_));
  }
  std::ofstream(path_) << "precious";
  EXPECT_EQ(remove_stale_socket(path_, true), SocketState::other);
  EXPECT_TRUE(std::filesystem::exists(path_));
}

// left:host is an interface that is not there yet.
TEST_F(DevicesTest, AnInterfaceIsTakenWhenItAppearsAndWaitedForWhenItGoes) {
  in_own_namespace([] {
    ProcessConfig config = test::pair_config();
    config.nodes[0].ports[1].device = "packet_socket0,iface=late";
    SwitchProcess process(config);
    std::vector<std::string> told;
    DeviceSupervisor supervisor(process, [&](uint16_t, PortIndex, bool is_bad, const std::string& text) {
      told.push_back((is_bad ? "!" : "") + text);
    });
    const ProcessPort& port = process.nodes()[0].ports[1];
    Nanos now = kSecond;
    const auto look = [&] {
      told.clear();
      supervisor.tick(now += kSecond);
      test::poll_all(process, now);
    };
    // The kernel tells of a carrier when it comes to it.
    const auto look_until_told = [&] {
      for (int tries = 0; tries < 300; ++tries) {
        look();
        if (!told.empty()) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
    };
    look();
    EXPECT_FALSE(port.plugged);
    EXPECT_EQ(told, std::vector<std::string>{"!device packet_socket0,iface=late: no interface late; it is waited for"});
    look();
    EXPECT_TRUE(told.empty()) << "once is enough";
    ASSERT_EQ(std::system("ip link add name late type veth peer name far && ip link set late up && ip link set far up"),
              0);
    look();
    EXPECT_TRUE(port.plugged);
    EXPECT_EQ(process.nodes()[0].node->port(1).device, port.outward.get());
    EXPECT_EQ(told.front(), "device packet_socket0,iface=late is there");
    ASSERT_EQ(std::system("ip link set far down"), 0);
    look_until_told();
    EXPECT_EQ(told, std::vector<std::string>{"!carrier is lost"});
    ASSERT_EQ(std::system("ip link set far up"), 0);
    look_until_told();
    EXPECT_EQ(told, std::vector<std::string>{"carrier is back"});
    ASSERT_EQ(std::system("ip link del late"), 0);
    look();
    EXPECT_FALSE(port.plugged);
    EXPECT_EQ(told.front(), "!interface late is gone; it is waited for");
    EXPECT_EQ(process.nodes()[0].node->port(1).device, port.unplugged.get());
    ASSERT_EQ(std::system("ip link add name late type veth peer name far && ip link set late up && ip link set far up"),
              0);
    look();
    EXPECT_TRUE(port.plugged) << "another interface of that name";
  });
}

// Two processes at one interface would take each other's frames.
TEST_F(DevicesTest, AnInterfaceOfAnotherHeddledIsRefused) {
  in_own_namespace([] {
    ASSERT_EQ(std::system("ip link add name mine type veth peer name far && ip link set mine up"), 0);
    const InterfaceLock other("mine");
    ProcessConfig config = test::pair_config();
    config.nodes[0].ports[1].device = "packet_socket0,iface=mine";
    EXPECT_EQ(failure([&] { const SwitchProcess process(config); }),
              "interface mine is used by another heddled (process " + std::to_string(getpid()) + ")");
  });
}

}  // namespace
}  // namespace heddle::io_devices_test
