// SPDX-License-Identifier: Apache-2.0
// A run of the generator: ports opened, stations announced, a warm-up, the measurement, and what came of it.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "traffic/pacer.h"
#include "traffic/stream.h"

namespace heddle::traffic {

struct StreamResult {
  std::string from, to;
  StreamCounts counts;     // from the end of the warm-up until the last frame was back or given up
  uint64_t timely_frames;  // received while frames were being sent: what the rate is made of
  uint64_t timely_bytes;
  uint64_t skipped_frames;  // open loop: not sent, for the generator was late
  double seconds;           // of sending
  double ticks_per_ns;
  Histogram latency;  // ticks

  // Each frame once, in its order and as it was sent.
  bool flawless() const {
    const OrderCounts& order = counts.order;
    return counts.received_frames != 0 && order.missing + order.late + order.duplicates + counts.corrupt_frames == 0;
  }
};

class Run {
 public:
  // Needs an EAL. Opens the ports and waits for their links. Throws std::runtime_error. `stop` ends every wait and the
  // measurement: what has been measured so far counts.
  Run(const TrafficOptions& options, const std::atomic<bool>& stop);

  std::vector<StreamResult> measure();

 private:
  struct Lane {
    std::unique_ptr<Stream> stream;
    Pacer pacer;
    uint64_t heard = 0;  // when frames came last
  };

  void wait_for_links() const;
  void announce();
  void drive(double seconds);
  void serve(Lane& lane, uint64_t now);
  void drain();
  void discard_at_senders();
  uint64_t ticks(double seconds) const { return static_cast<uint64_t>(seconds * ticks_per_second_); }

  TrafficOptions options_;
  const std::atomic<bool>& stop_;
  double ticks_per_second_;
  // In the order of their making: ports go before the buffers they hold.
  BufferPool sent_, received_;
  std::array<std::unique_ptr<TrafficPort>, 2> ports_;
  std::vector<Lane> lanes_;
  std::vector<TrafficPort*> only_sending_;
};

}  // namespace heddle::traffic
