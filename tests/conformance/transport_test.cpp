// The contract of every transport, independent of the underlying medium.
#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <vector>

#include "tests/conformance/transports.h"
#include "tests/support/seeded.h"

namespace ferry {
namespace {

using Bytes = std::vector<std::uint8_t>;
using namespace std::chrono_literals;

Bytes pattern(std::size_t count) { return test::seeded_bytes(count, 1); }

Status send(Transport& transport, const Bytes& bytes) {
  const std::array<ByteSpan, 1> pieces{bytes};
  return transport.send(pieces);
}

template <class Check>
void for_each_transport(Check check) {
  for (const TransportKind& kind : kAllTransports) {
    CAPTURE(kind.name);
    TransportPair ends = kind.connect();
    check(*ends.first, *ends.second);
  }
}

TEST_CASE("bytes go both ways, small ones many times") {
  for_each_transport([](Transport& a, Transport& b) {
    Background echo([&] {
      std::array<std::uint8_t, 64> bytes{};
      for (int i = 0; i < 1000; ++i) {
        const std::array<ByteSpan, 1> pieces{bytes};
        if (!b.receive(bytes).is_ok() || !b.send(pieces).is_ok()) return;
      }
    });
    std::array<std::uint8_t, 64> bytes{};
    for (int i = 0; i < 1000; ++i) {
      std::array<std::uint8_t, 64> sent{};
      sent.fill(static_cast<std::uint8_t>(i));
      const std::array<ByteSpan, 1> pieces{sent};
      REQUIRE(a.send(pieces).is_ok());
      REQUIRE(a.receive(bytes).is_ok());
      REQUIRE(bytes == sent);
    }
  });
}

TEST_CASE("many pieces, empty ones among them, arrive in order as one stream") {
  for_each_transport([](Transport& a, Transport& b) {
    const Bytes bytes = pattern(5000);
    std::vector<ByteSpan> pieces;
    std::size_t sent = 0;
    for (std::size_t i = 0; i < 100; ++i) {
      pieces.push_back(ByteSpan(bytes).subspan(sent, i));
      sent += i;
    }
    REQUIRE(a.send(pieces).is_ok());
    Bytes received(sent);
    REQUIRE(b.receive(received).is_ok());
    CHECK(std::equal(received.begin(), received.end(), bytes.begin()));
    REQUIRE(a.send({}).is_ok());
    REQUIRE(b.receive({}).is_ok());
  });
}

TEST_CASE("a receive that wants little takes what is there, and never more than fits") {
  for_each_transport([](Transport& a, Transport& b) {
    const Bytes bytes = pattern(100);
    REQUIRE(send(a, bytes).is_ok());
    a.close_send();
    Bytes received;
    for (const std::size_t room : {10, 40, 1000, 1000}) {
      Bytes piece(room);
      const Result<std::size_t> count = b.receive_some(piece, 1);
      if (!count.is_ok()) {
        CHECK(count.status().message() == kPeerClosed);
        break;
      }
      REQUIRE((count.value() >= 1 && count.value() <= room));
      received.insert(received.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count.value()));
    }
    CHECK(received == bytes);
  });
}

TEST_CASE("what is larger than any buffer arrives whole, in both directions at once") {
  for_each_transport([](Transport& a, Transport& b) {
    const Bytes bytes = pattern(8u << 20);
    Bytes at_a(bytes.size());
    Bytes at_b(bytes.size());
    std::array<bool, 4> fine{};
    {
      Background a_sends([&] { fine[0] = send(a, bytes).is_ok(); });
      Background b_sends([&] { fine[1] = send(b, bytes).is_ok(); });
      Background a_receives([&] { fine[2] = a.receive(at_a).is_ok(); });
      fine[3] = b.receive(at_b).is_ok();
    }
    CHECK(fine == std::array<bool, 4>{true, true, true, true});
    CHECK(at_a == bytes);
    CHECK(at_b == bytes);
  });
}

TEST_CASE("a peer that closed is told from one that closed in the middle") {
  for_each_transport([](Transport& a, Transport& b) {
    REQUIRE(send(a, pattern(10)).is_ok());
    a.close_send();
    Bytes received(8);
    REQUIRE(b.receive(received).is_ok());
    const Status cut = b.receive(received);
    CHECK(cut.code() == ErrorCode::unavailable);
    CHECK(cut.message() == "the peer closed the connection after 2 of 8 bytes");
    const Status closed = b.receive(received);
    CHECK(closed.code() == ErrorCode::unavailable);
    CHECK(closed.message() == kPeerClosed);
  });
}

TEST_CASE("a half-closed peer still receives") {
  for_each_transport([](Transport& a, Transport& b) {
    a.close_send();
    Bytes received(4);
    CHECK(b.receive(received).message() == kPeerClosed);
    REQUIRE(send(b, {1, 2, 3, 4}).is_ok());
    REQUIRE(a.receive(received).is_ok());
    CHECK(received == Bytes{1, 2, 3, 4});
  });
}

TEST_CASE("a receive that nobody answers ends at its timeout") {
  for_each_transport([](Transport& a, Transport& b) {
    a.set_receive_timeout(50ms);
    Bytes received(4);
    REQUIRE(send(b, {1, 2}).is_ok());
    const auto start = std::chrono::steady_clock::now();
    const Status status = a.receive(received);
    const auto elapsed = std::chrono::steady_clock::now() - start;
    CHECK(status.code() == ErrorCode::deadline_exceeded);
    CHECK(status.message() == "no answer within 50 ms");
    CHECK(elapsed >= 45ms);
    CHECK(elapsed < 5s);
  });
}

TEST_CASE("a timeout does not disturb a peer that answers in time") {
  for_each_transport([](Transport& a, Transport& b) {
    a.set_receive_timeout(20s);
    const Bytes bytes = pattern(1u << 20);
    Background sender([&] { (void)send(b, bytes).is_ok(); });
    Bytes received(bytes.size());
    REQUIRE(a.receive(received).is_ok());
    CHECK(received == bytes);
  });
}

TEST_CASE("closing wakes a thread that waits to receive") {
  for_each_transport([](Transport& a, Transport&) {
    Status status;
    Background receiver([&] {
      Bytes received(4);
      status = a.receive(received);
    });
    std::this_thread::sleep_for(20ms);
    a.close();
    receiver.join();
    CHECK(status.code() == ErrorCode::unavailable);
  });
}

TEST_CASE("closing wakes a thread that waits to send") {
  for_each_transport([](Transport& a, Transport&) {
    Status status;
    Background sender([&] { status = send(a, Bytes(64u << 20)); });
    std::this_thread::sleep_for(20ms);
    a.close();
    sender.join();
    CHECK(status.code() == ErrorCode::unavailable);
  });
}

TEST_CASE("a signal that is handled while bytes are awaited or under way changes nothing") {
  // Like LLVM's handlers, this one is installed without SA_RESTART, so that system calls return early.
  struct sigaction quiet{}, before{};
  quiet.sa_handler = [](int) {};
  REQUIRE(sigaction(SIGUSR1, &quiet, &before) == 0);
  for_each_transport([](Transport& a, Transport& b) {
    const Bytes bytes = pattern(8u << 20);
    Bytes received(bytes.size());
    Status sent, taken;
    std::atomic<int> left{2};
    std::atomic<pthread_t> threads[2];
    std::atomic<int> known{0};
    const auto as_thread = [&](int i, auto work) {
      threads[i] = pthread_self();
      ++known;
      work();
      --left;
      // The thread stays valid until no further signals are sent to it.
      while (left > 0) std::this_thread::yield();
    };
    std::atomic<bool> go{false};
    Background sender([&] {
      as_thread(0, [&] {
        while (!go) std::this_thread::yield();
        sent = send(a, bytes);
      });
    });
    Background receiver([&] { as_thread(1, [&] { taken = b.receive(received); }); });
    while (known < 2) std::this_thread::yield();
    for (int i = 0; i < 40 && left > 0; ++i) {
      if (i == 20) go = true;
      for (const auto& thread : threads) pthread_kill(thread, SIGUSR1);
      std::this_thread::sleep_for(1ms);
    }
    go = true;
    sender.join();
    receiver.join();
    CHECK_MESSAGE(sent.is_ok(), sent.message());
    CHECK_MESSAGE(taken.is_ok(), taken.message());
    CHECK(received == bytes);
  });
  sigaction(SIGUSR1, &before, nullptr);
}

TEST_CASE("sending to a peer that is gone fails without a signal") {
  for (const TransportKind& kind : kAllTransports) {
    CAPTURE(kind.name);
    TransportPair ends = kind.connect();
    ends.second.reset();
    Status status;
    for (int i = 0; i < 100 && status.is_ok(); ++i) status = send(*ends.first, Bytes(1u << 16));
    CHECK(status.code() == ErrorCode::unavailable);
    Bytes received(1);
    CHECK(ends.first->receive(received).code() == ErrorCode::unavailable);
  }
}

}  // namespace
}  // namespace ferry
