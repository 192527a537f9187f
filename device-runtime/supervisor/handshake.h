// The first bytes of a connection, read without making anybody else wait: preamble and first request, within a
// deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device-runtime/supervisor/descriptor.h"
#include "device-runtime/supervisor/event_loop.h"
#include "rpc/messages.h"
#include "rpc/wire/frame.h"

namespace ferry::device {

// A client whose first request was proper: open, hello or status. Nothing behind it was read.
struct GreetedClient {
  Descriptor socket;
  rpc::FrameHeader header;
  std::vector<std::uint8_t> body;  // of the first request
  rpc::Open open;                  // what a hello does not say is as by default
};

// Takes over the socket. Calls admitted(client) after its first request; one that breaks the protocol or is too slow
// is told so and closed. ended() is called in every case, last.
void begin_handshake(EventLoop& loop, int socket, std::function<void(GreetedClient)> admitted, Callback ended);

}  // namespace ferry::device
