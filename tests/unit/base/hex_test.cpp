#include "base/hex.h"

#include <doctest/doctest.h>

#include <array>

namespace ferry::test {
namespace {

TEST_CASE("bytes are written as two lower-case digits each, and read again") {
  const std::array<std::uint8_t, 5> bytes{0x00, 0x0f, 0xa0, 0x7c, 0xff};
  CHECK(hex_text(bytes) == "000fa07cff");
  CHECK(hex_text({}).empty());
  std::array<std::uint8_t, 5> read{};
  CHECK(parse_hex("000fa07cff", read));
  CHECK(read == bytes);
  CHECK(parse_hex("", {}));
}

TEST_CASE("what is not exactly the expected number of lower-case digits is refused") {
  std::array<std::uint8_t, 2> read{};
  for (const char* text : {"", "00", "000", "00000", "0000ff", "000g", "00F0", " 000", "0x00", "00 0"}) {
    CAPTURE(text);
    CHECK(!parse_hex(text, read));
  }
}

}  // namespace
}  // namespace ferry::test
