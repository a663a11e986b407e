// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "config/device_string.h"

namespace heddle::config_device_test {
namespace {

TEST(DeviceString, DriversAndArgumentsAreToldApart) {
  EXPECT_TRUE(device_uses("net_af_xdp0,iface=a", "net_af_xdp"));
  EXPECT_TRUE(device_uses("net_af_packet", "net_af_packet"));
  EXPECT_FALSE(device_uses("net_af_packetx0", "net_af_packet"));
  EXPECT_FALSE(device_uses("0000:03:00.0", "net_af_xdp"));
  EXPECT_EQ(device_argument("net_x0,iface=eth1,framesz=4096", "framesz"), "4096");
  EXPECT_EQ(device_argument("net_x0,iface=eth1,framesz=4096", "iface"), "eth1");
  EXPECT_EQ(device_argument("net_x0,xiface=eth1", "iface"), "");
  EXPECT_EQ(device_argument("iface=eth1", "iface"), "");
}

TEST(DeviceString, PciDevicesAreToldFromVirtualOnes) {
  for (const char* device : {"0000:3b:00.0", "3b:00.1", "0000:3b:00.0,mprq_en=1"})
    EXPECT_TRUE(is_pci_device(device)) << device;
  for (const char* device :
       {"", "net_tap0", "net_af_packet0,iface=3b:00.0", "0000:3b:00", "0000:3b:00.00", "xx:00.0", "3b:00.0x"})
    EXPECT_FALSE(is_pci_device(device)) << device;
}

TEST(DeviceString, KernelInterfacesAreNamedByTheDriversThatHaveOne) {
  EXPECT_EQ(packet_socket_interface("packet_socket0,iface=eth1"), "eth1");
  EXPECT_EQ(packet_socket_interface("packet_socket12,more=1,iface=n2p3"), "n2p3");
  for (const char* device : {"", "packet_socket0", "packet_socketx,iface=eth1", "packet_socket0,name=eth1",
                             "net_af_packet0,iface=eth1", "packet_socket0,iface="})
    EXPECT_EQ(packet_socket_interface(device), "") << device;
  EXPECT_EQ(kernel_interface("net_af_xdp0,iface=eth1,start_queue=0"), "eth1");
  EXPECT_EQ(kernel_interface("net_af_packet0,iface=eth1"), "eth1");
  EXPECT_EQ(kernel_interface("net_vhost0,iface=/run/x"), "") << "a path";
}

TEST(DeviceString, SocketsBetweenProcessesAreKnown) {
  DeviceSocket memif = device_socket("net_memif0,role=server,id=0,socket-abstract=no,socket=/run/m");
  EXPECT_EQ(memif.path, "/run/m");
  EXPECT_TRUE(memif.listens && !memif.is_stream);
  EXPECT_FALSE(device_socket("net_memif0,role=client,socket-abstract=no,socket=/run/m").listens);
  EXPECT_EQ(device_socket("net_memif0,role=server,socket=/run/m").path, "") << "abstract: it ends with its process";
  EXPECT_EQ(device_socket("net_memif0,role=server,socket-abstract=no").path, "/run/memif.sock");
  EXPECT_TRUE(device_socket("net_vhost0,iface=/run/v").listens);
  EXPECT_FALSE(device_socket("net_vhost0,iface=/run/v,client=1").listens);
  EXPECT_FALSE(device_socket("net_virtio_user0,path=/run/v").listens);
  EXPECT_TRUE(device_socket("net_virtio_user0,path=/run/v,server=1").listens);
  EXPECT_EQ(device_socket("packet_socket0,iface=a").path, "");
}

TEST(DeviceString, WhatCantBeADeviceIsToldWithWhatWasMeant) {
  for (const char* good : {"packet_socket0,iface=eth1", "0000:03:00.0", "net_memif0,role=server", "net_null0",
                           "net_vhost1,iface=/run/v", "net_virtio_user0,path=/run/v", "net_af_xdp0,iface=a"})
    EXPECT_EQ(device_problem(good), "") << good;
  EXPECT_EQ(device_problem("eth0"), "packet_socket0,iface=eth0 for the kernel interface of that name");
  EXPECT_EQ(device_problem("packet_socket0"), "packet_socket0,iface=... (interface)");
  EXPECT_EQ(device_problem("net_vhost0"), "net_vhost0,iface=... (path of its socket)");
  EXPECT_EQ(device_problem("net_virtio_user0"), "net_virtio_user0,path=... (path of its socket)");
  EXPECT_EQ(device_problem("0000:03:00.z"), "a PCI address, as in 0000:03:00.0");
  EXPECT_EQ(device_problem("net_memfi0,role=server"), "net_memif0?");
  EXPECT_EQ(device_problem("foo0,iface=eth0"), "packet_socket0,iface=..., a PCI address or a virtual device of DPDK");
  EXPECT_EQ(device_problem("packet_socket0,iface=averyveryverylongname"), "an interface name of at most 15 bytes");
  EXPECT_EQ(device_problem("net_tap0, iface=a"), "a device string without spaces");
}

}  // namespace
}  // namespace heddle::config_device_test
