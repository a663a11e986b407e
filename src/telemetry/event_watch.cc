// SPDX-License-Identifier: Apache-2.0
#include "telemetry/event_watch.h"

#include "cli/text_table.h"
#include "io/clock.h"
#include "telemetry/inspect.h"
#include "telemetry/link_reason.h"
#include "telemetry/show.h"

namespace heddle {

namespace {
constexpr Nanos kLookNs = kSecond;        // between looks at counters
constexpr uint32_t kEventsAtOnce = 64;    // of each worker, at each tick
constexpr Nanos kQuietNs = 10 * kSecond;  // so long without any, and drops have ended
}  // namespace

std::string EventWatch::place(uint16_t node_index, PortIndex port) const {
  const TopologyNode& node = process_.topology().nodes[node_index];
  return port == kNoPort ? node.name : node.name + ":" + node.ports[port].name;
}

void EventWatch::tick(Nanos now) {
  const bool look = now >= next_look_ns_;
  if (look) next_look_ns_ = now + kLookNs;
  for (const ProcessNode& node : process_.nodes()) {
    if (node.node == nullptr) continue;
    take_events(node, now);
    if (look) look_at_drops(node, now);
  }
  journal_.end_windows(wall_clock_now());
}

// A neighbour can make events as fast as they are taken; there is other work.
void EventWatch::take_events(const ProcessNode& node, Nanos now) {
  for (WorkerIndex worker = 0; worker < node.node->workers(); ++worker) {
    NodeEvent event;
    for (uint32_t taken = 0; taken < kEventsAtOnce && node.node->worker(worker).events().take(event); ++taken)
      tell(node.settings.node_index, event, now > event.at_ns ? now - event.at_ns : 0);
  }
}

void EventWatch::tell(uint16_t node_index, const NodeEvent& event, Nanos age) {
  Event entry{.at_ns = wall_clock_now() - age, .kind = {}, .place = place(node_index, event.port), .text = {}};
  switch (event.kind) {
    case NodeEventKind::link: {
      const TopologyPort& port = process_.topology().nodes[node_index].ports[event.port];
      const std::string peer = place(port.peer.node_index, port.peer.port);
      entry.kind = "link";
      entry.is_bad = event.reason != LinkDownReason::none;
      entry.text =
          "to " + peer + (entry.is_bad ? " down: " + link_reason(process_, port, event.reason, event.found) : " up");
      break;
    }
    case NodeEventKind::neighbour_restarted:
      entry.kind = "neighbour";
      entry.is_bad = true;
      entry.text = "the other end has restarted";
      break;
    case NodeEventKind::worker_late:
      entry.kind = "worker";
      entry.is_bad = true;
      entry.text = "a worker stood still for " + scaled_duration(event.late_us * 1e3);
      break;
    case NodeEventKind::pause_overruled:
      entry.kind = "pause";
      entry.is_bad = true;
      entry.text = "the host asked to wait for longer than pause_watchdog: overruled";
      break;
    case NodeEventKind::host_disobeys:
      entry.kind = "fgfc";
      entry.is_bad = true;
      entry.text =
          mac_text(event.station) + " does not hold back the flows that it said it would: not asked for a while";
      break;
  }
  journal_.add(std::move(entry));
}

void EventWatch::look_at_drops(const ProcessNode& node, Nanos now) {
  const uint16_t node_index = node.settings.node_index;
  if (uint32_t& starts = starts_[node_index]; starts != node.starts) {  // its counters began anew
    std::erase_if(drops_, [node_index](const auto& entry) { return std::get<0>(entry.first) == node_index; });
    starts = node.starts;
  }
  for (PortIndex index = 0; index < node.ports.size(); ++index) {
    PortCounters counters;
    look_at_port(process_, node, index, [&](const Port& port) { counters = port.counters; });
    for (unsigned reason = 0; reason < kDropReasons; ++reason)
      if (const uint64_t frames = counters.drops[reason]; frames != 0)
        note_drops(node_index, index, kDropReasonNames[reason], kDropReasonTexts[reason], frames, now);
    if (counters.lost_on_wire_frames != 0)
      note_drops(node_index, index, "lost_on_wire", "lost on the link on the way here", counters.lost_on_wire_frames,
                 now);
    for (const LossBelow& loss : losses_below(node, index))
      if (loss.frames != 0) note_drops(node_index, index, loss.reason, loss.text, loss.frames, now);
  }
}

void EventWatch::note_drops(uint16_t node_index, PortIndex port, std::string_view reason, std::string_view text,
                            uint64_t frames, Nanos now) {
  Drops& drops = drops_[{node_index, port, std::string(reason)}];
  Event event{.at_ns = wall_clock_now(), .kind = "drops", .place = place(node_index, port), .text = {}};
  if (frames < drops.frames) drops = {};  // a device that was away counts from zero
  if (frames != drops.frames) {
    if (drops.began_ns == 0) {
      drops.began_ns = now;
      drops.before = drops.frames;
      event.is_bad = true;
      event.text = "begin: " + std::string(reason) + ", " + std::string(text);
      journal_.add(std::move(event));
    }
    drops.frames = frames;
    drops.last_ns = now;
  } else if (drops.began_ns != 0 && now - drops.last_ns >= kQuietNs) {
    event.text = "ended: " + std::string(reason) + ", " + std::to_string(drops.frames - drops.before) + " frames in " +
                 scaled_duration(static_cast<double>(drops.last_ns - drops.began_ns + kLookNs));
    drops.began_ns = 0;
    journal_.add(std::move(event));
  }
}

}  // namespace heddle
