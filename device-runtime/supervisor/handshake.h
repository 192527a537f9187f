// The first bytes of a connection, read without making anybody else wait: preamble, key and first request, within a
// deadline.
// Nothing of what a client says is looked at before it has shown that it holds a key, but for the preamble.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "device-runtime/supervisor/descriptor.h"
#include "device-runtime/supervisor/event_loop.h"
#include "device-runtime/supervisor/key_ring.h"
#include "device-runtime/supervisor/pending_connection.h"
#include "device-runtime/supervisor/secure_ends.h"
#include "rpc/messages.h"
#include "rpc/wire/frame.h"

namespace ferry::device {

// A client whose first request was proper: open, hello or status. Nothing behind it was read.
struct GreetedClient {
  Descriptor socket;
  SecretMemory::Pointer secure;  // null: in the clear
  rpc::FrameHeader header;
  std::vector<std::uint8_t> body;  // of the first request
  rpc::Open open;                  // what a hello does not say is as by default

  // A frame as this client's socket takes it; after the last one nothing more may be sent. Empty when the connection
  // cannot send any more.
  std::vector<std::uint8_t> outgoing(std::vector<std::uint8_t> frame, bool last) const;
};

// What comes of a handshake.
struct HandshakeEnd {
  std::function<void(GreetedClient)> admitted;  // after its first request
  // One that breaks the protocol or holds no key, the latter after a while: the socket and the frame that says so.
  std::function<void(int socket, std::vector<std::uint8_t> frame)> refused;
  Callback ended;  // in every case, last
};

// Takes over the socket. With keys, only clients that hold one are let in; without, only those that want no encryption.
// One that is too slow is closed without a word.
std::weak_ptr<PendingConnection> begin_handshake(EventLoop& loop, int socket, const KeyRing* keys,
                                                 SecretMemory& secrets, HandshakeEnd end);

}  // namespace ferry::device
