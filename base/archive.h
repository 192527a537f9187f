// A pair of cereal archives over a byte buffer, which encode messages and manifests. Numbers are little-endian and of
// fixed width, without padding; a string or vector is a u32 count followed by its elements. Include this header only
// where serialize functions are defined: cereal is slow to compile.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cereal/cereal.hpp>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "base/printable.h"
#include "base/status.h"

namespace ferry {

static_assert(std::endian::native == std::endian::little, "the archives copy numbers as they lie in memory");

// Thrown by the input archive and caught only in decode_with.
class DecodeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class ByteOutputArchive : public cereal::OutputArchive<ByteOutputArchive, cereal::AllowEmptyClassElision> {
 public:
  explicit ByteOutputArchive(std::vector<std::uint8_t>& into)
      : cereal::OutputArchive<ByteOutputArchive, cereal::AllowEmptyClassElision>(this), bytes_(into) {}

  void put(const void* data, std::size_t count) {
    const auto* first = static_cast<const std::uint8_t*>(data);
    bytes_.insert(bytes_.end(), first, first + count);
  }
  void put_count(std::size_t count);
  // Encloses a struct in front of which its length stands; end_nested() takes what begin_nested() returned.
  std::size_t begin_nested();
  void end_nested(std::size_t begin);

 private:
  std::vector<std::uint8_t>& bytes_;
};

class ByteInputArchive : public cereal::InputArchive<ByteInputArchive, cereal::AllowEmptyClassElision> {
 public:
  explicit ByteInputArchive(std::span<const std::uint8_t> from, Strings strings = Strings::as_sent)
      : cereal::InputArchive<ByteInputArchive, cereal::AllowEmptyClassElision>(this), bytes_(from), strings_(strings) {}

  void take(void* data, std::size_t count) {
    if (count > remaining()) fail_short(count);
    if (count != 0) std::memcpy(data, bytes_.data() + position_, count);
    position_ += count;
  }
  // Returns the number of elements that follow, each at least minimum_bytes long. Fails if the remaining bytes cannot
  // hold that many.
  std::size_t take_count(std::size_t minimum_bytes);
  // The same for a list that may have at most `most` elements.
  std::size_t take_limited_count(std::size_t most);
  // Reads a string of at most `most` bytes and makes it printable if that was requested.
  void take_text(std::string& text, bool has_lines, std::size_t most = SIZE_MAX);
  std::size_t remaining() const { return bytes_.size() - position_; }
  // Enclose a struct in front of which its length stands: between them remaining() counts the bytes of that struct
  // alone, and end_nested(), which takes what begin_nested() returned, skips those that nobody read.
  std::size_t begin_nested();
  void end_nested(std::size_t outer);

  // Both throw a DecodeError that names the offset; fail() refers to the value read last.
  [[noreturn]] void fail_short(std::size_t wanted) const;
  [[noreturn]] void fail(const char* expected, std::uint64_t got, std::size_t value_bytes) const;

