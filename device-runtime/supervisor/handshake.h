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
#include "rpc/messages.h"
#include "rpc/secure/record.h"
#include "rpc/wire/frame.h"

namespace ferry::device {

// Both halves of an encrypted connection after its handshake.
struct SecureEnds {
  secure::SealingState sending;
  secure::OpeningState receiving;
};

// A client whose first request was proper: open, hello or status. Nothing behind it was read.
struct GreetedClient {
  Descriptor socket;
  std::unique_ptr<SecureEnds> secure;  // null: in the clear
  rpc::FrameHeader header;
  std::vector<std::uint8_t> body;  // of the first request
  rpc::Open open;                  // what a hello does not say is as by default

  // A frame as this client's socket takes it; after the last one nothing more may be sent. Empty when the connection
  // cannot send any more.
  std::vector<std::uint8_t> outgoing(std::vector<std::uint8_t> frame, bool last) const;
};

// A handshake under way.
class PendingHandshake {
 public:
  virtual ~PendingHandshake() = default;
  // Closes without a word: somebody else needs the place.
  virtual void abandon() = 0;
};

// Takes over the socket. With keys, only clients that hold one are let in; without, only those that want no encryption.
// Calls admitted(client) after its first request; one that breaks the protocol, holds no key or is too slow is told
// so and closed, the second after a while. ended() is called in every case, last.
std::weak_ptr<PendingHandshake> begin_handshake(EventLoop& loop, int socket, const KeyRing* keys,
                                                std::function<void(GreetedClient)> admitted, Callback ended);

}  // namespace ferry::device
