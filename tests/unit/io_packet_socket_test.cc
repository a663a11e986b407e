// SPDX-License-Identifier: Apache-2.0
// Packet sockets on the loopback interface of a network namespace of their own; skipped without the rights for it.
#include <gtest/gtest.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "io/clock.h"
#include "io/mempool_pool.h"
#include "io/packet_socket.h"
#include "machine/interface_mtu.h"

namespace heddle::io_packet_socket_test {
namespace {

constexpr uint32_t kBuffers = 64;
const std::string kDevice = "packet_socket0,iface=lo";

class PacketSocketTest : public testing::Test {
 protected:
  // A namespace belongs to a thread.
  void in_own_namespace(const std::function<void()>& function) {
    bool entered = false;
    std::thread([&] {
      entered = unshare(CLONE_NEWNET) == 0;
      if (!entered) return;
      raw_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
      set_up();
      function();
      close(raw_);
    }).join();
    if (!entered) GTEST_SKIP() << "needs CAP_SYS_ADMIN";
  }

  void set_up() {
    ifreq request = about_loopback();
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    ASSERT_EQ(ioctl(raw_, SIOCSIFFLAGS, &request), 0);
  }
  void set_mtu(int bytes) {
    ifreq request = about_loopback();
    request.ifr_mtu = bytes;
    ASSERT_EQ(ioctl(raw_, SIOCSIFMTU, &request), 0);
  }
  void send(int frames, size_t bytes) {
    sockaddr_ll to{};
    to.sll_family = AF_PACKET;
    to.sll_ifindex = static_cast<int>(if_nametoindex("lo"));
    const std::vector<uint8_t> frame(bytes, 2);
    for (int i = 0; i < frames; ++i)
      ASSERT_EQ(sendto(raw_, frame.data(), bytes, 0, reinterpret_cast<const sockaddr*>(&to), sizeof(to)),
                static_cast<ssize_t>(bytes));
  }
  PacketSocketOptions options(uint32_t receive_frames = 64) const {
    return {.device = kDevice, .mtu_bytes = 1554, .frame_bytes = 1568, .receive_frames = receive_frames};
  }

  MempoolPool pool_{"packet socket", kBuffers};

