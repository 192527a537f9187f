// Records that arrive together, or in pieces.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <random>
#include <thread>
#include <vector>

#include "rpc/secure/secure_transport.h"
#include "rpc/transport/loopback.h"

namespace ferry::secure {
namespace {

using Bytes = std::vector<std::uint8_t>;

const KeyBytes kKey{1, 2, 3};

// Gives the bytes of a stream in the given portions, one to a receive unless that one needs more, and then ends.
class Portions final : public Transport {
 public:
  Portions(Bytes stream, std::vector<std::size_t> portions)
      : stream_(std::move(stream)), portions_(std::move(portions)) {}

  Result<std::size_t> receive_some(MutableByteSpan into, std::size_t at_least) override {
    std::size_t count = 0;
    do {
      const std::size_t left = stream_.size() - taken_;
      if (left == 0) return closed_by_peer(count, at_least);
      if (portion_ == 0) portion_ = next_ < portions_.size() ? portions_[next_++] : left;
      const std::size_t part = std::min({portion_, left, into.size() - count});
      std::copy_n(stream_.begin() + static_cast<std::ptrdiff_t>(taken_), part,
                  into.begin() + static_cast<std::ptrdiff_t>(count));
      taken_ += part;
      portion_ -= part;
      count += part;
    } while (count < at_least);
    return count;
  }
  Status send(std::span<const ByteSpan>) override { return {}; }
  void set_receive_timeout(std::chrono::milliseconds) override {}
  void close_send() override {}
  void close() override {}
  int native_handle() const override { return -1; }

