#include "rpc/wire/frame.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

namespace ferry::rpc {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are copied as they lie in memory");

// Contains line ends and a byte over 127, so that a connection that converts text is detected immediately.
constexpr std::uint8_t kPreambleMagic[8] = {'F', 'E', 'R', 'R', 'Y', '\r', '\n', 0x8b};
constexpr std::uint16_t kFrameMagic = 0x7946;  // "Fy"

template <class T>
void put(std::span<std::uint8_t> bytes, std::size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}
template <class T>
T get(std::span<const std::uint8_t> bytes, std::size_t offset) {
  T value{};
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool all_zero(std::span<const std::uint8_t> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

Status malformed(const char* what, std::uint64_t expected, std::uint64_t got) {
  return Status(ErrorCode::protocol_error, std::string("frame header: expected ") + what + std::to_string(expected) +
                                               ", got " + std::to_string(got));
}

}  // namespace

std::array<std::uint8_t, kPreambleBytes> encode_preamble(const Preamble& preamble) {
  std::array<std::uint8_t, kPreambleBytes> bytes{};
  std::copy(std::begin(kPreambleMagic), std::end(kPreambleMagic), bytes.begin());
  bytes[8] = static_cast<std::uint8_t>(preamble.mode);
  if (preamble.mode == PreambleMode::relay) {
    put(bytes, 16, preamble.relay.token);
    put(bytes, 24, preamble.relay.end);
  } else {
    std::copy(preamble.key_id.begin(), preamble.key_id.end(), bytes.begin() + 16);
  }
  bytes[32] = preamble.ciphers;
  return bytes;
}

Result<Preamble> decode_preamble(std::span<const std::uint8_t, kPreambleBytes> bytes) {
  if (!std::equal(std::begin(kPreambleMagic), std::end(kPreambleMagic), bytes.begin())) {
    return Status(ErrorCode::protocol_error, "expected the preamble of a ferry client, got other bytes");
  }
  if (bytes[8] > static_cast<std::uint8_t>(PreambleMode::relay)) {
    return Status(ErrorCode::unsupported,
                  "expected mode 0 (plaintext), 1 (encrypted) or 2 (relay) in the preamble, got mode " +
                      std::to_string(bytes[8]));
  }
  if (!all_zero(bytes.subspan(9, 7))) {
    return Status(ErrorCode::unsupported, "expected zeros in the reserved bytes 9 to 15 of the preamble");
  }
  Preamble preamble;
  preamble.mode = static_cast<PreambleMode>(bytes[8]);
  preamble.ciphers = bytes[32];
  if (preamble.mode == PreambleMode::relay) {
    preamble.relay = {get<std::uint64_t>(bytes, 16), static_cast<RelayEnd>(bytes[24])};
    const bool is_end = preamble.relay.end == RelayEnd::client || preamble.relay.end == RelayEnd::board;
    if (is_end && all_zero(bytes.subspan(25, 7))) return preamble;
    return Status(ErrorCode::unsupported, "expected end 1 (client) or 2 (board) of a relay in the preamble");
  }
  std::copy_n(bytes.begin() + 16, 16, preamble.key_id.begin());
  return preamble;
}

std::array<std::uint8_t, kFrameHeaderBytes> encode_frame_header(const FrameHeader& header) {
  std::array<std::uint8_t, kFrameHeaderBytes> bytes{};
  put(bytes, 0, kFrameMagic);
  put(bytes, 2, header.kind);
  put(bytes, 4, header.tag);
  put(bytes, 6, header.error);
  put(bytes, 8, header.request);
  put(bytes, 16, header.payload_bytes);
  put(bytes, 24, header.body_bytes);
  return bytes;
}

Result<FrameHeader> decode_frame_header(std::span<const std::uint8_t, kFrameHeaderBytes> bytes) {
  if (const auto magic = get<std::uint16_t>(bytes, 0); magic != kFrameMagic) {
    return malformed("magic ", kFrameMagic, magic);
  }
  if (bytes[2] < 1 || bytes[2] > 3) {
    return Status(ErrorCode::protocol_error,
                  "frame header: expected kind 1, 2 or 3, got " + std::to_string(unsigned{bytes[2]}));
  }
  if (bytes[3] != 0 || !all_zero(bytes.subspan(28, 4))) {
    return Status(ErrorCode::protocol_error, "frame header: expected zeros in the reserved bytes 3 and 28 to 31");
  }
  FrameHeader header;
  header.kind = static_cast<FrameKind>(bytes[2]);
  header.tag = get<std::uint16_t>(bytes, 4);
  header.error = get<ErrorCode>(bytes, 6);
  header.request = get<std::uint64_t>(bytes, 8);
  header.payload_bytes = get<std::uint64_t>(bytes, 16);
  header.body_bytes = get<std::uint32_t>(bytes, 24);
  if (header.body_bytes > kMaxBodyBytes) return malformed("a body of at most ", kMaxBodyBytes, header.body_bytes);
  if (header.payload_bytes > kMaxPayloadBytes) {
    return malformed("a payload of at most ", kMaxPayloadBytes, header.payload_bytes);
  }
  if (header.kind != FrameKind::response && header.error != ErrorCode::ok) {
    return malformed("error ", 0, static_cast<std::uint16_t>(header.error));
  }
  return header;
}

}  // namespace ferry::rpc