 private:
  static ifreq about_loopback() {
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    return request;
  }
  int raw_ = -1;
};

TEST_F(PacketSocketTest, FramesThatWaitForABufferCountOnceAndAreNotLost) {
  in_own_namespace([&] {
    PacketSocket device(options(), pool_);
    device.start();
    std::vector<Packet*> all(kBuffers);
    ASSERT_EQ(pool_.allocate(all.data(), kBuffers), kBuffers);
    Packet* packets[kBurst];
    send(10, 100);
    for (int poll = 0; poll < 5; ++poll) EXPECT_EQ(device.receive(packets, kBurst, 0), 0u);
    EXPECT_EQ(device.driver_counters().delayed_frames, 10u);
    pool_.release(all.data(), 4);
    ASSERT_EQ(device.receive(packets, kBurst, 0), 4u);
    send(2, 100);
    EXPECT_EQ(device.receive(packets + 4, kBurst - 4, 0), 0u);
    EXPECT_EQ(device.driver_counters().delayed_frames, 12u);
    pool_.release(all.data() + 4, kBuffers - 4);
    EXPECT_EQ(device.receive(packets + 4, kBurst - 4, 0), 8u);
    pool_.release(packets, 12);
    const DriverCounters counters = device.driver_counters();
    EXPECT_EQ(counters.received_frames, 12u);
    EXPECT_EQ(counters.delayed_frames, 12u);
    EXPECT_EQ(counters.no_buffer_frames + counters.missed_frames + counters.unusable_frames, 0u);
  });
}

TEST_F(PacketSocketTest, TheRingHoldsWhatWasAskedForAndTheRestIsMissed) {
  in_own_namespace([&] {
    PacketSocket device(options(90), pool_);
    device.start();
    EXPECT_EQ(device.receive_room(), 96u) << "whole blocks of 32";
    send(100, 100);
    Packet* packets[kBurst];
    uint32_t received = 0;
    for (uint32_t count = kBurst; count != 0; received += count) {
      count = device.receive(packets, kBurst, 0);
      pool_.release(packets, count);
    }
    EXPECT_EQ(received, 96u);
    EXPECT_EQ(device.driver_counters().missed_frames, 4u);
  });
}

TEST_F(PacketSocketTest, WhatTheInterfaceRefusesIsAnErrorAndWhatIsCutIsUnusable) {
  in_own_namespace([&] {
    PacketSocket device(options(), pool_);
    device.start();
    send(3, 4000);
    Packet* packets[kBurst];
    EXPECT_EQ(device.receive(packets, kBurst, 0), 0u);
    EXPECT_EQ(device.driver_counters().unusable_frames, 3u);
    set_mtu(1000);
    ASSERT_EQ(pool_.allocate(packets, 2), 2u);
    packets[0]->length = 1500;
    packets[1]->length = 500;
    EXPECT_EQ(device.transmit(packets, 2, 0), kBurst);
    EXPECT_EQ(device.driver_counters().send_errors, 1u);
    EXPECT_EQ(device.driver_counters().sent_frames, 1u);
    EXPECT_EQ(pool_.in_use(), 0u);
  });
}

TEST_F(PacketSocketTest, TheInterfacesMtuIsRaisedIfItIsTooSmallForThePort) {
  in_own_namespace([&] {
    PacketSocket device(options(), pool_);
    device.start();
    const std::string has_address =
        "lo has the address 127.0.0.1: this machine answers on it beside the switch; mend: "
        "ip address flush dev lo scope global";
    EXPECT_EQ(device.notes(), std::vector<std::string>{has_address});
    device.stop();
    set_mtu(1500);
    device.start();
    EXPECT_EQ(device.notes(), (std::vector<std::string>{has_address, "the MTU of lo was 1500, now it is 1554"}));
    EXPECT_EQ(ensure_interface_mtu(kDevice, "lo", 1554), "");
  });
}

// The other end of the cable has a smaller MTU: the kernel says that it has no room, each time it is asked.
TEST_F(PacketSocketTest, AFrameThatNeverFindsRoomIsGivenUpAndHoldsUpNoOther) {
  in_own_namespace([&] {
    ASSERT_EQ(std::system("ip link add near mtu 1554 type veth peer name far mtu 1000 && ip link set near up && "
                          "ip link set far up"),
              0);
    PacketSocketOptions about_near = options();
    about_near.device = "packet_socket0,iface=near";
    PacketSocket device(about_near, pool_);
    device.start();
    const auto offer = [&](uint16_t bytes, Nanos now) {
      Packet* packet;
      EXPECT_EQ(pool_.allocate(&packet, 1), 1u);
      std::memset(packet->data, 2, bytes);
      packet->length = bytes;
      return device.transmit(&packet, 1, now);
    };
    const auto look = [&](Nanos now) { return device.transmit(nullptr, 0, now); };
    const auto refused = [&] { return device.driver_counters().refused_frames; };
    EXPECT_EQ(offer(1500, kSecond), 0u) << "perhaps there is room later";
    EXPECT_EQ(look(kSecond + kMillisecond), 0u);
    EXPECT_EQ(refused(), 0u);
    EXPECT_EQ(look(kSecond + 2 * kMillisecond), kBurst);
    EXPECT_EQ(refused(), 1u);
    EXPECT_EQ(offer(1500, kSecond + 2 * kMillisecond), kBurst) << "frames as long are no longer waited with";
    EXPECT_EQ(refused(), 2u);
    EXPECT_EQ(offer(500, kSecond + 2 * kMillisecond), kBurst);
    EXPECT_EQ(device.driver_counters().sent_frames, 1u);
    EXPECT_EQ(offer(1400, 2 * kSecond), 0u) << "shorter ones are";
    ASSERT_EQ(std::system("ip link set far mtu 1554"), 0);
    EXPECT_EQ(look(2 * kSecond), kBurst);
    EXPECT_EQ(offer(1500, 2 * kSecond), kBurst);
    ASSERT_EQ(std::system("ip link set far mtu 1000"), 0);
    EXPECT_EQ(offer(1500, 3 * kSecond), 0u) << "and frames as long again, once some have passed";
    EXPECT_EQ(refused(), 2u);
    EXPECT_EQ(device.driver_counters().sent_frames, 3u);
    EXPECT_EQ(device.driver_counters().send_errors, 0u);
    EXPECT_EQ(pool_.in_use(), 1u);
    device.stop();
    EXPECT_EQ(pool_.in_use(), 0u);
  });
}

// K8: life counts from then, however long the thread has slept.
TEST_F(PacketSocketTest, AFrameCameWhenTheKernelSaysSo) {
  in_own_namespace([&] {
    PacketSocket device(options(), pool_);
    device.start();
    EXPECT_EQ(device.next_arrival(), kNever);
    const Nanos before = monotonic_now();
    send(1, 100);
    const Nanos after = monotonic_now();
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    constexpr Nanos kClocksApart = kMillisecond;  // two clocks are read one after the other
    EXPECT_GE(device.next_arrival() + kClocksApart, before);
    EXPECT_LE(device.next_arrival(), after + kClocksApart);
    Packet* packet;
    ASSERT_EQ(device.receive(&packet, 1, 0), 1u);
    pool_.release(&packet, 1);
    EXPECT_EQ(device.next_arrival(), kNever);
  });
}

TEST_F(PacketSocketTest, AnInterfaceThatIsDownWakesNobodyForEver) {
  in_own_namespace([&] {
    PacketSocket device(options(), pool_);
    device.start();
    ASSERT_EQ(std::system("ip link set lo down"), 0);
    pollfd watched{.fd = device.readable_fd(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&watched, 1, 1000), 1) << "the kernel's error of an interface that went down";
    EXPECT_FALSE(device.carrier());
    EXPECT_EQ(poll(&watched, 1, 0), 0);
  });
}

std::string failure(const std::string& interface, uint32_t mtu_bytes) {
  try {
    ensure_interface_mtu("x0,iface=" + interface, interface, mtu_bytes);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST_F(PacketSocketTest, AnMtuThatCantBeSetIsTold) {
  in_own_namespace([&] {
    EXPECT_EQ(failure("lo", 3'000'000'000),
              "device x0,iface=lo: the MTU of lo is 65536, the port needs 3000000000, "
              "and it can't be set: Invalid argument");
    EXPECT_EQ(failure("lo7", 1500), "device x0,iface=lo7: MTU of lo7: No such device");
  });
}

}  // namespace
}  // namespace heddle::io_packet_socket_test
