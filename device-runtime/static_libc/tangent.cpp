// Keeps 9 KB of glibc out of the static rpc_server: s_tan.o with a table of 6 KB. Kernels call this function for
// scalars of double precision.
#include <bit>
#include <cmath>
#include <cstdint>

namespace {

// pi/2 in parts of which all but the last have so few bits that their products with numbers of 27 bits are exact.
constexpr double kParts[] = {0x1.921fb58p+0, -0x1.dde973cp-27, -0x1.cb3b398p-55, -0x1.d747f23e32ed7p-83};
// From here on a number may have more bits in quarters of a turn.
constexpr double kLarge = 0x1p26;

struct Reduced {
  double high, low;  // what `high` lacks; together at most pi/4
  bool is_odd;       // whether an odd number of right angles was subtracted
};

Reduced reduce(double x) {
  constexpr double kRounds = 0x1.8p52;
  const double turns = (x / 0x1.921fb54442d18p+0 + kRounds) - kRounds;
  const double rest = (x - turns * kParts[0]) - turns * kParts[1];
  const double third = turns * kParts[2], difference = rest - third, fourth = turns * kParts[3];
  const double high = difference - fourth;
  return {high, ((rest - difference) - third) + ((difference - high) - fourth),
          (static_cast<std::int64_t>(turns) & 1) != 0};
}

double without_low_word(double x) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~std::uint64_t{0xffffffff});
}

// The tangent of x + y for |x| <= pi/4, or -1 over it. Approximation and steps are those of Sun's fdlibm (k_tan.c,
// 1993).
double tangent(double x, double y, bool is_inverse) {
  constexpr double kOdd[] = {0x1.111111110fe7ap-3,  0x1.664f48406d637p-6,  0x1.d6d22c9560328p-9,
                             0x1.344d8f2f26501p-11, 0x1.47e88a03792a6p-14, -0x1.375cbdb605373p-16};
  constexpr double kEven[] = {0x1.ba1ba1bb341fep-5,  0x1.226e3e96e8493p-7,  0x1.7dbc8fee08315p-10,
                              0x1.026f71a8d1068p-12, 0x1.2b80f32f0a7e9p-14, 0x1.b2a7074bf7ad4p-16};
  constexpr double kFirst = 0x1.5555555555563p-2;
  constexpr double kHalfRightAngle = 0x1.921fb54442d18p-1, kHalfRightAngleLow = 0x1.1a62633145c07p-55;
  const bool is_large = std::abs(x) >= 0x1.59428p-1, is_negative = x < 0;
  if (is_large) {
    x = (kHalfRightAngle - std::abs(x)) + (kHalfRightAngleLow - (is_negative ? -y : y));
    y = 0;
  }
  const double z = x * x, w = z * z;
  double odd = kOdd[5], even = kEven[5];
  for (int i = 4; i >= 0; --i) {
    odd = kOdd[i] + w * odd;
    even = kEven[i] + w * even;
  }
  const double s = z * x, r = y + z * (s * (odd + z * even) + y) + kFirst * s, sum = x + r;
  if (is_large) {
    const double sign = is_inverse ? -1 : 1;
    return (is_negative ? -1 : 1) * (sign - 2 * (x - (sum * sum / (sum + sign) - r)));
  }
  if (!is_inverse) return sum;
  const double high = without_low_word(sum), low = r - (high - x), quotient = -1 / sum;
  const double t = without_low_word(quotient);
  return t + quotient * ((1 + t * high) + t * low);
}

}  // namespace

extern "C" double tan(double x) {
  // The compiler would call sincos() for both, which is another 7 KB.
  const volatile double again = x;
  if (!(std::abs(x) < kLarge)) return std::sin(x) / std::cos(again);
  if (std::abs(x) < 0x1p-27) return x;
  const Reduced angle = reduce(x);
  return tangent(angle.high, angle.low, angle.is_odd);
}
