// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "io/eal.h"
#include "io/packet_socket.h"

namespace heddle {
namespace {

bool has(const std::vector<std::string>& arguments, const std::string& wanted) {
  return std::find(arguments.begin(), arguments.end(), wanted) != arguments.end();
}

TEST(EalArguments, PciDevicesAreToldFromVirtualOnes) {
  for (const char* device : {"0000:3b:00.0", "3b:00.1", "0000:3b:00.0,mprq_en=1"})
    EXPECT_TRUE(is_pci_device(device)) << device;
  for (const char* device :
       {"", "net_tap0", "net_af_packet0,iface=3b:00.0", "0000:3b:00", "0000:3b:00.00", "xx:00.0", "3b:00.0x"})
    EXPECT_FALSE(is_pci_device(device)) << device;
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

TEST(PacketSocketDevice, IsToldFromOtherDeviceStrings) {
  EXPECT_EQ(packet_socket_interface("packet_socket0,iface=eth1"), "eth1");
  EXPECT_EQ(packet_socket_interface("packet_socket12,iface=n2p3,more=1"), "n2p3");
  for (const char* device : {"", "packet_socket0", "packet_socketx,iface=eth1", "packet_socket0,name=eth1",
                             "net_af_packet0,iface=eth1", "packet_socket0,iface="})
    EXPECT_EQ(packet_socket_interface(device), "") << device;
}

}  // namespace
}  // namespace heddle
