// Boards and clients of a farm without the rest of them: any number on one event loop. They keep to the pauses of
// rpc_server and ferry.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "farm/protocol/codec.h"
#include "farm/protocol/lease/lease_guard.h"
#include "rpc/server/dial.h"
#include "rpc/server/frame_channel.h"

namespace ferry::bench {

using Clock = std::chrono::steady_clock;

struct SwarmPlace {
  server::EventLoop& loop;
  server::SecretMemory& secrets;
  server::SocketAddress tracker;
};

// A connection that is dialed again whenever it is lost.
class SwarmPeer : server::Dialer, server::FrameChannel::Owner {
 public:
  SwarmPeer(const SwarmPlace& place, const secure::Key& key);
  SwarmPeer(const SwarmPeer&) = delete;
  SwarmPeer& operator=(const SwarmPeer&) = delete;
  ~SwarmPeer() override;

  void start(std::chrono::milliseconds after);
  bool is_welcome() const { return is_welcome_; }

 protected:
  virtual std::vector<std::uint8_t> first_frame() = 0;
  virtual void on_welcome() {}
  virtual void beat() = 0;
  virtual Status on_event(farm::wire::Tag tag, std::span<const std::uint8_t> body) = 0;
  template <class Event>
  void send(const Event& event) {
    if (is_welcome_) channel_->send(farm::wire::event_frame(event));
  }
  server::EventLoop& loop() { return place_.loop; }

 private:
  void dial();
  void retry();
  void keep_alive();
  Result<secure::Key> read_key() override { return key_; }
  void on_dialed(Result<server::DialedConnection> connection) override;
  void on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override;
  void on_end(const Status&) override { retry(); }

  const SwarmPlace& place_;
  const secure::Key key_;
  server::Timer timer_;
  std::weak_ptr<server::PendingConnection> dialing_;
  std::shared_ptr<server::FrameChannel> channel_;
  Clock::time_point heard_;
  int failures_ = 0;  // in a row
  bool is_welcome_ = false;
};

// Serves leases by the rules of LeaseGuard; its sessions take no time.
class SwarmBoard final : public SwarmPeer {
 public:
  using SwarmPeer::SwarmPeer;

 private:
  std::vector<std::uint8_t> first_frame() override;
  void beat() override { beat(0); }
  void beat(std::uint64_t probe);
  Status on_event(farm::wire::Tag tag, std::span<const std::uint8_t> body) override;
  void apply(const lease::LeaseGuard::Effects& effects);

  lease::LeaseGuard guard_{0};
};

// Takes one lease after the other.
class SwarmClient final : public SwarmPeer {
 public:
  struct Habit {
    std::string selector;
    std::chrono::milliseconds hold_at_most{0};  // a random part of it
    // Called for each lease.
    std::function<void()> granted = [] {};
    std::function<void()> released = [] {};
    std::function<void(const farm::wire::Ended&)> ended = [](const farm::wire::Ended&) {};
  };
  SwarmClient(const SwarmPlace& place, const secure::Key& key, const Habit& habit);

 private:
  std::vector<std::uint8_t> first_frame() override;
  void on_welcome() override { submit(); }
  void beat() override { send(farm::wire::Keepalive{}); }
  Status on_event(farm::wire::Tag tag, std::span<const std::uint8_t> body) override;
  void submit();
  void release();

  const Habit& habit_;
  server::Timer holding_;
  std::uint64_t lease_ = 0;
};

// A random number below `end`.
std::uint64_t draw(std::uint64_t end);

}  // namespace ferry::bench
