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
extern "C" double ferry_atan2(double y, double x) __asm__("atan2");

namespace ferry::static_libc {
namespace {

constexpr double kRightAngle = 0x1.921fb54442d18p+0, kInfinity = std::numeric_limits<double>::infinity();

// Units in the last place of `expected` between it and `value`.
long double distance(double value, long double expected) {
  const auto nearest = static_cast<double>(expected);
  const double unit = std::nextafter(std::abs(nearest), kInfinity) - std::abs(nearest);
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
  CHECK(ferry_atan(kInfinity) == kRightAngle);
  CHECK(ferry_atan(-kInfinity) == -kRightAngle);
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
  for (const double x : {std::nextafter(1.0, 2.0), -2.0, kInfinity, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(std::isnan(ferry_asin(x)));
    CHECK(std::isnan(ferry_acos(x)));
  }
}

TEST_CASE("angles of vectors are within 1 unit in the last place of those of long double") {
  std::mt19937_64 random(13);
  const auto leg = [&](int exponents) {
    const double part = 1 + std::ldexp(static_cast<double>(random() >> 12), -52);
    const double length =
        std::ldexp(part, static_cast<int>(random() % static_cast<unsigned>(2 * exponents)) - exponents);
    return random() % 2 == 0 ? length : -length;
  };
  for (int i = 0; i < 400'000; ++i) {
    // Legs of like lengths, of any, and of those at the ends of the range of numbers.
    double x = leg(i % 2 == 0 ? 3 : 500), y = leg(i % 2 == 0 ? 3 : 500);
    const int ends = i % 8 == 0 ? 1018 : i % 8 == 1 ? -1065 : 0;
    x = std::ldexp(x, ends);
    y = std::ldexp(y, ends);
    if (!std::isfinite(x) || !std::isfinite(y) || x == 0 || y == 0) continue;
    CAPTURE(x);
    CAPTURE(y);
    const long double expected = std::atan2(static_cast<long double>(y), static_cast<long double>(x));
    REQUIRE(distance(ferry_atan2(y, x), expected) < 1.0L);
  }
}

TEST_CASE("angles of vectors along an axis are right, as are those of zeros and of infinities") {
  const double zeros[] = {0.0, -0.0}, ends[] = {0.0, 1.0, 0x1p-1074, 0x1.fffffffffffffp+1023, kInfinity};
  for (const double end : ends) {
    for (const double zero : zeros) {
      CAPTURE(end);
      CAPTURE(zero);
      if (end == 0) continue;
      CHECK(ferry_atan2(end, zero) == kRightAngle);
      CHECK(ferry_atan2(-end, zero) == -kRightAngle);
      CHECK(ferry_atan2(zero, end) == 0);
      CHECK(std::signbit(ferry_atan2(zero, end)) == std::signbit(zero));
      CHECK(ferry_atan2(zero, -end) == std::copysign(2 * kRightAngle, zero));
    }
  }
  for (const double zero : zeros) {
    CHECK(std::bit_cast<std::uint64_t>(ferry_atan2(zero, 0.0)) == std::bit_cast<std::uint64_t>(zero));
    CHECK(ferry_atan2(zero, -0.0) == std::copysign(2 * kRightAngle, zero));
  }
  CHECK(ferry_atan2(kInfinity, kInfinity) == kRightAngle / 2);
  CHECK(ferry_atan2(-kInfinity, -kInfinity) == -1.5 * kRightAngle);
  CHECK(ferry_atan2(-1, kInfinity) == 0);
  CHECK(ferry_atan2(kInfinity, -1) == kRightAngle);
  CHECK(ferry_atan2(0x1p-1074, 1) == 0x1p-1074);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(std::isnan(ferry_atan2(nan, 1)));
  CHECK(std::isnan(ferry_atan2(1, nan)));
}

}  // namespace
}  // namespace ferry::static_libc
