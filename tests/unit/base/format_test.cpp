#include "base/format.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("counts print as people read them") {
  CHECK(count_text(0) == "0");
  CHECK(count_text(999) == "999");
  CHECK(count_text(262144) == "262,144");
  CHECK(count_text(1234567890) == "1,234,567,890");
}
