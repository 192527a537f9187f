#include "base/printable.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace std::string_literals;

TEST_CASE("text that shows as it is stays as it is") {
  for (const char* text : {"", "ferry 0.1 ann@laptop", "a\\n b", "Zoë 電算機 π≤∞ 🚢", "~"}) {
    CHECK(printable(text) == text);
    CHECK(printable_lines(text) == text);
  }
}

TEST_CASE("what drives a terminal is written out") {
  CHECK(printable("\x1b[2J\x1b]0;title\x07") == R"(\x1b[2J\x1b]0;title\x07)");
  CHECK(printable("line\rover\b\x7f") == R"(line\rover\x08\x7f)");
  CHECK(printable("a\0b"s) == R"(a\x00b)");
  // The 8-bit control sequence introducer, encoded as UTF-8.
  CHECK(printable("\xc2\x9b"
                  "2J") == R"(\xc2\x9b2J)");
}

TEST_CASE("text on one line stays on one line") {
  CHECK(printable("me\nsession 2: root") == R"(me\nsession 2: root)");
  CHECK(printable("a\tb") == R"(a\tb)");
  CHECK(printable("\xe2\x80\xa8") == R"(\xe2\x80\xa8)");  // line separator
}

TEST_CASE("lines and columns may be kept") { CHECK(printable_lines("a\tb\n\x1b[m\n\r") == "a\tb\n\\x1b[m\n\\r"); }

TEST_CASE("characters that turn or hide the text around them are written out") {
  CHECK(printable("user\xe2\x80\xae") == R"(user\xe2\x80\xae)");  // right-to-left override
  CHECK(printable("a\xe2\x80\x8b"
                  "b") == R"(a\xe2\x80\x8bb)");  // zero width space
  CHECK(printable("\xef\xbb\xbf") == R"(\xef\xbb\xbf)");
}

TEST_CASE("code points that are no characters, which XML refuses, are written out") {
  CHECK(printable("\xef\xbf\xbe\xef\xbf\xbf") == R"(\xef\xbf\xbe\xef\xbf\xbf)");          // U+FFFE, U+FFFF
  CHECK(printable("\xf4\x8f\xbf\xbf\xef\xb7\x90") == R"(\xf4\x8f\xbf\xbf\xef\xb7\x90)");  // U+10FFFF, U+FDD0
  CHECK(printable("\xef\xbf\xbd\xef\xb7\xb0") == "\xef\xbf\xbd\xef\xb7\xb0");             // U+FFFD, U+FDF0
}

TEST_CASE("bytes that are no UTF-8 are written out") {
  CHECK(printable("\xff\xfe") == R"(\xff\xfe)");
  CHECK(printable("caf\xe9") == R"(caf\xe9)");
  CHECK(printable("\xc3") == R"(\xc3)");                          // cut short
  CHECK(printable("\xc3(") == R"(\xc3()");                        // no continuation
  CHECK(printable("\xc0\x9b") == R"(\xc0\x9b)");                  // overlong escape
  CHECK(printable("\xe0\x80\x9b") == R"(\xe0\x80\x9b)");          // the same with three bytes
  CHECK(printable("\xed\xa0\x80") == R"(\xed\xa0\x80)");          // surrogate
  CHECK(printable("\xf4\x90\x80\x80") == R"(\xf4\x90\x80\x80)");  // above U+10FFFF
  CHECK(printable("\xf5\x80\x80\x80") == R"(\xf5\x80\x80\x80)");
}
