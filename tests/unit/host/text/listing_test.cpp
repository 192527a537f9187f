#include "host/text/listing.h"

#include <doctest/doctest.h>

using namespace ferry::cli;

TEST_CASE("spans of time are short") {
  CHECK(span_text(0) == "0 ns");
  CHECK(span_text(1500) == "1.50 s");
  CHECK(span_text(119'999) == "120 s");
  CHECK(span_text(120'000) == "2 min");
  CHECK(span_text(65 * 60'000) == "65 min");
  CHECK(span_text(125 * 60'000) == "2 h 05 min");
}
