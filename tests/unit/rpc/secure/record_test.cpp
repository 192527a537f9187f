// Tests what an attacker between the two ends can do to encrypted records, and its consequences.
#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <thread>

#include "rpc/secure/secure_transport.h"
#include "rpc/transport/loopback.h"

namespace ferry::secure {
namespace {

using Bytes = std::vector<std::uint8_t>;

const KeyBytes kKey{1, 2, 3};

// A receiver whose incoming bytes the test writes itself.
struct Wire {
  std::unique_ptr<Transport> attacker;
  std::unique_ptr<Transport> receiver;
  SealingState sender{kKey};

  Wire() {
    auto ends = loopback_transport_pair();
    attacker = std::move(ends.first);
    receiver = secure_transport(std::move(ends.second), SealingState{}, OpeningState{kKey});
    receiver->set_receive_timeout(std::chrono::seconds(20));
  }
  Bytes record(const Bytes& plain) { return seal_all(sender, plain, false).value(); }
  void put(const Bytes& bytes) {
    const std::array<ByteSpan, 1> pieces{bytes};
    REQUIRE(attacker->send(pieces).is_ok());
  }
  Status receive(std::size_t count, Bytes* plain = nullptr) {
    Bytes into(count);
    const Status status = receiver->receive(into);
    if (plain != nullptr) *plain = into;
    return status;
  }
};

constexpr const char* kTampered = "an encrypted record was changed, repeated, left out or moved on its way";

TEST_CASE("records arrive as one stream") {
  Wire wire;
  wire.put(wire.record({1, 2, 3}));
  wire.put(wire.record({4, 5}));
  Bytes plain;
  REQUIRE(wire.receive(4, &plain).is_ok());
  CHECK(plain == Bytes{1, 2, 3, 4});
  REQUIRE(wire.receive(1, &plain).is_ok());
  CHECK(plain == Bytes{5});
}

TEST_CASE("a changed bit anywhere in a record is noticed, its length included") {
  for (std::size_t bit = 0; bit < 8 * (3 + kRecordOverhead); ++bit) {
    Wire wire;
    Bytes record = wire.record({1, 2, 3});
    record[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    wire.put(record);
    wire.attacker->close_send();  // needed where the change increased the length
    CAPTURE(bit);
    CHECK_FALSE(wire.receive(3).is_ok());
    CHECK_FALSE(wire.receive(3).is_ok());
  }
}

TEST_CASE("a repeated record is refused, and so is everything after it") {
  Wire wire;
  const Bytes record = wire.record({1, 2, 3});
  wire.put(record);
  wire.put(record);
  wire.put(wire.record({4, 5, 6}));
  CHECK(wire.receive(3).is_ok());
  const Status refused = wire.receive(3);
  CHECK(refused.code() == ErrorCode::protocol_error);
  CHECK(refused.message() == kTampered);
  CHECK(wire.receive(3).message() == kTampered);
}

TEST_CASE("a record left out and two in the wrong order are refused") {
  Wire missing;
  (void)missing.record({1});
  missing.put(missing.record({2}));
  CHECK(missing.receive(1).message() == kTampered);
  Wire moved;
  const Bytes first = moved.record({1}), second = moved.record({2});
  moved.put(second);
  moved.put(first);
  CHECK(moved.receive(1).message() == kTampered);
}

TEST_CASE("a record of the other direction is refused") {
  Wire wire;
  SealingState other{KeyBytes{9}};
  wire.put(seal_all(other, Bytes{1}, false).value());
  CHECK(wire.receive(1).message() == kTampered);
}

TEST_CASE("a stream that stops is told from one that ended, wherever it stops") {
  Wire sample;
  const Bytes record = sample.record({1, 2, 3});
  for (std::size_t length = 0; length <= record.size(); ++length) {
    Wire wire;
    wire.put(Bytes(record.begin(), record.begin() + static_cast<std::ptrdiff_t>(length)));
    wire.attacker->close_send();
    CAPTURE(length);
    const Status first = wire.receive(3);
    if (length == record.size()) CHECK(first.is_ok());
    const Status status = length == record.size() ? wire.receive(3) : first;
    CHECK(status.code() == ErrorCode::unavailable);
    CHECK(status.message() == kStreamCut);
  }
  Wire ended;
  ended.put(seal_all(ended.sender, Bytes{1}, true).value());
  CHECK(ended.receive(1).is_ok());
  CHECK(ended.receive(1).message() == kPeerClosed);
}

TEST_CASE("a length that no record has is refused at once") {
  for (const std::uint8_t length : {0, 1, 15}) {
    Wire wire;
    wire.put({length, 0});
    CHECK(wire.receive(1).code() == ErrorCode::protocol_error);
  }
}

TEST_CASE("a timeout counts from the start of the receive, however the bytes drip in") {
  Wire wire;
  wire.receiver->set_receive_timeout(std::chrono::milliseconds(200));
  const Bytes record = wire.record(Bytes(100, 1));
  std::thread drip([&] {
    for (const std::uint8_t byte : record) {
      const std::array<ByteSpan, 1> pieces{ByteSpan(&byte, 1)};
      if (!wire.attacker->send(pieces).is_ok()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  const Status status = wire.receive(100);
  wire.receiver->close();
  drip.join();
  CHECK(status.code() == ErrorCode::deadline_exceeded);
  CHECK(status.message() == "no answer within 200 ms");
}

TEST_CASE("another that holds the key goes on where the published count says that the first left off") {
  Wire wire;
  PublishedCount published;
  CHECK(published.get() == 0);
  wire.sender.published = &published;
  wire.put(wire.record({1}));
  SealingState heir{kKey, published.get().value()};
  wire.put(seal_all(heir, Bytes{2}, true).value());
  Bytes plain;
  REQUIRE(wire.receive(2, &plain).is_ok());
  CHECK(plain == Bytes{1, 2});
  CHECK(wire.receive(1).message() == kPeerClosed);
}

TEST_CASE("a published count that was overwritten is none, and does not turn back whoever published it") {
  PublishedCount published;
  SealingState state{kKey, 7, &published};
  Bytes first(1 + kRecordOverhead), second(first.size());
  REQUIRE(seal(state, Bytes{1}, first.data()).is_ok());
  CHECK(published.get() == 8);
  for (const int byte : {0x00, 0x41, 0xff}) {
    std::memset(static_cast<void*>(&published), byte, sizeof published);
    CHECK_FALSE(published.get().has_value());
  }
  REQUIRE(seal(state, Bytes{1}, second.data()).is_ok());
  CHECK(first != second);
  CHECK(published.get() == 9);
}

TEST_CASE("the number that Noise keeps for itself is never used") {
  SealingState state{kKey, std::numeric_limits<std::uint64_t>::max() - 1};
  Bytes out(1 + kRecordOverhead);
  CHECK(seal(state, Bytes{1}, out.data()).is_ok());
  CHECK(seal(state, Bytes{1}, out.data()).code() == ErrorCode::unavailable);
  OpeningState opening{kKey, std::numeric_limits<std::uint64_t>::max()};
  CHECK_FALSE(open(opening, ByteSpan(out).subspan(kLengthBytes), out.data()).is_ok());
}

}  // namespace
}  // namespace ferry::secure
