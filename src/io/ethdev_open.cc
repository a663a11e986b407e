// SPDX-License-Identifier: Apache-2.0
#include "io/ethdev_open.h"

#include <rte_bus_vdev.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "config/budget.h"

namespace heddle {

static_assert(kDpdkDevicesMax <= RTE_MAX_ETHPORTS, "what configurations may ask for");

namespace {
// A memif client can't start before its server is there.
constexpr int kStartAttempts = 50;
constexpr auto kStartPause = std::chrono::milliseconds(200);
}  // namespace

void fail_ethdev(const std::string& device, const std::string& what, int error) {
  const char* hint = std::abs(error) == ENOMEM ? "; raise memory" : "";
  throw std::runtime_error("device " + device + ": " + what + ": " + rte_strerror(std::abs(error)) + hint);
}

uint16_t open_ethdev(const std::string& device) {
  const std::string name = device.substr(0, device.find(','));
  uint16_t port_id = 0;
  if (rte_eth_dev_get_port_by_name(name.c_str(), &port_id) == 0) return port_id;  // named to the EAL: a PCI device
  const int error = rte_dev_probe(device.c_str());
  if (error != 0) fail_ethdev(device, "can't be opened", error);
  if (rte_eth_dev_get_port_by_name(name.c_str(), &port_id) != 0)
    throw std::runtime_error("device " + device + ": is no Ethernet device");
  return port_id;
}

void start_ethdev(const std::string& device, uint16_t port_id) {
  rte_eth_dev_info info{};
  const bool waits_for_peer =
      rte_eth_dev_info_get(port_id, &info) == 0 && std::string_view(info.driver_name) == "net_memif";
  int error = rte_eth_dev_start(port_id);
  for (int attempt = 1; error != 0 && waits_for_peer && attempt < kStartAttempts; ++attempt) {
    std::this_thread::sleep_for(kStartPause);
    error = rte_eth_dev_start(port_id);
  }
  if (error != 0) fail_ethdev(device, "can't be started", error);
}

}  // namespace heddle
