#include "farm/web/arrivals.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "farm/web/request_head.h"

using namespace ferry::farm::http;
using ferry::Descriptor;
using std::chrono::milliseconds;

namespace {

// A connection of which one end is among the arrivals.
struct Caller {
  explicit Caller(Arrivals& arrivals) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    socket = Descriptor(ends[0]);
    arrivals.add(Descriptor(ends[1]));
  }
  void send(const std::string& text) const {
    CHECK(::send(socket.number(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  std::string received() const {
    char bytes[1000];
    const ssize_t count = ::recv(socket.number(), bytes, sizeof bytes, 0);
    return count <= 0 ? "" : std::string(bytes, bytes + count);
  }
  bool is_closed() const {
    char byte;
    return ::recv(socket.number(), &byte, 1, 0) == 0;
  }

  Descriptor socket;
};

std::vector<Arrival> take(Arrivals& arrivals) {
  std::vector<pollfd> entries;
  arrivals.append_to(entries);
  REQUIRE(::poll(entries.data(), entries.size(), 0) >= 0);
  return arrivals.take(entries.data());
}

const std::string kPost = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n";

}  // namespace

TEST_CASE("a request leaves the arrivals once all of it is there, however it is divided") {
  const std::string request = kPost + "\r\nbody";
  for (std::size_t cut = 1; cut < request.size(); ++cut) {
    CAPTURE(cut);
    Arrivals arrivals(milliseconds(10'000));
    const Caller caller(arrivals);
    CHECK(take(arrivals).empty());
    caller.send(request.substr(0, cut));
    CHECK(take(arrivals).empty());
    caller.send(request.substr(cut) + "more");
    const std::vector<Arrival> ready = take(arrivals);
    REQUIRE(ready.size() == 1);
    CHECK(ready[0].bytes == request + "more");
    CHECK(arrivals.milliseconds_left() == -1);
  }
}

TEST_CASE("what is refused for its head does not wait for its body, nor what is too large for its end") {
  for (const std::string& start : {std::string("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999\r\n\r\n"),
                                   std::string("nonsense\r\n\r\n"), std::string(kMaxHead + 1, 'a')}) {
    CAPTURE(start.substr(0, 40));
    Arrivals arrivals(milliseconds(10'000));
    const Caller caller(arrivals);
    caller.send(start);
    CHECK(take(arrivals).size() == 1);
  }
}

TEST_CASE("a client that expects to be asked for the body is asked once") {
  Arrivals arrivals(milliseconds(10'000));
  const Caller caller(arrivals), older(arrivals);
  caller.send(kPost + "Expect: 100-continue\r\n\r\n");
  older.send("POST / HTTP/1.0\r\nHost: localhost\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  CHECK(take(arrivals).empty());
  CHECK(caller.received() == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(older.received() == "");  // there is no such response in HTTP 1.0
  caller.send("bo");
  CHECK(take(arrivals).empty());
  caller.send("dy");
  CHECK(take(arrivals).size() == 1);
  CHECK(caller.received() == "");
}

TEST_CASE("the deadline ends the wait for a request, and a client that leaves is forgotten") {
  Arrivals arrivals(milliseconds(60));
  const Caller slow(arrivals);
  {
    const Caller gone(arrivals);
  }
  slow.send("GET / HT");
  CHECK(take(arrivals).empty());
  CHECK(arrivals.milliseconds_left() > 0);
  CHECK(arrivals.milliseconds_left() <= 60);
  std::this_thread::sleep_for(milliseconds(70));
  CHECK(arrivals.milliseconds_left() == 0);
  CHECK(take(arrivals).size() == 1);
  CHECK(arrivals.milliseconds_left() == -1);
}

TEST_CASE("beyond the limit the oldest connection gives way, not the one that speaks") {
  Arrivals arrivals(milliseconds(10'000));
  std::vector<Caller> callers;
  for (std::size_t i = 0; i < Arrivals::kMost; ++i) callers.emplace_back(arrivals);
  const Caller last(arrivals);
  CHECK(callers[0].is_closed());
  CHECK_FALSE(callers[1].is_closed());
  last.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(take(arrivals).size() == 1);
}
