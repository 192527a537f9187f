#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

// The test is linked with device-runtime/static_libc/tangent.cpp. This name keeps the compiler from replacing a call.
extern "C" double ferry_tan(double x) __asm__("tan");

namespace ferry::static_libc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Units in the last place of the tangent between it and what is computed.
long double distance(double x) {
  const long double expected = std::tan(static_cast<long double>(x));
  const double nearest = std::abs(static_cast<double>(expected));
  return std::abs(ferry_tan(x) - expected) / (std::nextafter(nearest, kInfinity) - nearest);
}

TEST_CASE("tangents are within 1 unit in the last place of those of long double, and 2 for large angles") {
  std::mt19937_64 random(13);
  for (int i = 0; i < 400'000; ++i) {
    // Every exponent from 2^-40 to 2^40 is as likely.
    const double x =
        std::ldexp(1 + std::ldexp(static_cast<double>(random() >> 12), -52), static_cast<int>(random() % 80) - 40) *
        (i % 2 == 0 ? 1 : -1);
    CAPTURE(x);
    REQUIRE(distance(x) < (std::abs(x) < 0x1p26 ? 1.0L : 2.0L));
  }
}

TEST_CASE("tangents near multiples of right angles are as precise") {
  for (int i = 1; i < 100'000; i += 7) {
    const double angle = i * 1.5707963267948966;
    for (const double x : {angle, std::nextafter(angle, 0.0), std::nextafter(angle, kInfinity), -angle, angle / 2}) {
      CAPTURE(x);
      REQUIRE(distance(x) < 1.0L);
    }
  }
}

TEST_CASE("tangents of zeros keep their sign, and infinities have none") {
  CHECK(std::bit_cast<std::uint64_t>(ferry_tan(0.0)) == 0);
  CHECK(std::signbit(ferry_tan(-0.0)));
  CHECK(ferry_tan(std::numeric_limits<double>::denorm_min()) == std::numeric_limits<double>::denorm_min());
  CHECK(std::isnan(ferry_tan(kInfinity)));
  CHECK(std::isnan(ferry_tan(-kInfinity)));
  CHECK(std::isnan(ferry_tan(std::numeric_limits<double>::quiet_NaN())));
  CHECK(distance(std::numeric_limits<double>::max()) < 2.0L);
}

}  // namespace
}  // namespace ferry::static_libc
