#include "base/quantity.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("percents, times and sizes are read with their units") {
  CHECK(parse_percent("2%") == 0.02);
  CHECK(parse_percent("0.5 %") == 0.005);
  CHECK_FALSE(parse_percent("2"));
  CHECK(parse_seconds("1.5ms").value() == doctest::Approx(1.5e-3));
  CHECK(parse_seconds("1min") == 60);
  CHECK_FALSE(parse_seconds("5"));
  CHECK(parse_byte_count("1.5 MiB") == 1'572'864);
  CHECK(parse_byte_count("512") == 512);
  CHECK_FALSE(parse_byte_count("-1"));
  CHECK_FALSE(parse_byte_count("1 TB"));
}

TEST_CASE("spans of time are read as they are written") {
  for (const char* text : {"90s", "30m", "1h30m", "2d", "0s"}) CHECK(parse_span(text));
  CHECK(parse_span("1h1m1s") == 3'661'000);
  for (const char* text : {"", "5", "h", "1.5h", "-1s", "366d", "1h 30m"}) CHECK_FALSE(parse_span(text));
  CHECK(written_span(5'400'000) == "1h30m");
  CHECK(written_span(0) == "0s");
  CHECK(written_span(-1'000) == "-1s");
  CHECK(written_span(1'500) == "1.5s");
  CHECK(parse_span(written_span(30'605'000)) == 30'605'000);
}
