// SPDX-License-Identifier: Apache-2.0
#include "io/packet_socket.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "io/interface_mtu.h"
#include "wire/ethernet.h"

namespace heddle {

namespace {

constexpr uint32_t kSlotOverhead = 128;   // the kernel's header and padding in front of a frame
constexpr uint32_t kSlotBytesMin = 2048;  // powers of two: slots never straddle the kernel's blocks
constexpr uint32_t kBlockBytes = 64 * 1024;

// Older headers lack it.
#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

[[noreturn]] void fail(const std::string& device, const char* what) {
  throw std::runtime_error("device " + device + ": " + what + ": " + std::strerror(errno));
}

template <typename Value>
bool set_option(int fd, int option, const Value& value) {
  return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) == 0;
}

}  // namespace

std::string packet_socket_interface(const std::string& device) {
  static constexpr std::string_view kKind = "packet_socket", kArgument = ",iface=";
  const size_t comma = device.find(',');
  if (!device.starts_with(kKind) || comma == std::string::npos) return {};
  const std::string number = device.substr(kKind.size(), comma - kKind.size());
  if (number.find_first_not_of("0123456789") != std::string::npos) return {};
  if (device.compare(comma, kArgument.size(), kArgument) != 0) return {};
  const size_t begin = comma + kArgument.size();
  return device.substr(begin, device.find(',', begin) - begin);
}

PacketSocket::PacketSocket(const PacketSocketOptions& options, PacketPool& pool)
    : device_(options.device), interface_(packet_socket_interface(options.device)), pool_(pool) {
  try {
    open(options);
  } catch (...) {
    if (fd_ >= 0) close(fd_);
    throw;
  }
}

PacketSocket::~PacketSocket() {
  munmap(ring_, size_t{slots_} * slot_bytes_);
  close(fd_);
}

void PacketSocket::open(const PacketSocketOptions& options) {
  const unsigned index = if_nametoindex(interface_.c_str());
  if (index == 0) fail(device_, "no such interface");
  if (std::string done = ensure_interface_mtu(device_, interface_, options.mtu_bytes); !done.empty())
    notes_.push_back(std::move(done));
  fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);  // protocol 0: nothing comes before all is set
  if (fd_ < 0) fail(device_, "no packet socket");
  if (!set_option(fd_, PACKET_VERSION, int{TPACKET_V2})) fail(device_, "TPACKET_V2");
  if (!set_option(fd_, PACKET_IGNORE_OUTGOING, int{1})) fail(device_, "PACKET_IGNORE_OUTGOING");
  make_ring(options);
  packet_mreq membership{};
  membership.mr_ifindex = static_cast<int>(index);
  membership.mr_type = PACKET_MR_PROMISC;
  if (!set_option(fd_, PACKET_ADD_MEMBERSHIP, membership)) notes_.push_back("no promiscuous mode");
  if (!set_option(fd_, PACKET_QDISC_BYPASS, int{1})) notes_.push_back("sends through the interface's qdisc");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index);
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail(device_, "bind");
}

void PacketSocket::make_ring(const PacketSocketOptions& options) {
  slot_bytes_ = std::bit_ceil(std::max(options.frame_bytes + kSlotOverhead, kSlotBytesMin));
  const uint32_t block = std::max(kBlockBytes, slot_bytes_);
  const uint32_t in_a_block = block / slot_bytes_;
  const uint32_t blocks = std::max<uint32_t>(1, (options.receive_frames + in_a_block - 1) / in_a_block);
  slots_ = blocks * in_a_block;
  const tpacket_req request{
      .tp_block_size = block, .tp_block_nr = blocks, .tp_frame_size = slot_bytes_, .tp_frame_nr = slots_};
  if (!set_option(fd_, PACKET_RX_RING, request)) fail(device_, "no receive ring as large as receive_descriptors");
  void* memory = mmap(nullptr, size_t{slots_} * slot_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, 0);
  if (memory == MAP_FAILED) fail(device_, "receive ring can't be mapped");
  ring_ = static_cast<uint8_t*>(memory);
}

uint8_t* PacketSocket::slot_at(uint32_t ahead) const {
  return ring_ + size_t{(next_slot_ + ahead) % slots_} * slot_bytes_;
}

std::atomic_ref<uint32_t> PacketSocket::status_of(uint32_t ahead) const {
  return std::atomic_ref<uint32_t>(reinterpret_cast<tpacket2_hdr*>(slot_at(ahead))->tp_status);
}

