#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

// The test is linked with device-runtime/static_libc/arctangent.cpp. This name keeps the compiler from replacing a
// call.
extern "C" double ferry_atan(double x) __asm__("atan");

namespace ferry::static_libc {
namespace {

// Units in the last place of `expected` between it and `value`.
long double distance(double value, long double expected) {
  const auto nearest = static_cast<double>(expected);
  const double unit = std::nextafter(std::abs(nearest), std::numeric_limits<double>::infinity()) - std::abs(nearest);
  return std::abs(value - expected) / unit;
}

TEST_CASE("arctangents are within 1 unit in the last place of those of long double") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200'000; ++i) {
    // Every exponent from 2^-60 to 2^60 is as likely.
    const double x =
        std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), static_cast<int>(random() % 120) - 60) *
        (i % 2 == 0 ? 1 : -1);
    CAPTURE(x);
    REQUIRE(distance(ferry_atan(x), std::atan(static_cast<long double>(x))) < 1.0L);
  }
}

TEST_CASE("arctangents of zeros keep their sign, and those of infinities are right angles") {
  CHECK(std::bit_cast<std::uint64_t>(ferry_atan(0.0)) == 0);
  CHECK(std::signbit(ferry_atan(-0.0)));
  CHECK(ferry_atan(std::numeric_limits<double>::infinity()) == std::asin(1.0));
  CHECK(ferry_atan(-std::numeric_limits<double>::infinity()) == -std::asin(1.0));
  CHECK(std::isnan(ferry_atan(std::numeric_limits<double>::quiet_NaN())));
  CHECK(ferry_atan(std::numeric_limits<double>::denorm_min()) == std::numeric_limits<double>::denorm_min());
  CHECK(ferry_atan(-std::numeric_limits<double>::max()) == -std::asin(1.0));
}

}  // namespace
}  // namespace ferry::static_libc
