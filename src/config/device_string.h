// SPDX-License-Identifier: Apache-2.0
// The strings that name devices in node files: a kernel interface by a packet socket of heddle's own, a PCI address, or
// a virtual device of DPDK with its arguments. What can be told of them without opening anything.
#pragma once

#include <string>
#include <string_view>

namespace heddle {

// What is wrong with it, as the words behind "allowed"; empty if nothing is.
std::string device_problem(std::string_view device);

// 0000:3b:00.0, 3b:00.0, each with ",argument=value" behind it or not.
bool is_pci_device(std::string_view device);

// True if it is one of this driver, as in net_af_xdp0,iface=eth1.
bool device_uses(std::string_view device, std::string_view driver);

// The value of one argument, as of "iface"; empty if it has none.
std::string_view device_argument(std::string_view device, std::string_view argument);

// packet_socket0,iface=eth1: the interface; empty if the device is of another kind.
std::string_view packet_socket_interface(std::string_view device);

// The kernel interface under it; empty if it has none.
std::string_view kernel_interface(std::string_view device);

// The Unix socket in the file system on which it meets its other end; empty if it has none.
struct DeviceSocket {
  std::string path;
  bool listens = false;    // else it connects to whoever does
  bool is_stream = false;  // else of packets (SOCK_SEQPACKET)
};
DeviceSocket device_socket(std::string_view device);

}  // namespace heddle
