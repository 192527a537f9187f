#include "base/utf8.h"

#include <doctest/doctest.h>

#include <iterator>
#include <string>

namespace ferry {
namespace {

TEST_CASE("characters of one to four bytes are decoded") {
  std::uint32_t code = 0;
  CHECK(decode_utf8("ab", code) == 1);
  CHECK(code == 'a');
  CHECK(decode_utf8("\xc3\xbc!", code) == 2);
  CHECK(code == 0xfc);
  CHECK(decode_utf8("\xe6\x9d\xbf", code) == 3);
  CHECK(code == 0x677f);
  CHECK(decode_utf8("\xf0\x9f\x9a\xa2", code) == 4);
  CHECK(code == 0x1f6a2);
}

TEST_CASE("truncated, overlong and surrogate characters are not UTF-8") {
  for (const char* text :
       {"\x80", "\xff", "\xc3", "\xc3(", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80"})
    CHECK(!is_utf8(std::string("a") + text));
  CHECK(is_utf8(""));
  CHECK(is_utf8("gr\xc3\xbc\xc3\x9f \xf0\x9f\x9a\xa2"));
  CHECK(is_utf8(std::string("a\0b", 3)));
}

TEST_CASE("a text is cut between characters") {
  const std::string text = "a\xc3\xbc\xe6\x9d\xbf\xf0\x9f\x9a\xa2z";
  const std::size_t ends[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  for (std::size_t most = 0; most < std::size(ends); ++most) {
    CAPTURE(most);
    CHECK(utf8_prefix(text, most) == text.substr(0, ends[most]));
  }
  CHECK(utf8_prefix("", 0).empty());
}

}  // namespace
}  // namespace ferry
