// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <rte_lcore.h>
#include <rte_malloc.h>

#include <cstring>
#include <vector>

#include "config/memory_budget.h"
#include "flow/keyed_table.h"
#include "flow/match_table.h"
#include "io/mbuf_packet.h"
#include "io/mempool_pool.h"
#include "wire/ethernet.h"

namespace heddle::io_pool_test {
namespace {

constexpr uint32_t kPoolBuffers = 64;

TEST(MempoolPool, GivesFreshPacketsWithHeadroomAndTakesThemBack) {
  MempoolPool pool("fresh", kPoolBuffers);
  Packet* packet = nullptr;
  ASSERT_EQ(pool.allocate(&packet, 1), 1u);
  packet->ftag = 7;
  packet->data -= kPacketHeadroomBytes;
  std::memset(packet->data, 0xaa, kPacketHeadroomBytes + pool.room_bytes());
  pool.release(&packet, 1);
  std::vector<Packet*> all(kPoolBuffers);
  ASSERT_EQ(pool.allocate(all.data(), kPoolBuffers), kPoolBuffers);
  for (const Packet* each : all) {
    EXPECT_EQ(each->ftag, 0);
    EXPECT_EQ(each->length, 0);
    EXPECT_EQ(each->data, rte_pktmbuf_mtod(mbuf_of(const_cast<Packet*>(each)), uint8_t*));
  }
  EXPECT_EQ(pool.in_use(), kPoolBuffers);
  pool.release(all.data(), kPoolBuffers);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(MempoolPool, GivesTheLastPacketsAndThenNone) {
  MempoolPool pool("few", kPoolBuffers);
  std::vector<Packet*> all(kPoolBuffers + 10);
  EXPECT_EQ(pool.allocate(all.data(), 50), 50u);
  EXPECT_EQ(pool.allocate(all.data() + 50, 24), 14u);
  EXPECT_EQ(pool.allocate(all.data() + 64, 1), 0u);
  pool.release(all.data(), kPoolBuffers);
}

// As link retry keeps a frame while the driver sends it (K6).
TEST(MempoolPool, APacketWithTwoOwnersIsBackWhenBothHaveReleasedIt) {
  MempoolPool pool("owners", kPoolBuffers);
  Packet* packet = nullptr;
  ASSERT_EQ(pool.allocate(&packet, 1), 1u);
  packet->length = 60;
  ASSERT_TRUE(pool.add_owner(packet));
  rte_pktmbuf_free(mbuf_to_send(packet));  // the driver
  EXPECT_EQ(pool.in_use(), 1u);
  EXPECT_EQ(packet->length, 60);
  pool.release(&packet, 1);
  EXPECT_EQ(pool.in_use(), 0u);
}

TEST(MempoolPool, BuffersCanBeLargerThanACredit) {
  MempoolPool pool("large", kPoolBuffers, 16384);
  EXPECT_EQ(pool.room_bytes(), 16384u);
}

TEST(MempoolPool, SaysWhatToChangeIfThereIsNoMemory) {
  try {
    MempoolPool("too many", 1u << 24);
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(),
                 "no memory for 16777216 buffers of 2048 bytes: Cannot allocate memory; raise memory or lower "
                 "buffers");
  }
}

uint64_t heap_bytes() {
  rte_malloc_socket_stats stats{};
  rte_malloc_get_socket_stats(static_cast<int>(rte_socket_id()), &stats);
  return stats.heap_allocsz_bytes;
}

// What the budget says is enough and not much more.
void expect_close(uint64_t budget_bytes, uint64_t taken_bytes) {
  EXPECT_GE(budget_bytes, taken_bytes);
  EXPECT_LE(budget_bytes, taken_bytes + taken_bytes / 50 + 2 * 1024 * 1024);
}

TEST(MemoryBudget, OfBuffersIsWhatThePoolTakes) {
  for (const uint32_t room : {1152u, kBufferBytes, 4096u, 16384u}) {
    for (const uint32_t buffers : {64u, 2048u, 5000u}) {
      SCOPED_TRACE(std::to_string(buffers) + " of " + std::to_string(room));
      const uint64_t before = heap_bytes();
      const MempoolPool pool("budget", buffers, room);
      expect_close(pool_memory_bytes(buffers, room, false), heap_bytes() - before);
    }
  }
}

TEST(MemoryBudget, OfMatchesIsWhatTheirKeysTake) {
  for (const uint32_t entries : {1024u, 3000u, 4096u, 5000u, 262144u}) {
    SCOPED_TRACE(entries);
    const uint64_t before = heap_bytes();
    const MatchTable matches(entries, HashKey{{1, 2, 3, 4}});
    const uint64_t taken = heap_bytes() - before;
    EXPECT_GE(match_memory_bytes(entries), taken);
    EXPECT_LE(match_memory_bytes(entries), taken + taken / 50 + 4096);
  }
}

class Received : public testing::Test {
 protected:
  rte_mbuf* mbuf_with(std::initializer_list<uint8_t> bytes) {
    rte_mbuf* mbuf = rte_pktmbuf_alloc(pool_.mempool());
    std::memcpy(rte_pktmbuf_append(mbuf, static_cast<uint16_t>(bytes.size())), bytes.begin(), bytes.size());
    return mbuf;
  }
  static constexpr std::initializer_list<uint8_t> kFrame = {2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x06, 9, 9};
  MempoolPool pool_{"received", kPoolBuffers};
};

TEST_F(Received, PacketHasBytesAndNothingElse) {
  rte_mbuf* mbuf = mbuf_with(kFrame);
  std::memset(rte_mbuf_to_priv(mbuf), 0xff, sizeof(Packet));  // of its life before
  Packet* packet = packet_from_received(mbuf);
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(mbuf_of(packet), mbuf);
  EXPECT_EQ(packet->length, kFrame.size());
  EXPECT_EQ(std::memcmp(packet->data, kFrame.begin(), kFrame.size()), 0);
  EXPECT_EQ(packet->flags, 0);
  EXPECT_EQ(packet->next, nullptr);
  pool_.release(&packet, 1);
}

TEST_F(Received, ChecksumLeftToHardwareIsTold) {
  rte_mbuf* mbuf = mbuf_with(kFrame);
  mbuf->ol_flags |= RTE_MBUF_F_RX_L4_CKSUM_NONE;
  Packet* packet = packet_from_received(mbuf);
  EXPECT_EQ(packet->flags, kPacketChecksumPartial);
  pool_.release(&packet, 1);
}

TEST_F(Received, TagThatTheHardwareTookOffIsPutBack) {
  rte_mbuf* mbuf = mbuf_with(kFrame);
  mbuf->ol_flags |= RTE_MBUF_F_RX_VLAN | RTE_MBUF_F_RX_VLAN_STRIPPED;
  mbuf->vlan_tci = 0x600a;
  Packet* packet = packet_from_received(mbuf);
  ASSERT_EQ(packet->length, kFrame.size() + kVlanTagBytes);
  EXPECT_EQ(load_be16(packet->data + 12), kEtherTypeVlan);
  EXPECT_EQ(load_be16(packet->data + 14), 0x600a);
  EXPECT_EQ(load_be16(packet->data + 16), kEtherTypeArp);
  pool_.release(&packet, 1);
}

TEST_F(Received, PiecesAreMadeOne) {
  rte_mbuf* mbuf = mbuf_with(kFrame);
  ASSERT_EQ(rte_pktmbuf_chain(mbuf, mbuf_with({5, 6, 7})), 0);
  Packet* packet = packet_from_received(mbuf);
  ASSERT_NE(packet, nullptr);
  EXPECT_EQ(packet->length, kFrame.size() + 3);
  EXPECT_EQ(packet->data[kFrame.size() + 2], 7);
  pool_.release(&packet, 1);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(Received, PiecesTooLargeForOneBufferAreTheCallersStill) {
  rte_mbuf* mbuf = mbuf_with(kFrame);
  rte_mbuf* second = rte_pktmbuf_alloc(pool_.mempool());
  rte_pktmbuf_append(second, kBufferBytes);
  ASSERT_EQ(rte_pktmbuf_chain(mbuf, second), 0);
  EXPECT_EQ(packet_from_received(mbuf), nullptr);
  rte_pktmbuf_free(mbuf);
  EXPECT_EQ(pool_.in_use(), 0u);
}

TEST_F(Received, WhatTheSwitchDidIsWrittenBackForTheDriver) {
  rte_mbuf* mbuf = mbuf_with(kFrame);
  mbuf->ol_flags |= RTE_MBUF_F_RX_VLAN;
  Packet* packet = packet_from_received(mbuf);
  packet->data -= 54;
  packet->length = static_cast<uint16_t>(packet->length + 54);
  EXPECT_EQ(mbuf_to_send(packet), mbuf);
  EXPECT_EQ(mbuf->data_off, RTE_PKTMBUF_HEADROOM - 54);
  EXPECT_EQ(mbuf->data_len, kFrame.size() + 54);
  EXPECT_EQ(mbuf->pkt_len, kFrame.size() + 54);
  EXPECT_EQ(mbuf->ol_flags, 0u);
  pool_.release(&packet, 1);
}

}  // namespace
}  // namespace heddle::io_pool_test
