// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "telemetry/operator_client.h"
#include "telemetry/operator_fleet.h"
#include "telemetry/operator_server.h"

namespace heddle::telemetry_operator_server_test {
namespace {

// A server in a thread of its own; echoes what it is asked.
class Operator : public testing::Test {
 protected:
  Operator() {
    char pattern[] = "/tmp/heddle-test-XXXXXX";
    folder_ = mkdtemp(pattern);
    path_ = folder_ + "/run/socket";
    server_ = std::make_unique<OperatorServer>(path_, "", [this](std::string_view request) -> OperatorServer::Answer {
      ++handled_;
      if (request == "large") return {.reply = std::string(1 << 20, 'x'), .later = {}};
      if (request == "\"later\"")
        return {
            .reply = {}, .after_ns = 300 * kMillisecond, .later = [] { return R"({"ok": true, "result": "late"})"; }};
      if (request == "hold") {
        held_.set_value();
        release_.get_future().wait();
      }
      if (request == "handled") return {.reply = std::to_string(handled_), .later = {}};
      return {.reply = "{\"ok\": true, \"result\": " + std::string(request) + "}", .later = {}};
    });
    thread_ = std::thread([this] { server_->serve(stop_fd_, 10 * kMillisecond, [this] { ++ticks_; }); });
  }
  ~Operator() override {
    tell_to_stop();
    if (thread_.joinable()) thread_.join();
    server_.reset();
    EXPECT_FALSE(std::filesystem::exists(path_));
    std::filesystem::remove_all(folder_);
    close(stop_fd_);
  }

