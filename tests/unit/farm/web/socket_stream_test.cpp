#include "farm/web/socket_stream.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <string>

#include "base/descriptor.h"

using namespace ferry::farm::http;
using ferry::Descriptor;
using std::chrono::milliseconds;
using Clock = SocketStream::Clock;

namespace {

struct Pair {
  Pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ours = Descriptor(ends[0]);
    theirs = Descriptor(ends[1]);
  }
  SocketStream stream(const std::string& request = "", milliseconds write = milliseconds(100)) const {
    return {ours.number(), "192.0.2.1", request, write};
  }

  Descriptor ours, theirs;
};

}  // namespace

TEST_CASE("the library reads the request, and nothing that has arrived after it") {
  const Pair pair;
  REQUIRE(::send(pair.theirs.number(), "GET /hidden", 11, MSG_NOSIGNAL) == 11);
  SocketStream stream = pair.stream("POST / HTTP/1.1\r\n\r\nbody");
  std::string all;
  char piece[7];
  for (ssize_t count = 0; (count = stream.read(piece, sizeof piece)) > 0;) all.append(piece, piece + count);
  CHECK(all == "POST / HTTP/1.1\r\n\r\nbody");
  CHECK(stream.read(piece, sizeof piece) == 0);
}

TEST_CASE("a write to a peer that does not read fails after its limit, however much fits at first") {
  const Pair pair;
  SocketStream stream = pair.stream("", milliseconds(120));
  const std::string large(8 << 20, 'x');
  const auto begin = Clock::now();
  CHECK(stream.write(large.data(), large.size()) == -1);
  CHECK(Clock::now() - begin >= milliseconds(110));
  CHECK(Clock::now() - begin < milliseconds(1500));
}

TEST_CASE("a write to a peer that is gone fails without a signal") {
  Pair pair;
  SocketStream stream = pair.stream();
  CHECK(stream.is_writable());
  pair.theirs = Descriptor();
  CHECK_FALSE(stream.is_writable());
  CHECK(stream.write("x", 1) == -1);
}
