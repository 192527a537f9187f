// A board of a farm without a runtime: joins, sends heartbeats, and serves the leases that it is told by the rules of
// LeaseGuard. It runs on a thread of its own.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "farm/protocol/codec.h"
#include "farm/protocol/lease/lease_guard.h"
#include "rpc/secure/key.h"
#include "rpc/transport/tcp_address.h"
#include "rpc/wire/connection.h"

namespace ferry::test {

struct TestBoardOptions {
  TcpAddress tracker;
  secure::Key key;
  farm::wire::Description description;
  std::uint64_t boot_id = 1;
  std::string address = "127.0.0.1:1";
  lease::Epoch ceiling = 0;
  bool acknowledges = true;
};

class TestBoard {
 public:
  explicit TestBoard(TestBoardOptions options);
  ~TestBoard();
  TestBoard(const TestBoard&) = delete;
  TestBoard& operator=(const TestBoard&) = delete;

  // By which the farm knows the board; fails with why it could not join.
  Result<std::string> joined_as() const { return joined_; }
  // The lease that the board serves and the key of its sessions, once that is so; nothing after the timeout.
  struct Served {
    lease::LeaseKey key;
    secure::KeyBytes psk;
    std::uint64_t holder = 0;
  };
  std::optional<Served> wait_for_lease(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  // Waits until no lease is served; returns false after the timeout.
  bool wait_until_free(std::chrono::milliseconds timeout = std::chrono::seconds(10));
  // Waits until the connection has ended, and returns what the tracker said last, or why it ended.
  std::string wait_for_end(std::chrono::milliseconds timeout = std::chrono::seconds(15));
  std::optional<secure::KeyBytes> new_key();
  // The token of the relay that the tracker asks the board to open.
  std::optional<std::uint64_t> relay_token();
  std::vector<lease::LeaseKey> served() const;

  void set_temperature(std::int32_t millidegrees) { millidegrees_ = millidegrees; }
  template <class Event>
  void send(const Event& event) {
    const std::lock_guard lock(sending_);
    (void)connection_->send_frame(
        {rpc::FrameKind::event, static_cast<std::uint16_t>(farm::wire::MessageOf<Event>::kTag)},
        farm::wire::encode(event));
  }
  // Ends the connection, as a board does that loses power.
  void cut();

 private:
  Result<std::string> join();
  void run();
  void take(const rpc::Frame& frame);
  void apply(const lease::LeaseGuard::Effects& effects);
  void beat(std::uint64_t probe);

  TestBoardOptions options_;
  std::unique_ptr<rpc::Connection> connection_;
  Result<std::string> joined_;
  std::mutex sending_;
  mutable std::mutex mutex_;  // guards all that follows
  std::condition_variable changed_;
  lease::LeaseGuard guard_;
  farm::wire::LeaseHolder holder_;
  std::optional<Served> announced_;
  std::vector<lease::LeaseKey> served_;
  std::optional<secure::KeyBytes> new_key_;
  std::optional<std::uint64_t> relay_token_;
  std::string end_;
  bool has_ended_ = false;
  std::optional<std::int32_t> millidegrees_;
  std::thread thread_;
};

}  // namespace ferry::test
