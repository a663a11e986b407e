// SPDX-License-Identifier: Apache-2.0
// Requests of any content to a process of two switches, whose workers take a turn after each: no crash, and a reply on
// one line that says how it went. What is shown is also turned into text, as the client does.
#include <spdlog/spdlog.h>

#include <cstdlib>
#include <memory>

#include "io/eal.h"
#include "telemetry/operator_commands.h"
#include "telemetry/show_merge.h"
#include "telemetry/show_text.h"
#include "tests/unit/pair_config.h"

namespace {

using heddle::Json;

std::unique_ptr<heddle::Eal> eal;
std::unique_ptr<heddle::SwitchProcess> process;
heddle::Nanos now = heddle::kSecond;

void require(bool good) {
  if (!good) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  eal = std::make_unique<heddle::Eal>(heddle::EalOptions{.threads = 0, .memory_mb = 256, .pci_devices = {}});
  spdlog::set_level(spdlog::level::off);
  process = std::make_unique<heddle::SwitchProcess>(heddle::test::pair_config());
  std::atexit([] {
    process.reset();
    eal.reset();
  });
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const Json request = Json::parse(text, nullptr, false);
  static heddle::EventJournal journal([](const heddle::Event&) {});
  const auto first = heddle::answer_request({.process = process.get(), .journal = &journal}, text);
  const std::string answer = first.later != nullptr ? first.later() : first.reply;
  require(answer.find('\n') == std::string::npos);
  const Json reply = Json::parse(answer);
  require(reply.size() == 2);
  if (!reply.at("ok").get<bool>()) {
    require(!reply.at("error").get<std::string>().empty());
  } else if (request.at("command") == "show") {
    require(
        !heddle::show_text(request.at("what").get<std::string>(), heddle::merge_replies({reply.at("result")})).empty());
  }
  now += 100 * heddle::kMicrosecond;
  heddle::test::poll_all(*process, now);
  return 0;
}
