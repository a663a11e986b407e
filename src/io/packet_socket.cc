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

#include "config/device_string.h"
#include "io/clock.h"
#include "machine/examine_port.h"
#include "machine/interface_mtu.h"
#include "wire/ethernet.h"

namespace heddle {

namespace {

constexpr uint32_t kSlotOverhead = 128;   // the kernel's header and padding in front of a frame
constexpr uint32_t kSlotBytesMin = 2048;  // powers of two: slots never straddle the kernel's blocks
constexpr uint32_t kBlockBytes = 64 * 1024;
constexpr Nanos kRefusedNsMax = 2 * kMillisecond;  // a frame that the kernel has no room for is offered again so long

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

PacketSocket::PacketSocket(const PacketSocketOptions& options, PacketPool& pool)
    : options_(options), interface_(packet_socket_interface(options.device)), pool_(pool) {}

void PacketSocket::start() {
  try {
    open();
  } catch (...) {
    stop();
    throw;
  }
}

void PacketSocket::stop() {
  if (ring_ != nullptr) munmap(ring_, size_t{slots_} * slot_bytes_);
  if (fd_ >= 0) close(fd_);
  backlog_.give_up();
  ring_ = nullptr;
  fd_ = -1;
  lock_.reset();
}

std::string PacketSocket::lost() {
  if (if_nametoindex(interface_.c_str()) == index_) return {};
  return "interface " + interface_ + " is gone";
}

void PacketSocket::open() {
  index_ = if_nametoindex(interface_.c_str());
  if (index_ == 0) throw DeviceAbsent("device " + device() + ": no interface " + interface_);
  lock_.emplace(interface_);
  notes_ = interface_warnings(interface_facts(interface_));
  if (std::string done = ensure_interface_mtu(device(), interface_, options_.mtu_bytes); !done.empty())
    notes_.push_back(std::move(done));
  fd_ = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);  // protocol 0: nothing comes before all is set
  if (fd_ < 0) fail(device(), "no packet socket");
  if (!set_option(fd_, PACKET_VERSION, int{TPACKET_V2})) fail(device(), "TPACKET_V2");
  if (!set_option(fd_, PACKET_IGNORE_OUTGOING, int{1})) fail(device(), "PACKET_IGNORE_OUTGOING");
  make_ring();
  packet_mreq membership{};
  membership.mr_ifindex = static_cast<int>(index_);
  membership.mr_type = PACKET_MR_PROMISC;
  if (!set_option(fd_, PACKET_ADD_MEMBERSHIP, membership)) notes_.push_back("no promiscuous mode");
  if (!set_option(fd_, PACKET_QDISC_BYPASS, int{1})) notes_.push_back("sends through the interface's qdisc");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = static_cast<int>(index_);
  if (bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) fail(device(), "bind");
  refused_since_ns_ = kNever;
  hopeless_bytes_ = kNoLength;
}

void PacketSocket::make_ring() {
  slot_bytes_ = std::bit_ceil(std::max(options_.frame_bytes + kSlotOverhead, kSlotBytesMin));
  const uint32_t block = std::max(kBlockBytes, slot_bytes_);
  const uint32_t in_a_block = block / slot_bytes_;
  const uint32_t blocks = std::max<uint32_t>(1, (options_.receive_frames + in_a_block - 1) / in_a_block);
  slots_ = blocks * in_a_block;
  next_slot_ = delayed_ahead_ = 0;
  const tpacket_req request{
      .tp_block_size = block, .tp_block_nr = blocks, .tp_frame_size = slot_bytes_, .tp_frame_nr = slots_};
  if (!set_option(fd_, PACKET_RX_RING, request)) fail(device(), "no receive ring as large as receive_descriptors");
  void* memory = mmap(nullptr, size_t{slots_} * slot_bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd_, 0);
  if (memory == MAP_FAILED) fail(device(), "receive ring can't be mapped");
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

// K8: the thread may have slept since it last saw the queue empty, so how long a frame has lain there is the kernel's
// word.
Nanos PacketSocket::next_arrival() const {
  if (receive_queue_empty()) return kNever;
  const auto& header = *reinterpret_cast<const tpacket2_hdr*>(slot_at(0));
  const Nanos came = Nanos{header.tp_sec} * kSecond + header.tp_nsec;
  const Nanos wall = wall_clock_now();
  const Nanos now = monotonic_now();
  const Nanos age = wall > came ? std::min(wall - came, now) : 0;
  return now - age;
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

// ENOBUFS says two things: that the interface's ring is full just now, and that it will never take this frame (the
// other end of a veth pair has a smaller MTU). Which one it was shows when frames as long pass again.
bool PacketSocket::give_up(const Packet& packet, Nanos now) {
  if (packet.length < hopeless_bytes_) {
    refused_since_ns_ = std::min(refused_since_ns_, now);
    if (now - refused_since_ns_ < kRefusedNsMax) return false;
    hopeless_bytes_ = packet.length;
    refused_since_ns_ = kNever;
  }
  refused_.add(1);
  return true;
}

void PacketSocket::note_sent(Packet* const* packets, uint32_t count) {
  sent_.add(count);
  refused_since_ns_ = kNever;
  if (hopeless_bytes_ == kNoLength) return;
  for (uint32_t i = 0; i < count; ++i)
    if (packets[i]->length >= hopeless_bytes_) hopeless_bytes_ = kNoLength;
}

uint32_t PacketSocket::transmit(Packet** packets, uint32_t count, Nanos now) {
  return backlog_.transmit(packets, count, now,
                           [this, now](Packet** offered, uint32_t frames) { return send(offered, frames, now); });
}

// How many it has taken, from the front.
uint32_t PacketSocket::send(Packet** packets, uint32_t count, Nanos now) {
  iovec parts[kBurst];
  mmsghdr messages[kBurst]{};
  for (uint32_t i = 0; i < count; ++i) {
    parts[i] = {packets[i]->data, packets[i]->length};
    messages[i].msg_hdr.msg_iov = &parts[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  uint32_t done = 0;
  while (done < count) {
    const int sent = sendmmsg(fd_, messages + done, count - done, MSG_DONTWAIT);
    if (sent > 0) {
      note_sent(packets + done, static_cast<uint32_t>(sent));
      done += static_cast<uint32_t>(sent);
      continue;
    }
    if (errno == EAGAIN || errno == EINTR) break;  // the socket's own buffer is full: it empties
    if (errno != ENOBUFS)
      send_errors_.add(1);  // the interface is down or gone, or won't have a frame so long
    else if (!give_up(*packets[done], now))
      break;
    ++done;
  }
  if (done != 0) pool_.release(packets, done);
  return done;
}

DriverCounters PacketSocket::driver_counters() const {
  tpacket_stats since_last{};
  socklen_t bytes = sizeof(since_last);
  if (fd_ >= 0 && getsockopt(fd_, SOL_PACKET, PACKET_STATISTICS, &since_last, &bytes) == 0)
    missed_ += since_last.tp_drops;
  return {.received_frames = received_.get(),
          .sent_frames = sent_.get(),
          .missed_frames = missed_,
          .no_buffer_frames = 0,
          .unusable_frames = unusable_.get(),
          .send_errors = send_errors_.get(),
          .refused_frames = refused_.get() + backlog_.given_up(),
          .delayed_frames = delayed_.get()};
}

// An interface that is down leaves an error with the socket, which would wake whoever sleeps on it until it is read.
bool PacketSocket::carrier() const {
  if (fd_ < 0) return false;
  int error = 0;
  socklen_t bytes = sizeof error;
  getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &bytes);
  ifreq request{};
  interface_.copy(request.ifr_name, IFNAMSIZ - 1);
  return ioctl(fd_, SIOCGIFFLAGS, &request) == 0 && (request.ifr_flags & IFF_RUNNING) != 0;
}

}  // namespace heddle
