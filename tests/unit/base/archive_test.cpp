#include "base/archive.h"

#include <doctest/doctest.h>

namespace ferry {
namespace {

struct Inner {
  std::string name;
  bool flag = false;
  bool operator==(const Inner&) const = default;
};
template <class Archive>
void serialize(Archive& archive, Inner& inner) {
  archive(inner.name, inner.flag);
}

struct Outer {
  std::uint16_t small = 0;
  std::int64_t large = 0;
  double real = 0;
  std::vector<std::int32_t> numbers;
  std::vector<Inner> inners;
  std::array<std::uint8_t, 3> raw{};
  bool operator==(const Outer&) const = default;
};
template <class Archive>
void serialize(Archive& archive, Outer& outer) {
  archive(outer.small, outer.large, outer.real, outer.numbers, outer.inners, outer.raw);
}

std::vector<std::uint8_t> encoded(const Outer& outer) {
  std::vector<std::uint8_t> bytes;
  ByteOutputArchive archive(bytes);
  archive(outer);
  return bytes;
}

Status decoded(std::span<const std::uint8_t> bytes, Outer& into) {
  return decode_with(
      bytes, [](ByteInputArchive& archive, void* outer) { archive(*static_cast<Outer*>(outer)); }, &into);
}

const Outer kSample{0x1234, -2, 0.5, {1, -1}, {{"ab", true}, {"", false}}, {7, 8, 9}};

TEST_CASE("an archive writes little-endian numbers of fixed width without padding") {
  const std::vector<std::uint8_t> expected{
      0x34, 0x12,                                                                          // small
      0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,                                      // large
      0,    0,    0,    0,    0,    0,    0xe0, 0x3f,                                      // real
      2,    0,    0,    0,    1,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0,  // inners
      2,    0,    0,    0,    'a',  'b',  1,    0,    0,    0,    0,    0,    7, 8, 9};
  CHECK(encoded(kSample) == expected);
}

TEST_CASE("what an archive wrote, an archive reads") {
  Outer outer;
  const Status status = decoded(encoded(kSample), outer);
  CHECK_MESSAGE(status.is_ok(), status.message());
  CHECK(outer == kSample);
}

TEST_CASE("every truncated length is refused with its offset") {
  const std::vector<std::uint8_t> bytes = encoded(kSample);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    Outer outer;
    const Status status = decoded(std::span(bytes).first(length), outer);
    CAPTURE(length);
    CHECK(status.code() == ErrorCode::protocol_error);
    CHECK(status.message().rfind("offset ", 0) == 0);
  }
}

TEST_CASE("bytes after the end are refused") {
  std::vector<std::uint8_t> bytes = encoded(kSample);
  bytes.push_back(0);
  Outer outer;
  CHECK(decoded(bytes, outer).message() == "offset 49: expected the end, got 1 more bytes");
}

TEST_CASE("a count larger than what is left is refused before memory is taken") {
  std::vector<std::uint8_t> bytes = encoded(kSample);
  bytes[21] = 0x7f;  // the top byte of the count of numbers
  Outer outer;
  const Status status = decoded(bytes, outer);
  CHECK(status.message() == "offset 18: expected a count that fits into the 49 bytes, got 2130706434");
  CHECK(outer.numbers.capacity() == 0);
}

TEST_CASE("a bool other than 0 and 1 is refused") {
  std::vector<std::uint8_t> bytes = encoded(kSample);
  bytes[40] = 2;
  Outer outer;
  CHECK(decoded(bytes, outer).message() == "offset 40: expected a bool of 0 or 1, got 2");
}

struct Limited {
  std::string name;
  std::vector<std::string> words;
  std::vector<Inner> inners;
  std::optional<std::int32_t> number;
};
template <class Archive>
void serialize(Archive& archive, Limited& message) {
  archive(limited(message.name, 4), limited(message.words, 2, 3), limited_nested(message.inners, 1), message.number);
}

Status passed_on(const Limited& message, Limited& into) {
  std::vector<std::uint8_t> bytes;
  ByteOutputArchive archive(bytes);
  archive(message);
  return decode_with(
      bytes, [](ByteInputArchive& input, void* target) { input(*static_cast<Limited*>(target)); }, &into);
}

TEST_CASE("strings and lists at their limits are accepted, and longer ones are refused") {
  Limited got;
  REQUIRE(passed_on({"abcd", {"a", "abc"}, {{"x", true}}, -7}, got).is_ok());
  CHECK(got.name == "abcd");
  CHECK(got.words == std::vector<std::string>{"a", "abc"});
  CHECK(got.inners == std::vector<Inner>{{"x", true}});
  CHECK(got.number == -7);
  REQUIRE(passed_on({}, got).is_ok());
  CHECK_FALSE(got.number);
  CHECK(passed_on({"abcde", {}, {}, {}}, got).message() == "offset 0: expected a shorter string, got 5");
  CHECK(passed_on({"", {"abcd"}, {}, {}}, got).message() == "offset 8: expected a shorter string, got 4");
  CHECK(passed_on({"", {"", "", ""}, {}, {}}, got).message() == "offset 4: expected a shorter list, got 3");
  CHECK(passed_on({"", {}, {{}, {}}, {}}, got).message() == "offset 8: expected a shorter list, got 2");
}

}  // namespace
}  // namespace ferry
