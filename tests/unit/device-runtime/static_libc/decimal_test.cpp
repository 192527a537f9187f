#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <random>
#include <string>

#include "device-runtime/static_libc/decimal.h"

namespace ferry::static_libc {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::string printed(const std::string& pattern, double value) {
  char text[1000];
  const int length = std::snprintf(text, sizeof text, pattern.c_str(), value);
  return {text, static_cast<std::size_t>(length)};
}

// Compares every conversion and many precisions with the host's printf.
void check_against_printf(double value) {
  for (const char conversion : {'e', 'f', 'g', 'E', 'F', 'G'}) {
    for (const int precision : {-1, 0, 1, 2, 3, 6, 15, 17, 40, kMaxPrecision}) {
      char text[kMaxDecimal];
      const std::size_t length = write_decimal(std::fabs(value), conversion, precision, text);
      const std::string pattern =
          precision < 0 ? std::string("%") + conversion : "%." + std::to_string(precision) + conversion;
      const std::string expected = printed(pattern, std::fabs(value));
      REQUIRE_MESSAGE(std::string(text, length) == expected, pattern);
    }
  }
}

}  // namespace

TEST_CASE("numbers at the limits and at ties are rounded as printf rounds them") {
  for (const double value : {0.0,
                             1.0,
                             0.05,
                             0.15,
                             0.25,
                             0.35,
                             0.5,
                             0.6,
                             0.06,
                             0.006,
                             1.5,
                             2.5,
                             9.5,
                             9.95,
                             99.95,
                             999999.5,
                             1e5,
                             1e6,
                             1e9,
                             999999999.0,
                             1e15,
                             1e16,
                             1e18,
                             1e22,
                             1e23,
                             1e-4,
                             9.99999999e-5,
                             std::numeric_limits<double>::denorm_min(),
                             std::numeric_limits<double>::min(),
                             std::numeric_limits<double>::max(),
                             kInfinity,
                             std::nan("")}) {
    check_against_printf(value);
  }
}

TEST_CASE("random numbers of every magnitude are written as printf writes them") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    check_against_printf(std::bit_cast<double>(random()));
    check_against_printf(std::ldexp(static_cast<double>(random() % 100'000), -static_cast<int>(random() % 20)));
    check_against_printf(static_cast<double>(random() % 1'000'000) / 1000);
  }
}

TEST_CASE("a precision that no message needs is reduced, so the text always fits") {
  char text[kMaxDecimal];
  CHECK(write_decimal(std::numeric_limits<double>::max(), 'f', 1'000'000, text) == kMaxDecimal - 1);
  CHECK(write_decimal(0.5, 'e', std::numeric_limits<int>::max(), text) == kMaxPrecision + 6);
}

}  // namespace ferry::static_libc
