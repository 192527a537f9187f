// Reads the first bytes of a connection without blocking others: preamble, key and first request, within a deadline.
// Apart from the preamble, nothing that a client sends is interpreted before the client has proved that it holds a key.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/descriptor.h"
#include "rpc/server/event_loop.h"
#include "rpc/server/first_request.h"
#include "rpc/server/key_source.h"
#include "rpc/server/pending_connection.h"
#include "rpc/server/secure_ends.h"
#include "rpc/wire/frame.h"

namespace ferry::server {

// A client whose first request was valid. Nothing after that request has been read.
struct HandshakenClient {
  Descriptor socket;
  SecretMemory::Pointer secure;  // null: plaintext
  rpc::FrameHeader header;
  std::vector<std::uint8_t> body;  // the first request's body
  secure::KeyId key_id{};          // names the key that the client holds; zero in plaintext

  // Returns a frame in the form in which it must be sent to this client; nothing may be sent after the last one. Empty
  // if the connection cannot send any more.
  std::vector<std::uint8_t> outgoing(std::vector<std::uint8_t> frame, bool last) const;
};

// The callbacks for the outcome of a handshake.
struct HandshakeEnd {
  std::function<void(HandshakenClient)> admitted;  // called after the client's first request
  // Called for a client that breaks the protocol or holds no key, in the latter case after a delay. The arguments are
  // the socket and the frame with the reason.
  std::function<void(int socket, std::vector<std::uint8_t> frame)> refused;
  Callback ended;  // always called, and last
  // Called for a connection that asks to be relayed; nothing after its preamble has been read, and nothing but the
  // ticket proves that it may. Null: such connections are refused.
  std::function<void(Descriptor socket, const rpc::RelayTicket& ticket)> relayed = {};
};

// Takes ownership of the socket; `rules` must outlive the handshake. With keys, only clients that hold one are
// admitted; without, only clients that request no encryption. A client that is too slow is disconnected without an
// answer.
std::weak_ptr<PendingConnection> begin_handshake(EventLoop& loop, int socket, const FirstRequestRules& rules,
                                                 const KeySource* keys, SecretMemory& secrets, HandshakeEnd end);

}  // namespace ferry::server
