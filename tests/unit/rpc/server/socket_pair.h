// Two connected local sockets: one for the server's code, one for a client.
#pragma once

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <chrono>
#include <memory>

#include "base/descriptor.h"
#include "rpc/transport/socket.h"
#include "rpc/wire/connection.h"

namespace ferry::test {

struct SocketPair {
  SocketPair() {
    int ends[2];
    REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    server = Descriptor(ends[0]);
    client = Descriptor(ends[1]);
  }

  // Returns the client's transport; receives time out after 20 s.
  std::unique_ptr<Transport> transport() {
    auto wrapped = wrap_socket(client.release());
    REQUIRE_MESSAGE(wrapped.is_ok(), wrapped.status().message());
    wrapped.value()->set_receive_timeout(std::chrono::seconds(20));
    return std::move(wrapped.value());
  }
  std::unique_ptr<rpc::Connection> connect() { return std::make_unique<rpc::Connection>(transport()); }

  Descriptor server, client;
};

}  // namespace ferry::test
