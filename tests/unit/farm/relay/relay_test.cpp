// What a relay forwards between real sockets, and what it does with ends that are slow, gone or too many.
#include "farm/relay/relay.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>

#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/rpc/server/socket_pair.h"

namespace ferry::test {
namespace {

using farm::Relay;
using farm::RelayLimits;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using Bytes = std::vector<std::uint8_t>;

constexpr int kPatienceMs = 20'000;

// The far ends of a relay, and the relay between them.
struct Ends {
  explicit Ends(Relay& relay, std::uint64_t lease = 1) {
    added = relay.add(lease, std::move(first.server), std::move(second.server));
  }

  SocketPair first, second;
  Status added;
  int client = first.client.number(), board = second.client.number();
};

std::unique_ptr<Relay> start(const RelayLimits& limits = {}) {
  auto relay = Relay::start(limits);
  REQUIRE_MESSAGE(relay.is_ok(), relay.status().message());
  return std::move(relay.value());
}

Bytes random_bytes(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

bool wait_for(int socket, short what, int timeout_ms = kPatienceMs) {
  pollfd entry{socket, what, 0};
  return poll(&entry, 1, timeout_ms) == 1;
}

void send_all(int socket, const Bytes& bytes) {
  for (std::size_t sent = 0; sent < bytes.size();) {
    REQUIRE(wait_for(socket, POLLOUT));
    const ssize_t count = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count < 0 && errno == EAGAIN) continue;
    REQUIRE(count > 0);
    sent += static_cast<std::size_t>(count);
  }
}

// Reads so many bytes, or up to the end of the stream.
Bytes receive(int socket, std::size_t most) {
  Bytes bytes(most);
  std::size_t received = 0;
  while (received < most) {
    REQUIRE_MESSAGE(wait_for(socket, POLLIN), "only " << received << " of " << most << " bytes have come");
    const ssize_t count = recv(socket, bytes.data() + received, most - received, MSG_DONTWAIT);
    if (count <= 0) break;
    received += static_cast<std::size_t>(count);
  }
  bytes.resize(received);
  return bytes;
}

bool is_ended(int socket) { return receive(socket, 1).empty(); }

bool becomes(const Relay& relay, std::size_t active) {
  const auto until = Clock::now() + milliseconds(kPatienceMs);
  while (relay.active() != active && Clock::now() < until) std::this_thread::sleep_for(milliseconds(2));
  return relay.active() == active;
}

TEST_CASE("bytes of any number arrive unchanged in both directions at once, and are counted") {
  const auto relay = start();
  const Ends ends(*relay);
  REQUIRE(ends.added.is_ok());
  std::uint64_t total = 0;
  for (const std::size_t count : {1u, 4095u, 65'536u, 65'537u, 1'234'567u}) {
    CAPTURE(count);
    const Bytes up = random_bytes(count, 1), down = random_bytes(count + 3, 2);
    Bytes at_client;
    std::thread up_sender([&] { send_all(ends.client, up); }), down_sender([&] { send_all(ends.board, down); });
    std::thread reader([&] { at_client = receive(ends.client, down.size()); });
    const Bytes at_board = receive(ends.board, up.size());
    up_sender.join();
    down_sender.join();
    reader.join();
    CHECK(at_board == up);
    CHECK(at_client == down);
    total += up.size() + down.size();
  }
  // Bytes are counted after they are sent.
  const auto until = Clock::now() + milliseconds(kPatienceMs);
  while (relay->relayed_bytes() != total && Clock::now() < until) std::this_thread::sleep_for(milliseconds(1));
  CHECK(relay->relayed_bytes() == total);
}

TEST_CASE("an end that closes its direction still receives, and the relay ends with the second direction") {
  const auto relay = start();
  const Ends ends(*relay);
  const Bytes last = random_bytes(300'000, 3), answer = random_bytes(70'001, 4);
  std::thread sender([&] {
    send_all(ends.client, last);
    shutdown(ends.client, SHUT_WR);
  });
  CHECK(receive(ends.board, last.size() + 1) == last);
  sender.join();
  CHECK(relay->active() == 1);
  send_all(ends.board, answer);
  shutdown(ends.board, SHUT_WR);
  CHECK(receive(ends.client, answer.size() + 1) == answer);
  CHECK(becomes(*relay, 0));
}

TEST_CASE("an end that is gone ends the relay, also in the middle of a transfer") {
  const auto relay = start();
  {
    Ends ends(*relay);
    ends.first.client = Descriptor();
    CHECK(is_ended(ends.board));
    send(ends.board, "x", 1, MSG_NOSIGNAL);
    CHECK(becomes(*relay, 0));
  }
  Ends ends(*relay);
  const int flags = fcntl(ends.client, F_GETFL);
  REQUIRE(fcntl(ends.client, F_SETFL, flags | O_NONBLOCK) == 0);
  const Bytes many = random_bytes(2'000'000, 5);
  REQUIRE(send(ends.client, many.data(), many.size(), MSG_NOSIGNAL) > 0);
  CHECK(receive(ends.board, 10'000).size() == 10'000);
  ends.second.client = Descriptor();
  CHECK(becomes(*relay, 0));
}

TEST_CASE("a slow reader slows its sender down, and loses nothing") {
  const auto relay = start();
  const Ends ends(*relay);
  const Bytes all = random_bytes(8'000'000, 6);
  std::size_t sent = 0;
  // Until nothing more is accepted for a while.
  while (sent < all.size() && wait_for(ends.client, POLLOUT, 300)) {
    const ssize_t count = send(ends.client, all.data() + sent, all.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
  // Four socket buffers, and what the relay holds.
  CHECK(sent < 3'000'000);
  // The other direction is not affected.
  const Bytes answer = random_bytes(100, 7);
  send_all(ends.board, answer);
  CHECK(receive(ends.client, answer.size()) == answer);
  std::thread sender([&] { send_all(ends.client, Bytes(all.begin() + static_cast<std::ptrdiff_t>(sent), all.end())); });
  const Bytes received = receive(ends.board, all.size());
  sender.join();
  CHECK(received == all);
}

// Returns how long it takes to receive so many bytes at each board, sent by their clients at once.
milliseconds time_of(const std::vector<Ends>& relays, std::size_t count) {
  const Bytes bytes = random_bytes(count, 8);
  const auto begin = Clock::now();
  std::vector<std::thread> threads;
  for (const Ends& ends : relays) {
    threads.emplace_back([&] { send_all(ends.client, bytes); });
    threads.emplace_back([&] { CHECK(receive(ends.board, count) == bytes); });
  }
  for (std::thread& thread : threads) thread.join();
  return std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
}

TEST_CASE("the rate of one relay and that of all together have limits") {
  RelayLimits limits;
  limits.bytes_per_second = 1'000'000;
  {
    const auto relay = start(limits);
    std::vector<Ends> one;
    one.emplace_back(*relay);
    // A tenth of a second's bytes go out at once.
    const milliseconds time = time_of(one, 600'000);
    CHECK(time >= milliseconds(490));
  }
  limits.bytes_per_second = std::uint64_t{1} << 40;
  limits.all_bytes_per_second = 1'000'000;
  const auto relay = start(limits);
  std::vector<Ends> three;
  for (int i = 0; i < 3; ++i) three.emplace_back(*relay);
  const milliseconds time = time_of(three, 200'000);
  CHECK(time >= milliseconds(490));
}

TEST_CASE("a relay that would take everything leaves the others their turn") {
  RelayLimits limits;
  limits.all_bytes_per_second = 500'000;
  const auto relay = start(limits);
  const Ends greedy(*relay), modest(*relay);
  std::atomic<bool> is_over{false};
  std::thread sender([&] {
    const Bytes piece(100'000, 1);
    while (!is_over && wait_for(greedy.client, POLLOUT, 100))
      (void)!send(greedy.client, piece.data(), piece.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  std::thread reader([&] {
    Bytes piece(100'000);
    while (!is_over && wait_for(greedy.board, POLLIN, 100))
      (void)!recv(greedy.board, piece.data(), piece.size(), MSG_DONTWAIT);
  });
  std::this_thread::sleep_for(milliseconds(300));
  for (unsigned i = 0; i < 5; ++i) {
    const Bytes question = random_bytes(1000, i);
    send_all(modest.client, question);
    CHECK(receive(modest.board, question.size()) == question);
  }
  is_over = true;
  sender.join();
  reader.join();
}

TEST_CASE("a relay without bytes is closed after a while, one with bytes is not") {
  RelayLimits limits;
  limits.idle = milliseconds(1000);
  const auto relay = start(limits);
  const Ends silent(*relay), busy(*relay);
  const auto begin = Clock::now();
  while (relay->active() == 2 && Clock::now() - begin < milliseconds(kPatienceMs)) {
    send_all(busy.board, {1});
    CHECK(receive(busy.client, 1).size() == 1);
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK(Clock::now() - begin >= milliseconds(990));
  CHECK(is_ended(silent.client));
  CHECK(is_ended(silent.board));
  send_all(busy.client, {2});
  CHECK(receive(busy.board, 1).size() == 1);
}

TEST_CASE("relays beyond the limit are refused and closed, and a place becomes free again") {
  RelayLimits limits;
  limits.relays = 2;
  const auto relay = start(limits);
  Ends first(*relay);
  const Ends second(*relay), third(*relay);
  CHECK(third.added.code() == ErrorCode::busy);
  CHECK(is_ended(third.client));
  CHECK(is_ended(third.board));
  first.first.client = Descriptor();
  first.second.client = Descriptor();
  CHECK(becomes(*relay, 1));
  CHECK(Ends(*relay).added.is_ok());
}

TEST_CASE("the relays of one lease are counted and ended without the others") {
  const auto relay = start();
  const Ends first(*relay, 7), second(*relay, 7), other(*relay, 8);
  using Counts = std::map<std::uint64_t, std::size_t>;
  CHECK(relay->leases() == Counts{{7, 2}, {8, 1}});
  send_all(first.client, {1});
  CHECK(receive(first.board, 1).size() == 1);
  relay->end(9);
  relay->end(7);
  relay->end(7);
  CHECK(is_ended(first.client));
  CHECK(is_ended(first.board));
  CHECK(is_ended(second.client));
  CHECK(becomes(*relay, 1));
  CHECK(relay->leases() == Counts{{8, 1}});
  send_all(other.client, {2});
  CHECK(receive(other.board, 1).size() == 1);
}

TEST_CASE("the end of a relay closes its connections, and none is accepted after it") {
  auto relay = start();
  const Ends ends(*relay);
  send_all(ends.client, {1});
  CHECK(receive(ends.board, 1).size() == 1);
  relay->stop();
  CHECK(is_ended(ends.client));
  CHECK(is_ended(ends.board));
  const Ends late(*relay);
  CHECK(late.added.code() == ErrorCode::unavailable);
  CHECK(is_ended(late.client));
  relay->stop();
  relay.reset();
}

TEST_CASE("connections may come from many threads while the relay is ended") {
  RelayLimits limits;
  limits.relays = 1000;
  for (int round = 0; round < 10; ++round) {
    auto relay = start(limits);
    std::vector<std::thread> threads;
    std::atomic<int> refused{0};
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < 20; ++k) {
          const Ends ends(*relay);
          if (!ends.added.is_ok()) ++refused;
        }
      });
    }
    if (round % 2 == 0) relay->stop();
    for (std::thread& thread : threads) thread.join();
    if (round % 2 != 0) CHECK(refused == 0);
    relay.reset();
  }
}

}  // namespace
}  // namespace ferry::test
