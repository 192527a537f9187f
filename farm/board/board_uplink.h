// A board's connection to its tracker: dials until one of the trackers answers, joins, sends heartbeats, and dials
// again when the connection is lost or silent.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "farm/board/board_state.h"
#include "farm/protocol/codec.h"
#include "rpc/server/dial.h"
#include "rpc/server/frame_channel.h"

namespace ferry::device {

class BoardUplink final : server::Dialer, server::FrameChannel::Owner {
 public:
  class Board {
   public:
    virtual ~Board() = default;
    // Returns the message with which the board joins over this socket.
    virtual farm::wire::Join make_join(int socket) = 0;
    // `holder` is 0 where the tracker is too old to say who has the lease.
    virtual void on_announce(const farm::wire::Announce& message, std::uint64_t holder) = 0;
    virtual void on_withdraw(const farm::wire::Withdraw& message) = 0;
    // A client waits at this tracker.
    virtual void on_open_relay(const farm::wire::OpenRelay& message, const server::SocketAddress& tracker) = 0;
    virtual void log(const std::string& line) = 0;
  };

  // All must outlive this object; `secrets` needs room for two connections.
  BoardUplink(server::EventLoop& loop, server::SecretMemory& secrets, const FarmOptions& options, Board& board);
  BoardUplink(const BoardUplink&) = delete;
  BoardUplink& operator=(const BoardUplink&) = delete;
  ~BoardUplink() override { stop(); }

  void start() { dial(); }
  void stop();
  // Dropped unless the board has joined: the next join says what holds then.
  template <class Event>
  void send(const Event& event) {
    if (is_joined_) channel_->send(farm::wire::event_frame(event));
  }

 private:
  void dial();
  void retry(const std::string& why);
  Result<secure::Key> read_key() override { return secure::read_key_file(options_.key_file); }
  void on_dialed(Result<server::DialedConnection> connection) override;
  void on_frame(const rpc::FrameHeader& header, std::span<const std::uint8_t> body) override;
  void on_end(const Status& why) override { retry(why.message()); }
  void on_joined(const rpc::FrameHeader& header, std::span<const std::uint8_t> body);
  Status on_event(farm::wire::Tag tag, std::span<const std::uint8_t> body);
  // Puts the key in place of the one in the file, and dials again with it.
  Status rekey(std::span<const std::uint8_t> body);
  void beat();
  void watch_silence();
  Result<server::SocketAddress> address() const;
  std::string tracker() const { return to_text(options_.trackers[next_]); }

  server::EventLoop& loop_;
  server::SecretMemory& secrets_;
  const FarmOptions& options_;
  Board& board_;
  server::Timer timer_;  // fires for the next attempt, or for the next heartbeat
  std::weak_ptr<server::PendingConnection> dialing_;
  std::shared_ptr<server::FrameChannel> channel_;
  std::size_t next_ = 0;      // the next tracker's number
  std::size_t failures_ = 0;  // in a row
  bool is_joined_ = false;
  bool is_rekeyed_ = false;  // since a connection has last lasted
  std::uint64_t probe_ = 0;
  farm::wire::LeaseHolder holder_;  // the next lease to be announced belongs to it
  lease::BootTime heard_;
  std::vector<std::string> logged_;  // the last failure of each tracker, so that it appears once
};

}  // namespace ferry::device
