// Encodes and decodes whole messages, for the codecs of protocols. A message's fields are those that its serialize()
// gives to an archive.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/archive.h"

namespace ferry {

template <class T>
std::vector<std::uint8_t> encode_fields(const T& message) {
  // Large enough for most messages, so that encoding one allocates once.
  constexpr std::size_t kUsualBytes = 256;
  std::vector<std::uint8_t> bytes;
  bytes.reserve(kUsualBytes);
  ByteOutputArchive archive(bytes);
  archive(message);
  return bytes;
}

// protocol_error names the offset and what was expected there.
template <class T>
Result<T> decode_fields(std::span<const std::uint8_t> bytes, Strings strings) {
  T message{};
  FERRY_TRY(decode_with(
      bytes, [](ByteInputArchive& archive, void* into) { archive(*static_cast<T*>(into)); }, &message, strings));
  return message;
}

}  // namespace ferry
