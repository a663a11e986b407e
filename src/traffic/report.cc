// SPDX-License-Identifier: Apache-2.0
#include "traffic/report.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace heddle::traffic {

namespace {

using Json = nlohmann::ordered_json;

double nanos(const StreamResult& result, uint64_t ticks) {
  return std::round(static_cast<double>(ticks) / result.ticks_per_ns);
}

Json latency_json(const StreamResult& result) {
  const Histogram& latency = result.latency;
  return {{"min", nanos(result, latency.min())},
          {"p50", nanos(result, latency.quantile(0.5))},
          {"p99", nanos(result, latency.quantile(0.99))},
          {"p99.9", nanos(result, latency.quantile(0.999))},
          {"max", nanos(result, latency.max())}};
}

Json stream_json(const StreamResult& result) {
  const StreamCounts& counts = result.counts;
  return {{"from", result.from},
          {"to", result.to},
          {"seconds", result.seconds},
          {"frames_per_second", std::round(static_cast<double>(result.timely_frames) / result.seconds)},
          {"bits_per_second", std::round(static_cast<double>(result.timely_bytes) * 8 / result.seconds)},
          {"sent_frames", counts.sent_frames},
          {"sent_bytes", counts.sent_bytes},
          {"received_frames", counts.received_frames},
          {"received_bytes", counts.received_bytes},
          {"missing_frames", counts.order.missing},
          {"late_frames", counts.order.late},
          {"duplicate_frames", counts.order.duplicates},
          {"corrupt_frames", counts.corrupt_frames},
          {"foreign_frames", counts.foreign_frames},
          {"skipped_frames", result.skipped_frames},
          {"device_full", counts.refusals},
          {"latency_ns", latency_json(result)}};
}

}  // namespace

std::string json_report(const TrafficOptions& options, const std::vector<StreamResult>& results) {
  Json json{{"loop", options.rate > 0 ? "open" : "closed"}};
  if (options.rate > 0)
    json["rate"] = options.rate;
  else
    json["window"] = options.window;
  json.update({{"burst", options.burst},
               {"flows", options.flows},
               {"stations", options.stations},
               {"size", options.size},
               {"warm_up_seconds", options.warm_up_seconds},
               {"patterns_checked_every", options.check_every}});
  json["flawless"] = true;
  json["streams"] = Json::array();
  for (const StreamResult& result : results) {
    json["flawless"] = json["flawless"].get<bool>() && result.flawless();
    json["streams"].push_back(stream_json(result));
  }
  return json.dump();
}

std::string text_report(const TrafficOptions& options, const std::vector<StreamResult>& results) {
  char line[512];
  if (options.rate > 0)
    std::snprintf(line, sizeof(line), "open loop at %.0f frames/s", options.rate);
  else
    std::snprintf(line, sizeof(line), "closed loop, %u frames in flight", options.window);
  std::string text = std::string(line) + ", " + std::to_string(options.flows) + " flows, " +
                     std::to_string(options.stations) + " stations, size " + options.size + "\n";
  for (const StreamResult& result : results) {
    const StreamCounts& counts = result.counts;
    text += result.from + " to " + result.to + "\n";
    const auto add = [&](const char* format, auto... values) {
      std::snprintf(line, sizeof(line), format, values...);
      text += line;
    };
    add("  rate      %.3f Mframes/s, %.3f Gbit/s of frames, over %.2f s\n",
        static_cast<double>(result.timely_frames) / result.seconds / 1e6,
        static_cast<double>(result.timely_bytes) * 8 / result.seconds / 1e9, result.seconds);
    add("  frames    %lu sent, %lu received, %lu missing, %lu late, %lu duplicate, %lu corrupt, %lu foreign\n",
        counts.sent_frames, counts.received_frames, counts.order.missing, counts.order.late, counts.order.duplicates,
        counts.corrupt_frames, counts.foreign_frames);
    if (result.skipped_frames != 0) add("  behind    %lu frames not sent in time\n", result.skipped_frames);
    add("  latency   min %.0f, p50 %.0f, p99 %.0f, p99.9 %.0f, max %.0f ns\n", nanos(result, result.latency.min()),
        nanos(result, result.latency.quantile(0.5)), nanos(result, result.latency.quantile(0.99)),
        nanos(result, result.latency.quantile(0.999)), nanos(result, result.latency.max()));
  }
  return text;
}

}  // namespace heddle::traffic