 private:
  std::span<const std::uint8_t> bytes_;
  Strings strings_;
  std::size_t position_ = 0;
};

// Runs read(archive, into) over all bytes. Returns protocol_error, with the offset, if they are too short, too long or
// contain an invalid value.
Status decode_with(std::span<const std::uint8_t> bytes, void (*read)(ByteInputArchive&, void*), void* into,
                   Strings strings = Strings::as_sent);

template <class T>
concept WireNumber = std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8;

template <WireNumber T>
void save(ByteOutputArchive& archive, const T& value) {
  archive.put(&value, sizeof(T));
}
template <WireNumber T>
void load(ByteInputArchive& archive, T& value) {
  archive.take(&value, sizeof(T));
}

inline void save(ByteOutputArchive& archive, const bool& value) {
  const std::uint8_t byte = value ? 1 : 0;
  archive.put(&byte, 1);
}
inline void load(ByteInputArchive& archive, bool& value) {
  std::uint8_t byte = 0;
  archive.take(&byte, 1);
  if (byte > 1) archive.fail("a bool of 0 or 1", byte, 1);
  value = byte == 1;
}

inline void save(ByteOutputArchive& archive, const std::string& value) {
  archive.put_count(value.size());
  archive.put(value.data(), value.size());
}
inline void load(ByteInputArchive& archive, std::string& value) { archive.take_text(value, false); }

template <std::size_t N>
void save(ByteOutputArchive& archive, const std::array<std::uint8_t, N>& value) {
  archive.put(value.data(), N);
}
template <std::size_t N>
void load(ByteInputArchive& archive, std::array<std::uint8_t, N>& value) {
  archive.take(value.data(), N);
}

template <class T>
void save(ByteOutputArchive& archive, const std::vector<T>& values) {
  archive.put_count(values.size());
  if constexpr (WireNumber<T>) {
    archive.put(values.data(), values.size() * sizeof(T));
  } else {
    for (const T& value : values) archive(value);
  }
}
template <class T>
void load(ByteInputArchive& archive, std::vector<T>& values) {
  values.clear();
  if constexpr (WireNumber<T>) {
    values.resize(archive.take_count(sizeof(T)));
    archive.take(values.data(), values.size() * sizeof(T));
  } else {
    // The vector grows as elements arrive: an element can be many times larger in memory than its shortest encoding.
    std::size_t left = archive.take_count(1);
    values.reserve(std::min<std::size_t>(left, 8));
    for (; left > 0; --left) {
      values.emplace_back();
      archive(values.back());
    }
  }
}

// A bool and, if it is true, the value.
template <class T>
void save(ByteOutputArchive& archive, const std::optional<T>& value) {
  archive(value.has_value());
  if (value) archive(*value);
}
template <class T>
void load(ByteInputArchive& archive, std::optional<T>& value) {
  bool has_value = false;
  archive(has_value);
  value.reset();
  if (has_value) archive(value.emplace());
}

// A string, or the strings of a list, of which more bytes than `most` are refused before memory is taken for them.
struct LimitedText {
  std::string& value;
  std::size_t most;
};
inline LimitedText limited(std::string& value, std::size_t most) { return {value, most}; }
inline void save(ByteOutputArchive& archive, const LimitedText& field) { save(archive, field.value); }
inline void load(ByteInputArchive& archive, LimitedText& field) { archive.take_text(field.value, false, field.most); }

struct LimitedTexts {
  std::vector<std::string>& value;
  std::size_t most;
  std::size_t most_bytes;  // the limit of each
};
inline LimitedTexts limited(std::vector<std::string>& value, std::size_t most, std::size_t most_bytes) {
  return {value, most, most_bytes};
}
inline void save(ByteOutputArchive& archive, const LimitedTexts& field) { save(archive, field.value); }
inline void load(ByteInputArchive& archive, LimitedTexts& field) {
  field.value.clear();
  for (std::size_t left = archive.take_limited_count(field.most); left > 0; --left) {
    archive.take_text(field.value.emplace_back(), false, field.most_bytes);
  }
}

// A vector of which more elements than `most` are refused before any is read.
template <class T>
struct LimitedField {
  std::vector<T>& value;
  std::size_t most;
};
template <class T>
LimitedField<T> limited(std::vector<T>& value, std::size_t most) {
  return {value, most};
}
template <class T>
void save(ByteOutputArchive& archive, const LimitedField<T>& field) {
  save(archive, field.value);
}
template <class T>
void load(ByteInputArchive& archive, LimitedField<T>& field) {
  field.value.clear();
  const std::size_t count = archive.take_limited_count(field.most);
  if constexpr (WireNumber<T>) {
    if (count * sizeof(T) > archive.remaining()) archive.fail_short(count * sizeof(T));
    field.value.resize(count);
    archive.take(field.value.data(), count * sizeof(T));
  } else {
    field.value.reserve(std::min<std::size_t>(count, 8));
    for (std::size_t i = 0; i < count; ++i) archive(field.value.emplace_back());
  }
}

// A string that may have several lines, or a vector of such strings. The encoding is the same, but line feeds and tabs
// count as printable.
template <class T>
struct LinesField {
  T& value;
};
template <class T>
LinesField<T> lines_field(T& value) {
  return {value};
}
template <class T>
void save(ByteOutputArchive& archive, const LinesField<T>& field) {
  save(archive, field.value);
}
inline void load(ByteInputArchive& archive, LinesField<std::string>& field) { archive.take_text(field.value, true); }
inline void load(ByteInputArchive& archive, LinesField<std::vector<std::string>>& field) {
  field.value.clear();
  for (std::size_t left = archive.take_count(sizeof(std::uint32_t)); left > 0; --left) {
    archive.take_text(field.value.emplace_back(), true);
  }
}

// Encodes an enum as its underlying integer; decoding fails for values for which is_valid returns false.
template <class E>
struct EnumField {
  E& value;
  bool (*is_valid)(std::underlying_type_t<E>);
};
template <class E>
EnumField<E> enum_field(E& value, bool (*is_valid)(std::underlying_type_t<E>)) {
  return {value, is_valid};
}
template <class E>
void save(ByteOutputArchive& archive, const EnumField<E>& field) {
  save(archive, static_cast<std::underlying_type_t<E>>(field.value));
}
template <class E>
void load(ByteInputArchive& archive, EnumField<E>& field) {
  std::underlying_type_t<E> number{};
  load(archive, number);
  if (!field.is_valid(number)) archive.fail("a known tag", static_cast<std::uint64_t>(number), sizeof number);
  field.value = static_cast<E>(number);
}

// A struct with its length in front, or a vector of such structs. A reader skips fields at the end that it does not
// know.
template <class T>
struct NestedField {
  T& value;
};
template <class T>
NestedField<T> nested(T& value) {
  return {value};
}
template <class T>
void save(ByteOutputArchive& archive, const NestedField<T>& field) {
  const std::size_t begin = archive.begin_nested();
  archive(field.value);
  archive.end_nested(begin);
}
template <class T>
void load(ByteInputArchive& archive, NestedField<T>& field) {
  const std::size_t outer = archive.begin_nested();
  archive(field.value);
  archive.end_nested(outer);
}
template <class T>
void save(ByteOutputArchive& archive, const NestedField<std::vector<T>>& field) {
  archive.put_count(field.value.size());
  for (T& value : field.value) save(archive, NestedField<T>{value});
}
template <class T>
void load(ByteInputArchive& archive, NestedField<std::vector<T>>& field) {
  field.value.clear();
  for (std::size_t left = archive.take_count(sizeof(std::uint32_t)); left > 0; --left) {
    NestedField<T> element{field.value.emplace_back()};
    load(archive, element);
  }
}

// A field that was added at the end of a struct: where an older peer's struct ends before it, it keeps its value.
template <class T>
struct AddedField {
  T& value;
};
template <class T>
AddedField<T> added_field(T& value) {
  return {value};
}
template <class T>
void save(ByteOutputArchive& archive, const AddedField<T>& field) {
  save(archive, field.value);
}
template <class T>
void load(ByteInputArchive& archive, AddedField<T>& field) {
  if (archive.remaining() > 0) load(archive, field.value);
}

// The same with a limit of the number of structs.
template <class T>
struct LimitedNestedField {
  std::vector<T>& value;
  std::size_t most;
};
template <class T>
LimitedNestedField<T> limited_nested(std::vector<T>& value, std::size_t most) {
  return {value, most};
}
template <class T>
void save(ByteOutputArchive& archive, const LimitedNestedField<T>& field) {
  save(archive, NestedField<std::vector<T>>{field.value});
}
template <class T>
void load(ByteInputArchive& archive, LimitedNestedField<T>& field) {
  field.value.clear();
  for (std::size_t left = archive.take_limited_count(field.most); left > 0; --left) {
    NestedField<T> element{field.value.emplace_back()};
    load(archive, element);
  }
}

}  // namespace ferry

CEREAL_SETUP_ARCHIVE_TRAITS(ferry::ByteInputArchive, ferry::ByteOutputArchive)
