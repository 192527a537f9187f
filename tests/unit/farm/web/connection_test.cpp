#include "farm/web/connection.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <memory>
#include <optional>
#include <string>

using namespace ferry::farm::http;
using ferry::Descriptor;
using std::chrono::milliseconds;
using State = RequestParser::State;

namespace {

constexpr std::chrono::seconds kLong{100};
const std::string kPost = "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n";

// A connection and its client, on a loop of this thread.
struct Pair {
  Pair() {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    client = Descriptor(ends[1]);
    connection = std::make_unique<Connection>(loop, Descriptor(ends[0]));
  }

  void send(const std::string& text) const {
    CHECK(::send(client.number(), text.data(), text.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(text.size()));
  }
  // What has arrived; nothing if the connection was closed before.
  std::optional<std::string> received() const {
    std::string piece(100'000, '\0');
    const ssize_t count = ::recv(client.number(), piece.data(), piece.size(), 0);
    if (count == 0) return std::nullopt;
    piece.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
    return piece;
  }
  // Runs the callbacks that are due.
  void poll() {
    loop.context().restart();
    loop.context().poll();
  }
  // Until an operation has ended. Callbacks count themselves in `ended`.
  void run() {
    loop.context().restart();
    while (ended == 0 && loop.context().run_one() > 0) {
    }
  }
  ferry::server::Callback end() {
    return [this] { ++ended; };
  }
  ferry::server::Callback close() {
    return [this] {
      ++ended;
      connection.reset();
    };
  }

  ferry::server::EventLoop loop;
  Descriptor client;
  std::unique_ptr<Connection> connection;
  int ended = 0;
};

}  // namespace

TEST_CASE("a request ends the operation once all of it is there") {
  Pair pair;
  pair.connection->receive(kLong, pair.end(), [] { FAIL("the client is there"); });
  pair.send(kPost);
  pair.poll();
  pair.send("\r\nbo");
  pair.poll();
  CHECK(pair.ended == 0);
  pair.send("dy and more");
  pair.poll();
  CHECK(pair.ended == 1);
  CHECK(pair.connection->parser().state() == State::whole);
  CHECK(pair.connection->parser().request().body == "body");
  CHECK_FALSE(pair.connection->has_input());
}

TEST_CASE("a client that expects to be asked for the body is asked once") {
  Pair pair;
  pair.connection->receive(kLong, pair.end(), pair.end());
  pair.send(kPost + "Expect: 100-continue\r\n\r\n");
  pair.poll();
  CHECK(pair.received() == "HTTP/1.1 100 Continue\r\n\r\n");
  pair.send("bo");
  pair.poll();
  CHECK(pair.ended == 0);
  pair.send("dy");
  pair.poll();
  CHECK(pair.ended == 1);
  CHECK(pair.received() == "");
}

TEST_CASE("the limit ends the wait for a request, and a client that leaves is forgotten") {
  Pair slow;
  slow.connection->receive(milliseconds(20), slow.end(), [] { FAIL("the client is there"); });
  slow.send("GET / HT");
  slow.run();
  CHECK(slow.connection->parser().status() == 408);
  slow.send("TP/1.1\r\n\r\n");
  slow.poll();
  CHECK(slow.ended == 1);

  Pair gone;
  gone.connection->receive(kLong, [] { FAIL("there is no request"); }, gone.close());
  gone.send("GET / HT");
  gone.client = Descriptor();
  gone.poll();
  CHECK(gone.ended == 1);
}

TEST_CASE("a text is sent as fast as its client takes it") {
  Pair pair;
  std::optional<bool> is_sent;
  const std::string text(4 << 20, 'x');
  pair.connection->send(text, kLong, [&](bool is_all) { is_sent = is_all; });
  std::size_t size = 0;
  for (pair.poll(); !is_sent; pair.poll()) size += pair.received().value().size();
  CHECK(is_sent == true);
  for (std::string rest = "x"; !rest.empty(); size += rest.size()) rest = pair.received().value();
  CHECK(size == text.size());
}

TEST_CASE("a text fails after its limit if its client does not read, and at once if it is gone") {
  const auto send = [](Pair& pair, milliseconds limit) {
    std::optional<bool> is_sent;
    pair.connection->send(std::string(8 << 20, 'x'), limit, [&](bool is_all) {
      is_sent = is_all;
      pair.close()();
    });
    if (!is_sent) pair.run();
    return is_sent;
  };
  Pair slow, gone;
  CHECK(send(slow, milliseconds(20)) == false);
  gone.client = Descriptor();
  CHECK(send(gone, kLong) == false);
}

TEST_CASE("a client that goes on sending reads its response, and the end after it") {
  Pair pair;
  pair.connection->send("response", kLong, [](bool is_all) { CHECK(is_all); });
  pair.send("more");
  CHECK(pair.connection->has_input());
  pair.connection->finish(pair.close());
  pair.poll();
  CHECK(pair.received() == "response");
  CHECK_FALSE(pair.received());
  CHECK(pair.ended == 0);
  pair.client = Descriptor();
  pair.poll();
  CHECK(pair.ended == 1);
}

TEST_CASE("a connection is finished when its client has sent too much or has had its time") {
  Pair talker;
  talker.connection->finish(talker.close());
  const std::string piece(16384, 'x');
  for (std::size_t sent = 0; sent < Connection::kMostDropped; sent += piece.size()) {
    REQUIRE(talker.ended == 0);
    talker.send(piece);
    talker.poll();
  }
  CHECK(talker.ended == 1);

  Pair silent;
  silent.connection->finish(silent.close());
  silent.run();
  CHECK(silent.ended == 1);
}
