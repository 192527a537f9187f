// A tracker that does what a test tells it, over real sockets: listens, shakes hands with a board, and then sends and
// receives single messages.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "farm/protocol/codec.h"
#include "rpc/secure/key.h"
#include "rpc/wire/connection.h"

namespace ferry::test {

// A board that has proved its key and sent its join.
class JoiningBoard {
 public:
  // Does the handshake over a fresh connection.
  JoiningBoard(Descriptor socket, const secure::Key& key);

  const farm::wire::Join& join() const { return join_; }
  // Those of the connection.
  const secure::TransportKeys& keys() const { return keys_; }

  void accept() { send_raw(farm::wire::response_frame(header_, farm::wire::Joined{1, "pi-3"})); }
  void refuse(const Status& why) { REQUIRE(connection_->send_failure(header_, why).is_ok()); }
  template <class Event>
  void send(const Event& event) {
    send_raw(farm::wire::event_frame(event));
  }
  void send_raw(const std::vector<std::uint8_t>& bytes);
  void send_in_the_clear(const std::vector<std::uint8_t>& bytes);

  // Returns the next message of this kind, skipping heartbeats and reports of sessions if it is another one; any other
  // message before it fails the test.
  template <class Event>
  Event expect() {
    const auto decoded = farm::wire::decode<Event>(expect_body(farm::wire::MessageOf<Event>::kTag));
    REQUIRE_MESSAGE(decoded.is_ok(), decoded.status().message());
    return decoded.value();
  }
  void close() { connection_.reset(); }
  // Waits until the board closes the connection.
  void expect_end();

 private:
  std::vector<std::uint8_t> expect_body(farm::wire::Tag tag);

  std::unique_ptr<Transport> shake_hands(Descriptor socket, const secure::Key& key);

  int socket_;
  secure::TransportKeys keys_;
  std::unique_ptr<rpc::Connection> connection_;
  rpc::FrameHeader header_;
  farm::wire::Join join_;
};

class FakeTracker {
 public:
  explicit FakeTracker(secure::Key board_key);

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }
  // Waits for the next board, up to 20 s.
  JoiningBoard next();
  // The same, and accepts it.
  JoiningBoard next_joined();
  // Returns a connection on which nothing has been said yet.
  Descriptor next_socket();
  // Returns whether somebody connects within this time.
  bool has_visitor(std::chrono::milliseconds within) const;
  // Refuses the next board in the clear, as one whose key is unknown.
  void refuse_next();
  void set_key(const secure::Key& key) { key_ = key; }
  // From here on connections to its port are refused.
  void stop_listening() { listener_ = Descriptor(); }

 private:
  secure::Key key_;
  Descriptor listener_;
  std::uint16_t port_ = 0;
};

// The lease with this epoch, which ends after this time on this machine's own clock.
farm::wire::Announce lease_for(std::chrono::milliseconds length, std::uint64_t epoch, const secure::Key& psk,
                               std::uint32_t extension = 0);

}  // namespace ferry::test