 private:
  Bytes stream_;
  std::vector<std::size_t> portions_;
  std::size_t next_ = 0;
  std::size_t portion_ = 0;
  std::size_t taken_ = 0;
};

std::unique_ptr<Transport> receiver_of(Bytes stream, std::vector<std::size_t> portions = {}) {
  return secure_transport(std::make_unique<Portions>(std::move(stream), std::move(portions)), SealingState{},
                          OpeningState{kKey});
}

Bytes pattern(std::size_t count) {
  std::mt19937 random(1);
  Bytes bytes(count);
  for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
  return bytes;
}

// One record each, of as many bytes of the plaintext.
Bytes sealed_records(ByteSpan plain, const std::vector<std::size_t>& lengths) {
  SealingState state{kKey};
  Bytes stream;
  for (const std::size_t length : lengths) {
    const std::size_t at = stream.size();
    stream.resize(at + length + kRecordOverhead);
    REQUIRE(seal(state, plain.first(length), stream.data() + at).is_ok());
    plain = plain.subspan(length);
  }
  return stream;
}

TEST_CASE("records arrive whole wherever the stream is cut into receives") {
  const Bytes plain = pattern(106);
  const Bytes stream = sealed_records(plain, {1, 100, 5});
  Bytes got(plain.size());
  for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
    CAPTURE(cut);
    REQUIRE(receiver_of(stream, {cut})->receive(got).is_ok());
    CHECK(got == plain);
  }
  for (std::size_t portion = 1; portion <= stream.size(); ++portion) {
    CAPTURE(portion);
    REQUIRE(receiver_of(stream, std::vector<std::size_t>(stream.size(), portion))->receive(got).is_ok());
    CHECK(got == plain);
  }
}

TEST_CASE("records of any length, received in portions of any size, are one stream") {
  std::mt19937 random(7);
  const auto below = [&](std::size_t limit) {
    return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random);
  };
  const std::size_t longest = kMaxMessageBytes - kTagBytes;
  for (int round = 0; round < 20; ++round) {
    CAPTURE(round);
    std::vector<std::size_t> lengths, portions;
    std::size_t total = 0;
    while (total < 4'000'000) {
      const std::size_t kind = below(4);
      lengths.push_back(kind == 0 ? longest : kind == 1 ? kMaxRecordPlain : 1 + below(kind == 2 ? longest : 40));
      total += lengths.back();
    }
    for (int i = 0; i < 100; ++i) portions.push_back(1 + below(below(2) == 0 ? 700'000 : 3000));
    const Bytes plain = pattern(total);
    const auto receiver = receiver_of(sealed_records(plain, lengths), portions);
    Bytes got(total);
    for (std::size_t done = 0; done < total;) {
      const std::size_t count = std::min(total - done, 1 + below(below(2) == 0 ? 3'000'000 : 5000));
      REQUIRE(receiver->receive(MutableByteSpan(got).subspan(done, count)).is_ok());
      done += count;
    }
    CHECK(got == plain);
  }
}

TEST_CASE("a record changed among many that arrive together ends the stream there") {
  const std::size_t records = 37;  // enough for two threads
  const Bytes plain = pattern(records * kMaxRecordPlain);
  const Bytes stream = sealed_records(plain, std::vector<std::size_t>(records, kMaxRecordPlain));
  for (std::size_t changed = 0; changed < records; ++changed) {
    CAPTURE(changed);
    Bytes bad = stream;
    bad[changed * (kMaxRecordPlain + kRecordOverhead) + 1000] ^= 1;
    const auto whole = receiver_of(bad);
    Bytes got(plain.size());
    CHECK(whole->receive(got).code() == ErrorCode::protocol_error);
    CHECK(whole->receive(MutableByteSpan(got).first(1)).code() == ErrorCode::protocol_error);

    const auto receiver = receiver_of(bad);
    got.resize(changed * kMaxRecordPlain);
    REQUIRE(receiver->receive(got).is_ok());
    CHECK(std::equal(got.begin(), got.end(), plain.begin()));
    std::array<std::uint8_t, 1> next;
    CHECK(receiver->receive(next).code() == ErrorCode::protocol_error);
  }
}

TEST_CASE("nothing is received from behind the end of a stream") {
  const std::size_t records = 37;
  const Bytes plain = pattern(records * kMaxRecordPlain);
  std::vector<std::size_t> lengths(records, kMaxRecordPlain);
  for (const std::size_t before : {0, 1, 7, 33, 36}) {
    CAPTURE(before);
    std::vector<std::size_t> with_end = lengths;
    with_end.insert(with_end.begin() + static_cast<std::ptrdiff_t>(before), 0);
    Bytes got(plain.size());
    const Status status = receiver_of(sealed_records(plain, with_end))->receive(got);
    CHECK(status.code() == ErrorCode::unavailable);
    CHECK(status.message().find(kPeerClosed) == 0);
  }
}

TEST_CASE("a large receive does not look at the records behind it") {
  const Bytes plain = pattern(40 * kMaxRecordPlain);
  Bytes stream = sealed_records(plain, std::vector<std::size_t>(40, kMaxRecordPlain));
  stream[35 * (kMaxRecordPlain + kRecordOverhead) + 7] ^= 1;
  const auto receiver = receiver_of(stream);
  Bytes got(35 * kMaxRecordPlain);
  REQUIRE(receiver->receive(got).is_ok());
  CHECK(std::equal(got.begin(), got.end(), plain.begin()));
  CHECK(receiver->receive(got).code() == ErrorCode::protocol_error);
}

TEST_CASE("a stream cut among many records says how much of them had come") {
  const std::size_t records = 37, sealed = kMaxRecordPlain + kRecordOverhead;
  const Bytes plain = pattern(records * kMaxRecordPlain);
  const Bytes stream = sealed_records(plain, std::vector<std::size_t>(records, kMaxRecordPlain));
  for (std::size_t whole = 0; whole < records; ++whole) {
    for (const std::size_t more : {std::size_t{0}, std::size_t{1}, kLengthBytes, sealed - 1}) {
      CAPTURE(whole);
      CAPTURE(more);
      const auto end = stream.begin() + static_cast<std::ptrdiff_t>(whole * sealed + more);
      Bytes got(plain.size());
      const Status status = receiver_of(Bytes(stream.begin(), end))->receive(got);
      CHECK(status.code() == ErrorCode::unavailable);
      const std::string after =
          " after " + std::to_string(whole * kMaxRecordPlain) + " of " + std::to_string(plain.size()) + " bytes";
      CHECK(status.message() == kStreamCut + (whole == 0 ? std::string() : after));
    }
  }
}

TEST_CASE("transfers of sizes around the limits of records and of what is received together arrive") {
  std::vector<std::size_t> sizes{0,     1,     2,         4093,      4095,    4096,          4097,
                                 65521, 65535, 1'000'003, 3'000'017, 4 << 20, (4 << 20) + 1, 5'000'011};
  for (const std::size_t records : {1, 2, 3, 15, 16, 17, 32, 33, 47, 48, 49})
    for (const std::size_t size : {records * kMaxRecordPlain - 1, records * kMaxRecordPlain,
                                   records * kMaxRecordPlain + 1, records * (kMaxRecordPlain + kRecordOverhead)})
      sizes.push_back(size);
  for (const Cipher cipher : {Cipher::chacha_poly, choose_cipher(fast_ciphers(), fast_ciphers())}) {
    auto ends = loopback_transport_pair();
    const auto sender = secure_transport(std::move(ends.first), {kKey, 0, nullptr, cipher}, {kKey, 0, cipher});
    const auto receiver = secure_transport(std::move(ends.second), {kKey, 0, nullptr, cipher}, {kKey, 0, cipher});
    const Bytes head = pattern(48);
    for (const std::size_t size : sizes) {
      CAPTURE(size);
      const Bytes plain = pattern(size);
      bool sent = false;
      std::thread sending([&] {
        const std::array<ByteSpan, 2> pieces{head, plain};
        sent = sender->send(pieces).is_ok();
      });
      Bytes got_head(head.size()), got(size);
      const Status first = receiver->receive(got_head);
      const Status rest = receiver->receive(got);
      if (!rest.is_ok()) receiver->close();
      sending.join();
      REQUIRE(sent);
      REQUIRE(first.is_ok());
      REQUIRE(rest.is_ok());
      CHECK(got_head == head);
      CHECK(got == plain);
    }
  }
}

}  // namespace
}  // namespace ferry::secure
