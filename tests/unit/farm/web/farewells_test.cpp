#include "farm/web/farewells.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <string>
#include <thread>

using namespace ferry::farm::http;
using ferry::Descriptor;
using std::chrono::milliseconds;

namespace {

Descriptor add_to(Farewells& farewells) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
  REQUIRE(::send(ends[0], "response", 8, MSG_NOSIGNAL) == 8);
  farewells.add(Descriptor(ends[0]));
  return Descriptor(ends[1]);
}

void read(Farewells& farewells) {
  std::vector<pollfd> entries;
  farewells.append_to(entries);
  REQUIRE(::poll(entries.data(), entries.size(), 0) >= 0);
  farewells.read(entries.data());
}

}  // namespace

TEST_CASE("a peer that goes on sending reads its response, and the end after it") {
  Farewells farewells;
  const Descriptor peer = add_to(farewells);
  CHECK(::send(peer.number(), "more", 4, MSG_NOSIGNAL) == 4);
  read(farewells);
  char bytes[20];
  CHECK(::recv(peer.number(), bytes, sizeof bytes, 0) == 8);
  CHECK(::recv(peer.number(), bytes, sizeof bytes, 0) == 0);
  CHECK(farewells.size() == 1);
  CHECK(farewells.milliseconds_left() > 0);
  CHECK(farewells.milliseconds_left() <= 500);
}

TEST_CASE("a connection is closed when its peer has closed it, has sent too much or had its time") {
  Farewells farewells;
  {
    const Descriptor gone = add_to(farewells);
  }
  read(farewells);
  CHECK(farewells.size() == 0);
  CHECK(farewells.milliseconds_left() == -1);

  const Descriptor talker = add_to(farewells);
  const std::string piece(16384, 'x');
  for (std::size_t sent = 0; sent < Farewells::kMostBytes; sent += piece.size()) {
    REQUIRE(farewells.size() == 1);
    REQUIRE(::send(talker.number(), piece.data(), piece.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(piece.size()));
    read(farewells);
  }
  CHECK(farewells.size() == 0);

  const Descriptor silent = add_to(farewells);
  std::this_thread::sleep_for(Farewells::kTime + milliseconds(20));
  CHECK(farewells.milliseconds_left() == 0);
  read(farewells);
  CHECK(farewells.size() == 0);
}

TEST_CASE("beyond the limit the oldest connection is closed") {
  Farewells farewells;
  std::vector<Descriptor> peers;
  for (std::size_t i = 0; i < Farewells::kMost + 3; ++i) peers.push_back(add_to(farewells));
  CHECK(farewells.size() == Farewells::kMost);
}
