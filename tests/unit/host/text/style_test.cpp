#include "host/text/style.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("lines are broken at spaces, and only there") {
  CHECK(text::wrapped("one two three", 7) == "one two\nthree");
  CHECK(text::wrapped("one two three", 8) == "one two\nthree");
  CHECK(text::wrapped("one two\nthree four", 9) == "one two\nthree\nfour");
  CHECK(text::wrapped("extraordinary word", 5) == "extraordinary\nword");
  CHECK(text::wrapped("extraordinary", 5) == "extraordinary");
  CHECK(text::wrapped("one two three", 0) == "one two three");
}

TEST_CASE("a stream that is no terminal has colours only on request") {
  FILE* const file = tmpfile();
  text::use_color(text::UseColor::automatic);
  CHECK(!text::has_color(file));
  CHECK(text::painted(file, text::Color::red, "bad") == "bad");
  text::use_color(text::UseColor::always);
  CHECK(text::painted(file, text::Color::red, "bad") == "\033[31mbad\033[0m");
  text::use_color(text::UseColor::never);
  CHECK(text::painted(file, text::Color::red, "bad") == "bad");
  text::use_color(text::UseColor::automatic);
  fclose(file);
}
