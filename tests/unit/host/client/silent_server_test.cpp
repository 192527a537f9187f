// Tests that a client gives up a server that hangs.
#include "host/client/client.h"

#include <doctest/doctest.h>

#include <chrono>
#include <string>
#include <thread>

#include "tests/unit/host/client/scripted_server.h"

using namespace ferry;
using session::Client;
using test::Request;
using test::ScriptedServer;

TEST_CASE("a server that says nothing for longer than its limit of a call is given up") {
  const auto ask = [](std::uint64_t call_ms, bool debugger) -> std::string {
    ScriptedServer server([&](ScriptedServer& s) {
      rpc::OpenReply reply;
      reply.version = 1;
      reply.limits.call_ms = call_ms;
      s.answer(s.receive(), reply);
      const Request ping = s.receive();
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      s.answer(ping, rpc::Empty{});
      s.receive();
    });
    session::SessionOptions options;
    options.longest_silence = std::chrono::milliseconds(40);
    options.wait_for_debugger = debugger;
    Client client(server.client_end(), "board:9090", {}, options);
    try {
      client.synchronize();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("none");
  };
  CHECK(ask(20, false) ==
        "the connection to board:9090 is gone: it has said nothing for 40 ms, though it ends each call after 20 ms");
  CHECK(ask(100, false).find("nothing for 110 ms") != std::string::npos);
  CHECK(ask(0, false) == "none");
  CHECK(ask(20, true) == "none");
  CHECK(ask(60'000, false) == "none");
}
