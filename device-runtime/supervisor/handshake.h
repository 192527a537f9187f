// The first bytes of a connection, read without making anybody else wait: preamble and hello, within a deadline.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device-runtime/supervisor/socket.h"
#include "rpc/messages.h"
#include "rpc/wire/frame.h"

namespace ferry::device {

// A client that said hello properly, in a version we speak.
struct GreetedClient {
  ClientSocket socket;
  rpc::FrameHeader header;
  std::vector<std::uint8_t> body;  // of the hello
  rpc::Hello hello;
};

// Calls admitted(client) once the client said hello. One that breaks the protocol or is too slow is told so and closed.
// ended() is called in every case, last.
void begin_handshake(ClientSocket socket, std::function<void(GreetedClient)> admitted, std::function<void()> ended);

}  // namespace ferry::device
