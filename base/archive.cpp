#include "base/archive.h"

#include <new>

namespace ferry {

void ByteOutputArchive::put_count(std::size_t count) {
  const auto narrow = static_cast<std::uint32_t>(count);
  put(&narrow, sizeof narrow);
}

std::size_t ByteOutputArchive::begin_nested() {
  put_count(0);
  return bytes_.size();
}

void ByteOutputArchive::end_nested(std::size_t begin) {
  const auto length = static_cast<std::uint32_t>(bytes_.size() - begin);
  std::memcpy(bytes_.data() + begin - sizeof length, &length, sizeof length);
}

std::size_t ByteInputArchive::begin_nested() {
  const std::size_t outer = bytes_.size();
  const std::size_t length = take_count(1);
  bytes_ = bytes_.first(position_ + length);
  return outer;
}

void ByteInputArchive::end_nested(std::size_t outer) {
  position_ = bytes_.size();
  bytes_ = {bytes_.data(), outer};
}

std::size_t ByteInputArchive::take_count(std::size_t minimum_bytes) {
  std::uint32_t count = 0;
  take(&count, sizeof count);
  if (count > remaining() / minimum_bytes) {
    fail(("a count that fits into the " + std::to_string(bytes_.size()) + " bytes").c_str(), count, sizeof count);
  }
  return count;
}

std::size_t ByteInputArchive::take_limited_count(std::size_t most) {
  const std::size_t count = take_count(1);
  if (count > most) fail("a shorter list", count, sizeof(std::uint32_t));
  return count;
}

void ByteInputArchive::take_text(std::string& text, bool has_lines, std::size_t most) {
  const std::size_t count = take_count(1);
  if (count > most) fail("a shorter string", count, sizeof(std::uint32_t));
  text.resize(count);
  take(text.data(), text.size());
  if (strings_ == Strings::printable) text = has_lines ? printable_lines(text) : printable(text);
}

void ByteInputArchive::fail_short(std::size_t wanted) const {
  throw DecodeError("offset " + std::to_string(position_) + ": expected " + std::to_string(wanted) +
                    " more bytes, got " + std::to_string(remaining()));
}

void ByteInputArchive::fail(const char* expected, std::uint64_t got, std::size_t value_bytes) const {
  throw DecodeError("offset " + std::to_string(position_ - value_bytes) + ": expected " + expected + ", got " +
                    std::to_string(got));
}

Status decode_with(std::span<const std::uint8_t> bytes, void (*read)(ByteInputArchive&, void*), void* into,
                   Strings strings) {
  try {
    ByteInputArchive archive(bytes, strings);
    read(archive, into);
    if (archive.remaining() != 0) {
      return Status(ErrorCode::protocol_error, "offset " + std::to_string(bytes.size() - archive.remaining()) +
                                                   ": expected the end, got " + std::to_string(archive.remaining()) +
                                                   " more bytes");
    }
    return Status();
  } catch (const DecodeError& error) {
    return Status(ErrorCode::protocol_error, error.what());
  } catch (const std::bad_alloc&) {
    return Status(ErrorCode::resource_exhausted, "no memory to decode a message");
  }
}

}  // namespace ferry
