// A thread whose database does not answer.
#include "farm/store/modules/module_thread.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/socket.h>
#include <asio/executor_work_guard.hpp>

#include "base/descriptor.h"
#include "base/format.h"

namespace ferry::test {
namespace {

using farm::ModuleThread;
using Clock = std::chrono::steady_clock;

// A port at which connections are made, but nothing is ever said. Connecting is given up after 2 s.
class SilentServer {
 public:
  SilentServer() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(socket_.number(), reinterpret_cast<const sockaddr*>(&address), size) == 0);
    REQUIRE(::listen(socket_.number(), 100) == 0);
    REQUIRE(::getsockname(socket_.number(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
    uri = format("postgresql://ferry@127.0.0.1:%u/farm?connect_timeout=2", ntohs(address.sin_port));
  }

  std::string uri;

 private:
  Descriptor socket_;
};

TEST_CASE("a tracker that stops does not wait for requests that wait") {
  const SilentServer server;
  server::EventLoop loop;
  Clock::time_point begin;
  int answered = 0;
  {
    ModuleThread thread(loop, server.uri, 1000);
    for (farm::ModuleStore::Sender sender = 0; sender < 6; ++sender)
      thread.ask(sender, farm::wire::FindObjects{}, [&](const auto&) { ++answered; });
    begin = Clock::now();
  }
  CHECK(std::chrono::duration<double>(Clock::now() - begin).count() < 5);
  loop.run();
  CHECK(answered == 0);
}

TEST_CASE("requests that have waited for too long are refused without another try") {
  const SilentServer server;
  server::EventLoop loop;
  ModuleThread thread(loop, server.uri, 1000, std::chrono::milliseconds(500));
  std::vector<Status> answers;
  const auto work = asio::make_work_guard(loop.context());
  const auto begin = Clock::now();
  for (farm::ModuleStore::Sender sender = 0; sender < 6; ++sender) {
    thread.ask(sender, farm::wire::FindObjects{}, [&](const Result<farm::wire::ObjectsFound>& answer) {
      answers.push_back(answer.status());
      if (answers.size() == 6) loop.stop();
    });
  }
  loop.run();
  CHECK(std::chrono::duration<double>(Clock::now() - begin).count() < 5);
  REQUIRE(answers.size() == 6);
  CHECK(answers.front().code() == ErrorCode::unavailable);
  CHECK(answers.back().code() == ErrorCode::busy);
}

}  // namespace
}  // namespace ferry::test
