// SPDX-License-Identifier: Apache-2.0
#include "service/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/sinks/systemd_sink.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace heddle {

namespace {

// $JOURNAL_STREAM names the device and inode of what the journal reads: a child may have it and write elsewhere.
bool journal_reads_errors() {
  const char* stream = std::getenv("JOURNAL_STREAM");
  struct stat status;
  if (stream == nullptr || fstat(STDERR_FILENO, &status) != 0) return false;
  return std::to_string(status.st_dev) + ":" + std::to_string(status.st_ino) == stream;
}

}  // namespace

void start_log(const std::string& level) {
  std::shared_ptr<spdlog::logger> logger;
  if (journal_reads_errors()) {
    logger = spdlog::systemd_logger_mt("heddled");
    logger->set_pattern("%v");
  } else {
    logger = spdlog::stderr_logger_mt("heddled");
    logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e %l %v");
  }
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
  set_log_level(level);
}

void set_log_level(const std::string& level) { spdlog::set_level(spdlog::level::from_str(level)); }

}  // namespace heddle
