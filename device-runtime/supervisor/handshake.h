// The first bytes of a connection, read without making anybody else wait: preamble and hello, within a deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device-runtime/supervisor/descriptor.h"
#include "device-runtime/supervisor/event_loop.h"
#include "rpc/messages.h"
#include "rpc/wire/frame.h"

namespace ferry::device {

// A client that said hello properly, in a version we speak. Nothing behind the hello was read.
struct GreetedClient {
  Descriptor socket;
  rpc::FrameHeader header;
  std::vector<std::uint8_t> body;  // of the hello
  rpc::Hello hello;
};

// Takes over the socket. Calls admitted(client) once the client said hello; one that breaks the protocol or is too slow
// is told so and closed. ended() is called in every case, last.
void begin_handshake(EventLoop& loop, int socket, std::function<void(GreetedClient)> admitted, Callback ended);

}  // namespace ferry::device
