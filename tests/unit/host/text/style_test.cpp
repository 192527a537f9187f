#include "host/text/style.h"

#include <doctest/doctest.h>

using namespace ferry::cli;

TEST_CASE("lines are broken at spaces, and only there") {
  CHECK(wrapped("one two three", 7) == "one two\nthree");
  CHECK(wrapped("one two three", 8) == "one two\nthree");
  CHECK(wrapped("one two\nthree four", 9) == "one two\nthree\nfour");
  CHECK(wrapped("extraordinary word", 5) == "extraordinary\nword");
  CHECK(wrapped("extraordinary", 5) == "extraordinary");
  CHECK(wrapped("one two three", 0) == "one two three");
}

TEST_CASE("a stream that is no terminal has colours only on request") {
  FILE* const file = tmpfile();
  use_color(UseColor::automatic);
  CHECK(!has_color(file));
  CHECK(painted(file, Color::red, "bad") == "bad");
  use_color(UseColor::always);
  CHECK(painted(file, Color::red, "bad") == "\033[31mbad\033[0m");
  use_color(UseColor::never);
  CHECK(painted(file, Color::red, "bad") == "bad");
  use_color(UseColor::automatic);
  fclose(file);
}
