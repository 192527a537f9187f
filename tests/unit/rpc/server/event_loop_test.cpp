// Tests that nothing is called back once it is no longer wanted, also where several callbacks are due in one moment.
#include "rpc/server/event_loop.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::test {
namespace {

using std::chrono::milliseconds;

// Two timers that have both expired when the loop looks; the callback of the one that is called first does `harm` to
// the other one. Returns what was called.
std::string called_after(const std::function<void(std::unique_ptr<server::Timer>& other)>& harm) {
  server::EventLoop loop;
  std::string called;
  auto first = std::make_unique<server::Timer>(loop), second = std::make_unique<server::Timer>(loop);
  first->start(milliseconds(1), [&] {
    called += "first ";
    harm(second);
  });
  second->start(milliseconds(1), [&] { called += "second "; });
  std::this_thread::sleep_for(milliseconds(20));
  loop.run();
  return called;
}

// A socket that can be read and written at once; the callback that is called first does `harm` to it.
int calls_after(const std::function<void(std::unique_ptr<server::WatchedDescriptor>& own)>& harm) {
  server::EventLoop loop;
  SocketPair pair;
  REQUIRE(::write(pair.client.number(), "x", 1) == 1);
  auto socket = std::make_unique<server::WatchedDescriptor>(loop, pair.server.release());
  int calls = 0;
  const auto called = [&] {
    ++calls;
    harm(socket);
  };
  socket->when_readable(called);
  socket->when_writable(called);
  loop.run();
  return calls;
}

}  // namespace

TEST_CASE("timers that expire in the same moment call back in turn") {
  CHECK(called_after([](auto&) {}) == "first second ");
}

TEST_CASE("a timer that is cancelled after it has expired does not call back") {
  CHECK(called_after([](auto& other) { other->cancel(); }) == "first ");
}

TEST_CASE("a timer that is destroyed after it has expired does not call back") {
  CHECK(called_after([](auto& other) { other.reset(); }) == "first ");
}

TEST_CASE("a timer that is started again after it has expired calls back once, with the new callback") {
  std::string again;
  CHECK(called_after([&](auto& other) { other->start(milliseconds(1), [&] { again += "again "; }); }) == "first ");
  CHECK(again == "again ");
}

TEST_CASE("a timer's own callback may start, cancel or destroy it") {
  server::EventLoop loop;
  auto timer = std::make_unique<server::Timer>(loop);
  int calls = 0;
  const std::function<void()> tick = [&] {
    ++calls;
    if (calls < 3) return timer->start(milliseconds(1), tick);
    timer->cancel();
    timer.reset();
  };
  timer->start(milliseconds(1), tick);
  loop.run();
  CHECK(calls == 3);
}

TEST_CASE("a callback keeps what it has captured only as long as it may be called") {
  server::EventLoop loop;
  server::Timer timer(loop);
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = kept;
  timer.start(milliseconds(1), [kept = std::move(kept)] {});
  CHECK(!watched.expired());
  loop.run();
  CHECK(watched.expired());
}

TEST_CASE("a descriptor that is closed, released or destroyed while it can be read and written calls back once") {
  CHECK(calls_after([](auto&) {}) == 2);
  CHECK(calls_after([](auto& own) { own->close(); }) == 1);
  CHECK(calls_after([](auto& own) { ::close(own->release()); }) == 1);
  CHECK(calls_after([](auto& own) { own.reset(); }) == 1);
}

}  // namespace ferry::test
