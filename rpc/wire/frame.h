// The fixed parts of the wire format: the preamble that opens a connection and the header in front of every frame.
// PROTOCOL.md shows both as tables. All numbers are little-endian.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/status.h"

namespace ferry::rpc {

enum class PreambleMode : std::uint8_t { plaintext = 0, encrypted = 1, relay = 2 };

// The ends of a relay, which forwards bytes between a client and a board of a farm.
enum class RelayEnd : std::uint8_t { client = 1, board = 2 };
struct RelayTicket {
  std::uint64_t token = 0;  // from the tracker, which relays; valid once for each end
  RelayEnd end = RelayEnd::client;
};

// Sent once by the client, before anything else. With encryption, the handshake authenticates it. What follows that of
// a relay is for the other end, which begins anew.
struct Preamble {
  PreambleMode mode = PreambleMode::plaintext;
  std::array<std::uint8_t, 16> key_id{};  // identifies the client's key; zero in plaintext
  std::uint8_t ciphers = 0;  // set of ciphers with which the client can encrypt records; rpc/secure/cipher.h
  RelayTicket relay;         // in mode relay, where it takes the place of the key id
};

inline constexpr std::size_t kPreambleBytes = 48;

std::array<std::uint8_t, kPreambleBytes> encode_preamble(const Preamble& preamble);
// Fails with protocol_error if the bytes are not a ferry preamble, and with unsupported if they are one but request
// something that this version does not have.
Result<Preamble> decode_preamble(std::span<const std::uint8_t, kPreambleBytes> bytes);

enum class FrameKind : std::uint8_t { request = 1, response = 2, event = 3 };

struct FrameHeader {
  FrameKind kind = FrameKind::request;
  std::uint16_t tag = 0;            // a Tag; in events an EventTag. The receiver refuses unknown tags.
  ErrorCode error = ErrorCode::ok;  // responses only; when not ok, the body is a Failure
  std::uint64_t request = 0;        // the request's id, repeated in its response; 0 in events
  std::uint32_t body_bytes = 0;
  std::uint64_t payload_bytes = 0;
  bool operator==(const FrameHeader&) const = default;
};

inline constexpr std::size_t kFrameHeaderBytes = 32;
inline constexpr std::uint32_t kMaxBodyBytes = 1u << 20;
inline constexpr std::uint64_t kMaxPayloadBytes = (std::uint64_t{1} << 63) - 1;

std::array<std::uint8_t, kFrameHeaderBytes> encode_frame_header(const FrameHeader& header);
// Fails with protocol_error for a wrong magic, an unknown kind, non-zero reserved bytes or a length over its limit.
Result<FrameHeader> decode_frame_header(std::span<const std::uint8_t, kFrameHeaderBytes> bytes);

}  // namespace ferry::rpc
