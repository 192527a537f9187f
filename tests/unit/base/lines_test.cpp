#include "base/lines.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("a text is split at line feeds, and only its last line may lack one") {
  using Lines = std::vector<std::string_view>;
  CHECK(lines_of("").empty());
  CHECK(lines_of("\n") == Lines{""});
  CHECK(lines_of("a") == Lines{"a"});
  CHECK(lines_of("a\n") == Lines{"a"});
  CHECK(lines_of("a\n\nb") == Lines{"a", "", "b"});
}
