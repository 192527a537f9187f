#include "host/farm/http/socket_stream.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <string>
#include <thread>

#include "host/farm/http/request_head.h"

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
  SocketStream stream(milliseconds read, milliseconds write) const {
    return {ours.number(), "192.0.2.1", Clock::now() + read, write};
  }
  void send(const std::string& text) const {
    CHECK(::send(theirs.number(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }

  Descriptor ours, theirs;
};

std::string read_all(SocketStream& stream) {
  std::string all;
  char piece[7];
  for (ssize_t count = 0; (count = stream.read(piece, sizeof piece)) > 0;) all.append(piece, piece + count);
  return all;
}

}  // namespace

TEST_CASE("a head that arrives in any pieces is found, and the library reads it and the body but nothing after it") {
  const std::string head = "POST / HTTP/1.1\r\nA: b\r\n\r\n", all = head + "body" + "GET /hidden";
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    CAPTURE(cut);
    const Pair pair;
    SocketStream stream = pair.stream(milliseconds(2000), milliseconds(100));
    pair.send(all.substr(0, cut));
    std::string found;
    if (cut < head.size()) {
      std::thread later([&] {
        std::this_thread::sleep_for(milliseconds(1));
        pair.send(all.substr(cut));
      });
      CHECK(stream.read_head(found) == SocketStream::HeadEnd::complete);
      later.join();
    } else {
      CHECK(stream.read_head(found) == SocketStream::HeadEnd::complete);
      pair.send(all.substr(cut));
    }
    CHECK(found == head);
    stream.replay("other head ", 4);
    CHECK(read_all(stream) == "other head body");
  }
}

TEST_CASE("a head without an end is given up at its limit, its deadline or the end of the connection") {
  std::string head;
  {
    const Pair pair;
    SocketStream stream = pair.stream(milliseconds(2000), milliseconds(100));
    pair.send(std::string(kMaxHead + 1, 'a'));
    CHECK(stream.read_head(head) == SocketStream::HeadEnd::too_large);
  }
  {
    const Pair pair;
    SocketStream stream = pair.stream(milliseconds(60), milliseconds(100));
    pair.send("GET / HTTP/1.1\r\n");
    const auto begin = Clock::now();
    CHECK(stream.read_head(head) == SocketStream::HeadEnd::timed_out);
    CHECK(Clock::now() - begin >= milliseconds(50));
  }
  Pair pair;
  SocketStream stream = pair.stream(milliseconds(2000), milliseconds(100));
  pair.theirs = Descriptor();
  CHECK(stream.read_head(head) == SocketStream::HeadEnd::gone);
  CHECK_FALSE(stream.is_writable());
}

TEST_CASE("the end of the longest head that fits is seen, and that of a longer one is not") {
  for (const std::size_t extra : {0, 1}) {
    const Pair pair;
    SocketStream stream = pair.stream(milliseconds(2000), milliseconds(100));
    pair.send(std::string(kMaxHead - 4 + extra, 'a') + "\r\n\r\n");
    std::string head;
    CHECK((stream.read_head(head) == SocketStream::HeadEnd::complete) == (extra == 0));
  }
}

TEST_CASE("a write to a peer that does not read fails after its limit, however much fits at first") {
  const Pair pair;
  SocketStream stream = pair.stream(milliseconds(2000), milliseconds(120));
  const std::string large(8 << 20, 'x');
  const auto begin = Clock::now();
  CHECK(stream.write(large.data(), large.size()) == -1);
  CHECK(Clock::now() - begin >= milliseconds(110));
  CHECK(Clock::now() - begin < milliseconds(1500));
}

TEST_CASE("a write to a peer that is gone fails without a signal") {
  Pair pair;
  SocketStream stream = pair.stream(milliseconds(100), milliseconds(100));
  CHECK(stream.is_writable());
  pair.theirs = Descriptor();
  CHECK(stream.write("x", 1) == -1);
}
