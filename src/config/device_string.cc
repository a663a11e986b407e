// SPDX-License-Identifier: Apache-2.0
#include "config/device_string.h"

#include <array>
#include <cctype>
#include <vector>

#include "config/yaml_value.h"

namespace heddle {

namespace {

struct Driver {
  std::string_view name;
  std::string_view needs;  // an argument that it can't do without
  std::string_view what;   // that it gives
};

// Of virtual Ethernet devices: heddle's own, and those of DPDK 22.11.
constexpr auto kBuiltDrivers = std::to_array<Driver>({{"packet_socket", "iface", "interface"},
                                                      {"net_af_packet", "iface", "interface"},
                                                      {"net_af_xdp", "iface", "interface"},
                                                      {"net_bonding", "", ""},
                                                      {"net_failsafe", "", ""},
                                                      {"net_memif", "", ""},
                                                      {"net_null", "", ""},
                                                      {"net_pcap", "", ""},
                                                      {"net_ring", "", ""},
                                                      {"net_tap", "", ""},
                                                      {"net_tun", "", ""},
                                                      {"net_vdev_netvsc", "", ""},
                                                      {"net_vhost", "iface", "path of its socket"},
                                                      {"net_virtio_user", "path", "path of its socket"}});
constexpr const char* kForms = "packet_socket0,iface=..., a PCI address or a virtual device of DPDK";

bool hex_run(std::string_view text, size_t& at, size_t digits) {
  for (size_t end = at + digits; at < end; ++at)
    if (at >= text.size() || std::isxdigit(static_cast<unsigned char>(text[at])) == 0) return false;
  return true;
}

bool take(std::string_view text, size_t& at, char wanted) {
  if (at >= text.size() || text[at] != wanted) return false;
  ++at;
  return true;
}

std::string_view name_of(std::string_view device) { return device.substr(0, device.find(',')); }

const Driver* driver_of(std::string_view device) {
  for (const Driver& driver : kBuiltDrivers)
    if (device_uses(device, driver.name)) return &driver;
  return nullptr;
}

std::string unknown_driver(std::string_view device) {
  const std::string_view name = name_of(device);
  if (name.find(':') != std::string_view::npos) return "a PCI address, as in 0000:03:00.0";
  const std::string_view letters = name.substr(0, name.find_last_not_of("0123456789") + 1);
  std::vector<std::string_view> names;
  for (const Driver& driver : kBuiltDrivers) names.push_back(driver.name);
  if (const std::string_view nearest = nearest_name(letters, names); !nearest.empty())
    return std::string(nearest) + std::string(name.substr(letters.size())) + "?";
  if (name == device) return "packet_socket0,iface=" + std::string(name) + " for the kernel interface of that name";
  return kForms;
}

}  // namespace

bool device_uses(std::string_view device, std::string_view driver) {
  if (!device.starts_with(driver)) return false;
  const std::string_view rest = device.substr(driver.size());
  return rest.empty() || rest[0] == ',' || rest[0] == '_' || (rest[0] >= '0' && rest[0] <= '9');
}

std::string_view device_argument(std::string_view device, std::string_view argument) {
  for (size_t at = device.find(','); at != std::string_view::npos; at = device.find(',', at + 1)) {
    std::string_view item = device.substr(at + 1);
    item = item.substr(0, item.find(','));
    if (item.size() > argument.size() && item.starts_with(argument) && item[argument.size()] == '=') {
      return item.substr(argument.size() + 1);
    }
  }
  return {};
}

bool is_pci_device(std::string_view device) {
  const std::string_view address = name_of(device);
  size_t at = 0;
  if (address.size() > 4 && address[4] == ':' && !(hex_run(address, at, 4) && take(address, at, ':'))) return false;
  return hex_run(address, at, 2) && take(address, at, ':') && hex_run(address, at, 2) && take(address, at, '.') &&
         hex_run(address, at, 1) && at == address.size();
}

std::string_view packet_socket_interface(std::string_view device) {
  constexpr std::string_view kKind = "packet_socket";
  const std::string_view name = name_of(device);
  if (!name.starts_with(kKind)) return {};
  if (name.substr(kKind.size()).find_first_not_of("0123456789") != std::string_view::npos) return {};
  return device_argument(device, "iface");
}

std::string_view kernel_interface(std::string_view device) {
  for (const std::string_view driver : {"packet_socket", "net_af_packet", "net_af_xdp"})
    if (device_uses(device, driver)) return device_argument(device, "iface");
  return {};
}

DeviceSocket device_socket(std::string_view device) {
  if (device_uses(device, "net_memif")) {
    if (device_argument(device, "socket-abstract") != "no") return {};
    const std::string_view role = device_argument(device, "role");
    const std::string_view path = device_argument(device, "socket");
    return {.path = path.empty() ? "/run/memif.sock" : std::string(path),
            .listens = role == "server" || role == "master",
            .is_stream = false};
  }
  if (device_uses(device, "net_vhost"))
    return {.path = std::string(device_argument(device, "iface")),
            .listens = device_argument(device, "client") != "1",
            .is_stream = true};
  if (device_uses(device, "net_virtio_user"))
    return {.path = std::string(device_argument(device, "path")),
            .listens = device_argument(device, "server") == "1",
            .is_stream = true};
  return {};
}

std::string device_problem(std::string_view device) {
  if (device.find(' ') != std::string_view::npos) return "a device string without spaces";
  if (is_pci_device(device)) return {};
  const Driver* driver = driver_of(device);
  if (driver == nullptr) return unknown_driver(device);
  if (!driver->needs.empty() && device_argument(device, driver->needs).empty())
    return std::string(name_of(device)) + "," + std::string(driver->needs) + "=... (" + std::string(driver->what) + ")";
  constexpr size_t kInterfaceBytes = 15;  // IFNAMSIZ with its end
  if (kernel_interface(device).size() > kInterfaceBytes) return "an interface name of at most 15 bytes";
  return {};
}

}  // namespace heddle