bool PacketSocket::receive_queue_empty() const {
  return (status_of(0).load(std::memory_order_acquire) & TP_STATUS_USER) == 0;
}

uint32_t PacketSocket::receive(Packet** packets, uint32_t count, Nanos) {
  uint32_t ready = 0;
  count = std::min(count, slots_);
  while (ready < count && (status_of(ready).load(std::memory_order_acquire) & TP_STATUS_USER) != 0) ++ready;
  if (ready == 0) return 0;
  const uint32_t buffers = pool_.allocate(packets, ready);
  count_delayed(buffers, ready - buffers);
  uint32_t taken = 0;
  for (uint32_t i = 0; i < buffers; ++i) {
    Packet* packet = packets[i];
    if (take(slot_at(0), *packet)) {
      packets[taken++] = packet;
    } else {
      unusable_.add(1);
      pool_.release(&packet, 1);
    }
    status_of(0).store(TP_STATUS_KERNEL, std::memory_order_release);
    next_slot_ = (next_slot_ + 1) % slots_;
  }
  received_.add(taken);
  return taken;
}

// Frames that find no buffer stay in the ring and are tried again at each poll; they count once.
void PacketSocket::count_delayed(uint32_t taken, uint32_t waiting) {
  delayed_ahead_ -= std::min(delayed_ahead_, taken);
  if (waiting <= delayed_ahead_) return;
  delayed_.add(waiting - delayed_ahead_);
  delayed_ahead_ = waiting;
}

// A frame in the kernel's ring. What was cut to the slot's size is of no use: only a frame left to be segmented by
// hardware is that long.
bool PacketSocket::take(const uint8_t* slot, Packet& packet) {
  const auto& header = *reinterpret_cast<const tpacket2_hdr*>(slot);
  const uint32_t length = header.tp_snaplen;
  if (length != header.tp_len || length + kVlanTagBytes > pool_.room_bytes()) return false;
  std::memcpy(packet.data, slot + header.tp_mac, length);
  packet.length = static_cast<uint16_t>(length);
  if ((header.tp_status & TP_STATUS_VLAN_VALID) != 0 && length >= ETHER_HDR_LEN) {
    insert_tag(packet, header.tp_vlan_tci);
    const bool other = (header.tp_status & TP_STATUS_VLAN_TPID_VALID) != 0;
    store_be16(packet.data + 12, other ? header.tp_vlan_tpid : kEtherTypeVlan);
  }
  if ((header.tp_status & TP_STATUS_CSUMNOTREADY) != 0) packet.flags = kPacketChecksumPartial;
  return true;
}

uint32_t PacketSocket::transmit(Packet** packets, uint32_t count, Nanos) {
  const uint32_t offered = std::min(count, kBurst);
  iovec parts[kBurst];
  mmsghdr messages[kBurst]{};
  for (uint32_t i = 0; i < offered; ++i) {
    parts[i] = {packets[i]->data, packets[i]->length};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  uint32_t done = 0;
  while (done < offered) {
    const int sent = sendmmsg(fd_, messages + done, offered - done, MSG_DONTWAIT);
    if (sent > 0) {
      done += static_cast<uint32_t>(sent);
      sent_.add(static_cast<uint64_t>(sent));
      continue;
    }
    if (errno == EAGAIN || errno == ENOBUFS || errno == EINTR) break;  // no room now
    ++done;  // the interface is down or gone, or won't have this frame
    send_errors_.add(1);
  }
  if (done != 0) pool_.release(packets, done);
  return done;
}

DriverCounters PacketSocket::driver_counters() const {
  tpacket_stats since_last{};
  socklen_t bytes = sizeof(since_last);
  if (getsockopt(fd_, SOL_PACKET, PACKET_STATISTICS, &since_last, &bytes) == 0) missed_ += since_last.tp_drops;
  return {.received_frames = received_.get(),
          .sent_frames = sent_.get(),
          .missed_frames = missed_,
          .no_buffer_frames = 0,
          .unusable_frames = unusable_.get(),
          .send_errors = send_errors_.get(),
          .delayed_frames = delayed_.get()};
}

bool PacketSocket::carrier() const {
  ifreq request{};
  interface_.copy(request.ifr_name, IFNAMSIZ - 1);
  return ioctl(fd_, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
}

}  // namespace heddle
