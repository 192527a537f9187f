// A board of a farm: decides which clients may open sessions. It admits those that hold the key of the lease which its
// tracker has announced, until the lease ends, whether the tracker can be reached or not, and nobody else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "farm/board/board_uplink.h"
#include "farm/board/ceiling_file.h"
#include "farm/board/relay_dials.h"
#include "farm/protocol/lease/lease_guard.h"
#include "rpc/server/key_source.h"

namespace ferry::device {

class FarmBoard final : public server::KeySource, BoardUplink::Board {
 public:
  class Sessions {
   public:
    virtual ~Sessions() = default;
    // Ends the running session; then session_ended() must be called.
    virtual void end_session(const Status& why) = 0;
    // Takes ownership of the connection of a client that begins now, as if it had been accepted.
    virtual void adopt(int socket) = 0;
    virtual void log(const std::string& line) = 0;
  };

  // All arguments must outlive this object. `secrets` needs room for two connections.
  FarmBoard(server::EventLoop& loop, server::SecretMemory& secrets, const FarmOptions& options,
            const DeviceFacts& facts, CeilingFile& ceiling, Sessions& sessions);
  FarmBoard(const FarmBoard&) = delete;
  FarmBoard& operator=(const FarmBoard&) = delete;

  // `address` is where the server listens.
  void start(const std::string& address);
  void stop();

  // The key of the lease being served.
  Result<std::optional<secure::Key>> find(const secure::KeyId& id) const override;
  // Says why a client with this key is not to be served; unlike admit(), also while another one has a session.
  Status check(const secure::KeyId& id) const;
  // If this succeeds, a session runs until session_ended() is called.
  Status admit(const secure::KeyId& id);
  // Of the session that was admitted last; 0: the tracker has not said who that is.
  std::uint64_t holder() const { return admitted_holder_; }
  // Tells the tracker how this session has ended, before session_ended(). `failure` may be any bytes; it is empty if
  // the client has ended the session.
  void report_session(std::string client, std::uint64_t length_ms, std::string_view failure);
  void session_ended();

 private:
  struct Lease {
    lease::LeaseKey key;
    secure::Key psk;
    std::uint64_t holder = 0;
  };

  farm::wire::Join make_join(int socket) override;
  void on_announce(const farm::wire::Announce& message, std::uint64_t holder) override;
  void on_withdraw(const farm::wire::Withdraw& message) override;
  void on_open_relay(const farm::wire::OpenRelay& message, const server::SocketAddress& tracker) override;
  void log(const std::string& line) override { sessions_.log("farm: " + line); }
  void apply(const lease::LeaseGuard::Effects& effects, const Status& why);
  void write_ceiling(lease::Epoch ceiling);
  void watch_end();
  bool is_served() const;
  bool is_served(const secure::KeyId& id) const;

  const FarmOptions& options_;
  const DeviceFacts& facts_;
  CeilingFile& ceiling_;
  Sessions& sessions_;
  std::string address_;  // where the server listens
  lease::LeaseGuard guard_;
  std::optional<Lease> lease_;  // announced last; its key is of no use to the sessions of others
  lease::LeaseKey admitted_;    // the lease of the session that was admitted last
  std::uint64_t admitted_holder_ = 0;
  server::Timer end_;
  RelayDials relays_;
  BoardUplink link_;
};

}  // namespace ferry::device
