// The connections of boards and clients. Each has a number that is never used again, so that what is meant for a
// connection that has ended reaches nobody.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>

#include "farm/api/farm.h"
#include "farm/protocol/codec.h"
#include "farm/store/credential.h"
#include "rpc/server/frame_channel.h"
#include "rpc/server/handshake.h"

namespace ferry::farm {

using ConnectionNumber = std::uint64_t;

// Receives the frames of peers. Its functions are called in the order in which these arrive; a failure closes the
// connection, and the peer is told why.
class PeerHandler {
 public:
  virtual ~PeerHandler() = default;
  virtual Status on_board_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) = 0;
  virtual Status on_client_event(ConnectionNumber from, wire::Tag tag, std::span<const std::uint8_t> body) = 0;
  virtual Status on_query(ConnectionNumber from, const rpc::FrameHeader& header,
                          std::span<const std::uint8_t> body) = 0;
  // Whether the database lags behind, so that nobody may make it write much more.
  virtual bool is_congested() const = 0;
  // Once for each connection that was not closed with close().
  virtual void on_left(ConnectionNumber number) = 0;
};

class Peers {
 public:
  Peers(server::EventLoop& loop, PeerHandler& handler);
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;
  ~Peers();

  enum class Kind : std::uint8_t { board, client };
  // Answers the first request, which is then done with.
  template <class Reply>
  ConnectionNumber admit(Kind kind, server::HandshakenClient client, const Reply& reply) {
    const std::vector<std::uint8_t> answer = wire::response_frame(client.header, reply);
    const ConnectionNumber number = add(kind, std::move(client));
    send_frame(number, answer);
    return number;
  }
  // Frames to a connection that has ended are dropped.
  template <class Event>
  void send(ConnectionNumber to, const Event& event) {
    send_frame(to, wire::event_frame(event));
  }
  void send_frame(ConnectionNumber to, std::span<const std::uint8_t> frame);
  // Tells the peer why, if there is a reason.
  void close(ConnectionNumber number, const std::string& reason);
  // Closes every connection under this key, and calls on_left() for each.
  void close_key(const secure::KeyId& key, const std::string& reason);
  void close_all();
  // Closes the connections from which nothing was heard for too long, and calls on_left() for each.
  void close_silent();

  bool contains(ConnectionNumber number) const { return peers_.contains(number); }
  std::size_t count(Kind kind) const { return kind == Kind::board ? boards_ : peers_.size() - boards_; }
  // How many connections there are under this key.
  std::size_t count(const secure::KeyId& key) const;
  // Counts what may be a commit. Fails with busy if there is too much of it under this key while the database lags
  // behind; most peers wait for an answer before they go on.
  Status take_turn(Kind kind, const secure::KeyId& key);
  // Bytes that wait to be sent to it.
  std::size_t queued(ConnectionNumber number) const;
  // The key that the connection has proved; nothing if it has ended.
  std::optional<secure::KeyId> key_of(ConnectionNumber number) const;
  // Its remote address.
  std::string address_of(ConnectionNumber number) const;

 private:
  struct Peer;
  struct KeyUse {
    std::size_t connections = 0;
    std::uint64_t congestion = 0;  // number of the congestion in which the turns were counted
    std::size_t turns = 0;
  };
  using Clock = std::chrono::steady_clock;

  ConnectionNumber add(Kind kind, server::HandshakenClient client);
  void on_frame(Peer& peer, const rpc::FrameHeader& header, std::span<const std::uint8_t> body);
  Status take_frame(Peer& peer, const rpc::FrameHeader& header, std::span<const std::uint8_t> body);
  // Removes the peer and returns whether there was one.
  bool remove(ConnectionNumber number);
  void leave(ConnectionNumber number, const std::string& reason);

  server::EventLoop& loop_;
  PeerHandler& handler_;
  std::unordered_map<ConnectionNumber, std::unique_ptr<Peer>> peers_;
  std::map<secure::KeyId, KeyUse> keys_;
  std::uint64_t congestions_ = 1;
  bool was_congested_ = false;
  std::size_t boards_ = 0;
  ConnectionNumber last_ = 0;
};

}  // namespace ferry::farm
