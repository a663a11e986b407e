// SPDX-License-Identifier: Apache-2.0
#include "io/ethdev_open.h"

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "config/budget.h"

namespace heddle {

static_assert(kDpdkDevicesMax <= RTE_MAX_ETHPORTS, "what configurations may ask for");

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

void close_ethdev(uint16_t port_id) {
  rte_eth_dev_info info{};
  const bool known = rte_eth_dev_info_get(port_id, &info) == 0 && info.device != nullptr;
  const bool is_virtual = known && std::string_view(rte_bus_name(rte_dev_bus(info.device))) == "vdev";
  rte_eth_dev_close(port_id);
  if (is_virtual) rte_dev_remove(info.device);
}

}  // namespace heddle
