#include "base/quantity_text.h"

#include <doctest/doctest.h>

using namespace ferry;

TEST_CASE("times print with three digits and a unit") {
  CHECK(seconds_text(1.5e-9) == "1.50 ns");
  CHECK(seconds_text(812e-9) == "812 ns");
  CHECK(seconds_text(12.34e-6) == "12.3 us");
  CHECK(seconds_text(0.9996e-3) == "1.00 ms");
  CHECK(seconds_text(4.561) == "4.56 s");
  CHECK(seconds_text(0) == "0 ns");
}

TEST_CASE("bytes print as people read them") {
  CHECK(bytes_text(1) == "1 byte");
  CHECK(bytes_text(512) == "512 bytes");
  CHECK(bytes_text(15232) == "14.9 KiB");
  CHECK(bytes_text(std::uint64_t{2} << 30) == "2.00 GiB");
}

TEST_CASE("rates and shares") {
  CHECK(rate_text(217.4e9, "FLOP/s") == "217 GFLOP/s");
  CHECK(rate_text(9.81e9, "B/s") == "9.81 GB/s");
  CHECK(rate_text(0, "B/s") == "0 B/s");
  CHECK(percent_text(0.494) == "49%");
  CHECK(percent_text(0.0034) == "0.3%");
  CHECK(percent_text(1.02) == "102%");
}

TEST_CASE("spans and times are written for people") {
  CHECK(span_text(0) == "0 ms");
  CHECK(span_text(4'000) == "4 s");
  CHECK(span_text(61'500) == "1 min 1 s");
  CHECK(span_text(3'599'000) == "59 min");
  CHECK(span_text(7'500'000) == "2 h 5 min");
  CHECK(span_text(273'600'000) == "3 d 4 h");
  CHECK(time_text(951'782'400'000) == "2000-02-29 00:00:00");
  CHECK(iso_time_text(951'782'400'999) == "2000-02-29T00:00:00Z");
  CHECK(time_text(~std::uint64_t{0}) == "out of range");
}
