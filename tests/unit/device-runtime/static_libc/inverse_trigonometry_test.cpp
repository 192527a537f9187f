#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

// The test is linked with device-runtime/static_libc/inverse_trigonometry.cpp. These names keep the compiler from
// replacing a call.
extern "C" double ferry_atan(double x) __asm__("atan");
extern "C" double ferry_asin(double x) __asm__("asin");
extern "C" double ferry_acos(double x) __asm__("acos");

namespace ferry::static_libc {
namespace {

constexpr double kRightAngle = 0x1.921fb54442d18p+0;

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
  CHECK(ferry_atan(std::numeric_limits<double>::infinity()) == kRightAngle);
  CHECK(ferry_atan(-std::numeric_limits<double>::infinity()) == -kRightAngle);
  CHECK(std::isnan(ferry_atan(std::numeric_limits<double>::quiet_NaN())));
  CHECK(ferry_atan(std::numeric_limits<double>::denorm_min()) == std::numeric_limits<double>::denorm_min());
  CHECK(ferry_atan(-std::numeric_limits<double>::max()) == -kRightAngle);
}

TEST_CASE("arcsines and arccosines are within 1 unit in the last place of those of long double") {
  std::mt19937_64 random(12);
  for (int i = 0; i < 300'000; ++i) {
    // Near 0, near 1, and anywhere between.
    const double part = 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
    double x = std::ldexp(static_cast<double>(random() >> 11), -53);
    if (i % 3 == 0) x = std::ldexp(part, -static_cast<int>(random() % 60) - 1);
    if (i % 3 == 1) x = 1 - std::ldexp(part, -static_cast<int>(random() % 53) - 1);
    if (i % 2 == 0) x = -x;
    CAPTURE(x);
    REQUIRE(distance(ferry_asin(x), std::asin(static_cast<long double>(x))) < 1.0L);
    REQUIRE(distance(ferry_acos(x), std::acos(static_cast<long double>(x))) < 1.0L);
  }
}

TEST_CASE("arcsines and arccosines of the ends are right, and there are none beyond") {
  CHECK(ferry_asin(1) == kRightAngle);
  CHECK(ferry_asin(-1) == -kRightAngle);
  CHECK(std::bit_cast<std::uint64_t>(ferry_asin(0.0)) == 0);
  CHECK(std::signbit(ferry_asin(-0.0)));
  CHECK(ferry_acos(1) == 0);
  CHECK(ferry_acos(0) == kRightAngle);
  CHECK(ferry_acos(-0.0) == kRightAngle);
  CHECK(ferry_acos(-1) == 2 * kRightAngle);
  CHECK(ferry_asin(std::numeric_limits<double>::denorm_min()) == std::numeric_limits<double>::denorm_min());
  for (const double x : {std::nextafter(1.0, 2.0), -2.0, std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(std::isnan(ferry_asin(x)));
    CHECK(std::isnan(ferry_acos(x)));
  }
}

}  // namespace
}  // namespace ferry::static_libc