  void tell_to_stop() {
    const uint64_t one = 1;
    EXPECT_EQ(write(stop_fd_, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
  }

  int raw_connection() {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, path_.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  // A connection with many requests that the server has read; it is held at the first one until release_.
  int connection_with_many_requests() {
    const int fd = raw_connection();
    std::string requests = "hold\n";
    for (int i = 0; i < 1000; ++i) requests += "1\n";
    EXPECT_EQ(send(fd, requests.data(), requests.size(), 0), static_cast<ssize_t>(requests.size()));
    held_.get_future().wait();
    return fd;
  }

  int handled_ = 0;  // of the server's thread
  std::atomic<int> ticks_{0};
  std::promise<void> held_, release_;
  std::string folder_, path_;
  int stop_fd_ = eventfd(0, 0);
  std::unique_ptr<OperatorServer> server_;
  std::thread thread_;
};

TEST_F(Operator, WhatIsMeasuredOverATimeKeepsNobodyElseWaiting) {
  OperatorClient slow(path_), quick(path_);
  std::string order;
  std::thread asks([&] {
    EXPECT_EQ(slow.ask("later"), "late");
    order += "s";
  });
  while (ticks_ == 0) std::this_thread::yield();
  for (int i = 0; i < 10; ++i) EXPECT_EQ(quick.ask(i), i);
  order += "q";
  asks.join();
  EXPECT_EQ(order, "qs");
}

TEST_F(Operator, TicksWhetherItIsAskedOrNot) {
  const int before = ticks_;
  while (ticks_ < before + 3) std::this_thread::yield();
}

TEST_F(Operator, AnswersAndIsForItsGroupOnly) {
  OperatorClient client(path_);
  EXPECT_EQ(client.ask({{"a", 1}})["a"], 1);
  EXPECT_EQ(client.ask({{"b", "two"}})["b"], "two");
  struct stat status;
  ASSERT_EQ(stat(path_.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0660u);
}

TEST_F(Operator, TooLongARequestEndsTheConnectionOnly) {
  const int fd = raw_connection();
  const std::string noise(OperatorServer::kRequestBytesMax + 20000, 'x');
  ssize_t got = send(fd, noise.data(), noise.size(), MSG_NOSIGNAL);
  char byte;
  while (got > 0) got = read(fd, &byte, 1);
  EXPECT_LE(got, 0);
  close(fd);
  EXPECT_EQ(OperatorClient(path_).ask({{"still", "there"}})["still"], "there");
}

TEST_F(Operator, LargeRepliesArriveWholeAndInOrder) {
  const int fd = raw_connection();
  const std::string requests = "large\n1\nlarge\n2\n";
  ASSERT_EQ(send(fd, requests.data(), requests.size(), 0), static_cast<ssize_t>(requests.size()));
  std::string received;
  while (std::count(received.begin(), received.end(), '\n') < 4) {
    char bytes[65536];
    const ssize_t got = read(fd, bytes, sizeof(bytes));
    ASSERT_GT(got, 0);
    received.append(bytes, static_cast<size_t>(got));
  }
  EXPECT_EQ(received.size(), 2 * ((1 << 20) + 1) + 2 * std::string("{\"ok\": true, \"result\": 1}\n").size());
  EXPECT_EQ(received.substr((1 << 20) + 1, 26), "{\"ok\": true, \"result\": 1}\n");
  close(fd);
}

TEST_F(Operator, WhoSendsManyRequestsAtOnceWaitsForTheOthersBetweenThem) {
  const int many = connection_with_many_requests();
  const int other = raw_connection();
  ASSERT_EQ(send(other, "handled\n", 8, 0), 8);
  release_.set_value();
  char answer[16] = {};
  ASSERT_GT(read(other, answer, sizeof(answer) - 1), 0);
  EXPECT_LE(std::stoi(answer), 10);
  close(many);
  close(other);
}

TEST_F(Operator, AStopIsSeenBetweenTheRequestsOfAClient) {
  const int many = connection_with_many_requests();
  tell_to_stop();
  release_.set_value();
  thread_.join();
  EXPECT_EQ(handled_, 1);
  close(many);
}

TEST_F(Operator, WhoHasBeenThereLongestMakesRoom) {
  std::vector<int> idle;
  for (size_t i = 0; i < OperatorServer::kClientsMax; ++i) idle.push_back(raw_connection());
  EXPECT_EQ(OperatorClient(path_).ask({{"new", true}})["new"], true);
  char byte;
  EXPECT_EQ(read(idle[0], &byte, 1), 0) << "the first one is closed";
  for (const int fd : idle) close(fd);
}

TEST_F(Operator, ASecondServerIsRefusedAndASocketLeftBehindIsNot) {
  const auto handler = [](std::string_view) { return OperatorServer::Answer{}; };
  EXPECT_THROW(OperatorServer(path_, "", handler), std::runtime_error);
  EXPECT_EQ(OperatorClient(path_).ask({{"still", "there"}})["still"], "there");
  std::ofstream(folder_ + "/file") << "no socket";
  EXPECT_THROW(OperatorServer(folder_ + "/file", "", handler), std::runtime_error);
  EXPECT_THROW(OperatorServer(folder_ + "/" + std::string(200, 'x'), "", handler), std::runtime_error);
  EXPECT_THROW(OperatorServer(folder_ + "/other", "no such group", handler), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/other"));

  const std::string left = folder_ + "/left";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  left.copy(address.sun_path, left.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  close(fd);
  EXPECT_FALSE(operator_socket_answers(left));
  const OperatorServer server(left, "", handler);
  EXPECT_TRUE(operator_socket_answers(left));
}

// Sockets that were found may be of other programs; those that were named may not.
TEST_F(Operator, WhoWasFoundAndHangsUpIsAStranger) {
  const std::string other = folder_ + "/other";
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  other.copy(address.sun_path, other.size());
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(fd, 2), 0);
  std::thread stranger([fd] {
    for (int calls = 0; calls < 2; ++calls) close(accept(fd, nullptr, nullptr));
  });
  for (const bool found : {false, true}) {
    OperatorFleet fleet({{path_, other}, found}, std::chrono::seconds(10));
    const std::vector<FleetAnswer> answers = fleet.ask({{"who", "is there"}});
    EXPECT_EQ(answers[0].result["who"], "is there");
    EXPECT_EQ(answers[1].result, nullptr);
    EXPECT_NE(answers[1].error, "");
    EXPECT_EQ(answers[1].stranger, found);
  }
  stranger.join();
  close(fd);
}

TEST(OperatorClient, SaysWhoDoesNotAnswer) {
  try {
    OperatorClient client("/tmp/heddle-no-such-socket");
    FAIL();
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("/tmp/heddle-no-such-socket"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("is it running?"), std::string::npos);
  }
}

}  // namespace
}  // namespace heddle::telemetry_operator_server_test
