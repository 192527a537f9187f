#include "rpc/wire/frame.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

namespace ferry::rpc {
namespace {

const FrameHeader kSample{FrameKind::response, 7, ErrorCode::aborted, 0x0102030405060708u, 0x0a0b, 0x1112131415161718u};

TEST_CASE("a preamble comes back as it was sent") {
  Preamble preamble;
  for (std::uint8_t i = 0; i < 16; ++i) preamble.key_id[i] = i;
  preamble.ciphers = 2;
  auto bytes = encode_preamble(preamble);
  CHECK(bytes[32] == 2);
  bytes[33] = bytes[47] = 1;  // reserved: ignored
  Result<Preamble> back = decode_preamble(bytes);
  REQUIRE(back.is_ok());
  CHECK(back.value().key_id == preamble.key_id);
  CHECK(back.value().ciphers == 2);
}

TEST_CASE("the preamble of a relay has its token and its end in place of a key") {
  Preamble preamble;
  preamble.mode = PreambleMode::relay;
  preamble.key_id.fill(9);
  preamble.relay = {0x1122334455667788u, RelayEnd::board};
  auto bytes = encode_preamble(preamble);
  const std::vector<std::uint8_t> expected{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 2, 0, 0, 0, 0, 0, 0, 0, 0};
  CHECK(bytes[8] == 2);
  CHECK(std::vector<std::uint8_t>(bytes.begin() + 16, bytes.begin() + 33) == expected);
  const Result<Preamble> back = decode_preamble(bytes);
  REQUIRE(back.is_ok());
  CHECK(back.value().mode == PreambleMode::relay);
  CHECK(back.value().relay.token == preamble.relay.token);
  CHECK(back.value().relay.end == RelayEnd::board);
  for (const std::uint8_t end : {0, 3, 255}) {
    bytes[24] = end;
    CHECK(decode_preamble(bytes).status().code() == ErrorCode::unsupported);
  }
  bytes[24] = 1;
  CHECK(decode_preamble(bytes).value().relay.end == RelayEnd::client);
  for (std::size_t i = 25; i < 32; ++i) {
    bytes[i] = 1;
    CHECK(decode_preamble(bytes).status().code() == ErrorCode::unsupported);
    bytes[i] = 0;
  }
}

TEST_CASE("a preamble of something else is a protocol error, one of a later version is unsupported") {
  auto bytes = encode_preamble({});
  bytes[0] = 'G';
  CHECK(decode_preamble(bytes).status().code() == ErrorCode::protocol_error);
  bytes = encode_preamble({});
  bytes[8] = 1;
  REQUIRE(decode_preamble(bytes).is_ok());
  CHECK(decode_preamble(bytes).value().mode == PreambleMode::encrypted);
  bytes[8] = 3;
  CHECK(decode_preamble(bytes).status().code() == ErrorCode::unsupported);
  CHECK(decode_preamble(bytes).status().message() ==
        "expected mode 0 (plaintext), 1 (encrypted) or 2 (relay) in the preamble, got mode 3");
  bytes = encode_preamble({});
  bytes[15] = 1;
  CHECK(decode_preamble(bytes).status().code() == ErrorCode::unsupported);
}

TEST_CASE("a frame header is the 32 bytes that PROTOCOL.md shows") {
  const std::vector<std::uint8_t> expected{0x46, 0x79, 2,    0,    7,    0,    12,   0,     // magic, kind, tag, error
                                           8,    7,    6,    5,    4,    3,    2,    1,     // request
                                           0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,  // payload
                                           0x0b, 0x0a, 0,    0,    0,    0,    0,    0};    // body
  const auto bytes = encode_frame_header(kSample);
  CHECK(std::vector<std::uint8_t>(bytes.begin(), bytes.end()) == expected);
  Result<FrameHeader> back = decode_frame_header(bytes);
  REQUIRE_MESSAGE(back.is_ok(), back.status().message());
  CHECK(back.value() == kSample);
}

TEST_CASE("a payload length of 2^63 is a protocol error, one less is not") {
  FrameHeader header = kSample;
  header.payload_bytes = std::uint64_t{1} << 63;
  CHECK(decode_frame_header(encode_frame_header(header)).status().code() == ErrorCode::protocol_error);
  CHECK(decode_frame_header(encode_frame_header(header)).status().message() ==
        "frame header: expected a payload of at most 9223372036854775807, got 9223372036854775808");
  header.payload_bytes -= 1;
  CHECK(decode_frame_header(encode_frame_header(header)).is_ok());
}

TEST_CASE("a body over the limit is a protocol error") {
  FrameHeader header = kSample;
  header.body_bytes = kMaxBodyBytes;
  CHECK(decode_frame_header(encode_frame_header(header)).is_ok());
  header.body_bytes += 1;
  CHECK(decode_frame_header(encode_frame_header(header)).status().code() == ErrorCode::protocol_error);
}

TEST_CASE("a request or event that carries an error is a protocol error") {
  FrameHeader header = kSample;
  header.kind = FrameKind::request;
  CHECK(decode_frame_header(encode_frame_header(header)).status().code() == ErrorCode::protocol_error);
}

TEST_CASE("a changed bit of a header is refused or is part of the decoded header") {
  const auto bytes = encode_frame_header(kSample);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto changed = bytes;
    changed[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    Result<FrameHeader> header = decode_frame_header(changed);
    if (header.is_ok()) {
      CAPTURE(bit);
      CHECK(encode_frame_header(header.value()) == changed);
    }
  }
}

TEST_CASE("random bytes decode to a header only when they encode to themselves") {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::array<std::uint8_t, kFrameHeaderBytes> bytes{0x46, 0x79, 2};
    for (std::size_t i = 2; i < bytes.size(); ++i) {
      if (random() % 4 != 0) bytes[i] = static_cast<std::uint8_t>(random());
    }
    Result<FrameHeader> header = decode_frame_header(bytes);
    if (header.is_ok()) CHECK(encode_frame_header(header.value()) == bytes);
  }
}

}  // namespace
}  // namespace ferry::rpc
