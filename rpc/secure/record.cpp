#include "rpc/secure/record.h"

#include <algorithm>
#include <limits>
#include <string>

namespace ferry::secure {

// The specification reserves the last number.
constexpr std::uint64_t kNoNumber = std::numeric_limits<std::uint64_t>::max();

Status seal(SealingState& state, ByteSpan plain, std::uint8_t* out) {
  if (state.next == kNoNumber) return {ErrorCode::unavailable, "this connection has sent all the records that it may"};
  const std::uint64_t number = state.next++;
  // Published before the record is made: a process that continues after a crash in between must not reuse the number.
  if (state.published != nullptr) state.published->set(state.next);
  const std::size_t length = plain.size() + kTagBytes;
  out[0] = static_cast<std::uint8_t>(length);
  out[1] = static_cast<std::uint8_t>(length >> 8);
  encrypt(state.cipher, state.key, number, {}, plain, out + kLengthBytes);
  return {};
}

Result<std::vector<std::uint8_t>> seal_all(SealingState& state, ByteSpan plain, bool last) {
  std::vector<std::uint8_t> records;
  const auto add = [&](ByteSpan part) {
    const std::size_t at = records.size();
    records.resize(at + part.size() + kRecordOverhead);
    return seal(state, part, records.data() + at);
  };
  while (!plain.empty()) {
    const ByteSpan part = plain.first(std::min(plain.size(), kMaxRecordPlain));
    FERRY_TRY(add(part));
    plain = plain.subspan(part.size());
  }
  if (last) FERRY_TRY(add({}));
  return records;
}

Result<std::size_t> sealed_length(const std::uint8_t* bytes) {
  const std::size_t length = bytes[0] | std::size_t{bytes[1]} << 8;
  if (length >= kTagBytes) return length;
  return Status(ErrorCode::protocol_error,
                "expected an encrypted record of at least 16 bytes, got " + std::to_string(length));
}

Status open(OpeningState& state, ByteSpan sealed, std::uint8_t* out) {
  if (state.next != kNoNumber && decrypt(state.cipher, state.key, state.next, {}, sealed, out)) {
    ++state.next;
    return {};
  }
  return {ErrorCode::protocol_error, "an encrypted record was changed, repeated, left out or moved on its way"};
}

}  // namespace ferry::secure
