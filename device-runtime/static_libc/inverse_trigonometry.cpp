// Keeps 57 KB of glibc out of the static rpc_server: s_atan.o and e_atan2.o with a table of 13 KB each, and e_asin.o
// with one of 20 KB. Kernels call these functions for scalars of double precision.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace {

struct Angle {
  double high;
  double low;  // what `high` lacks
};

constexpr double kParts = 16;

// The arctangents of 0/16 to 16/16.
constexpr Angle kAngles[] = {
    {0x0.0p+0, 0x0.0p+0},
    {0x1.ff55bb72cfdeap-5, -0x1.c934d86d23f1dp-60},
    {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
    {0x1.7b97b4bce5b02p-3, 0x1.347b0b4f881cap-58},
    {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
    {0x1.362773707ebccp-2, -0x1.963a544b672d8p-57},
    {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
    {0x1.a64eec3cc23fdp-2, -0x1.24dec1b50b7ffp-56},
    {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
    {0x1.0657e94db30d0p-1, -0x1.d5b495f6349e6p-56},
    {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
    {0x1.345f01cce37bbp-1, 0x1.1021137c71102p-55},
    {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
    {0x1.5d58987169b18p-1, 0x1.0028e4bc5e7cap-57},
    {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
    {0x1.819d0b7158a4dp-1, -0x1.bf76229d3b917p-56},
    {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55},
};
constexpr Angle kRightAngle = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};

// atan(u) - u for |u| <= 1/16, by Taylor's series; the first term left out is 2^-60 of u.
double after_first_term(double u) {
  const double z = u * u;
  const double sum = ((((1.0 / 13 * z - 1.0 / 11) * z + 1.0 / 9) * z - 1.0 / 7) * z + 1.0 / 5) * z - 1.0 / 3;
  return u * z * sum;
}

// Returns pi/2 - angle. Their difference is rounded once, and what the rounding took is added to `low`.
Angle minus_from_right_angle(Angle angle) {
  const double high = kRightAngle.high - angle.high;
  return {high, (kRightAngle.high - high - angle.high) + (kRightAngle.low - angle.low)};
}

// Likewise with pi.
Angle minus_from_straight_angle(Angle angle) {
  const double high = 2 * kRightAngle.high - angle.high;
  return {high, (2 * kRightAngle.high - high - angle.high) + (2 * kRightAngle.low - angle.low)};
}

// Without its last bits; products with numbers of as many bits are exact.
double without_low_bits(double x, int bits) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & ~((std::uint64_t{1} << bits) - 1));
}

// The product and what its rounding took (Dekker 1971).
Angle exact_product(double a, double b) {
  const double a1 = without_low_bits(a, 27), b1 = without_low_bits(b, 27), a2 = a - a1, b2 = b - b1;
  const double product = a * b;
  return {product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2};
}

// The square root of 1 - x^2, for 0 <= x <= 1.
Angle other_leg(double x) {
  const Angle square = exact_product(x, x);
  const double high = 1 - square.high, low = (1 - high - square.high) - square.low;
  if (high <= 0) return {0, 0};
  const double root = std::sqrt(high);
  const Angle check = exact_product(root, root);
  return {root, ((high - check.high) - check.low + low) / (2 * root)};
}

// The angle with the tangent a/b, 0 <= a <= b, b > 0: the sum of the two.
Angle angle_of(Angle a, Angle b) {
  const double ratio = a.high / b.high;
  const auto k = ratio < 1 / kParts ? std::size_t{0} : static_cast<std::size_t>(ratio * kParts + 0.5);
  const double c = static_cast<double>(k) / kParts;
  const double upper = without_low_bits(b.high, 6);
  const double u = ((a.high - c * upper) - c * (b.high - upper) + (a.low - c * b.low)) / (b.high + c * a.high);
  return {kAngles[k].high, u + (kAngles[k].low + after_first_term(u))};
}

// The arcsine of 0 <= x <= 1.
Angle arcsine(double x) {
  const Angle leg = other_leg(x);
  return x <= leg.high ? angle_of({x, 0}, leg) : minus_from_right_angle(angle_of(leg, {x, 0}));
}

// Below this number, arcsines are summed up as a series.
constexpr double kSmallSine = 0.125;

// asin(x) - x for 0 <= x < kSmallSine, by Taylor's series; the first term left out is 2^-60 of x.
double after_first_term_of_arcsine(double x) {
  constexpr double kTerms[] = {12155.0 / 1245184, 6435.0 / 557056, 143.0 / 10240, 231.0 / 13312, 63.0 / 2816,
                               35.0 / 1152,       5.0 / 112,       3.0 / 40,      1.0 / 6};
  const double z = x * x;
  double sum = 0;
  for (const double term : kTerms) sum = sum * z + term;
  return x * z * sum;
}

}  // namespace

extern "C" {

// Legs x and sqrt(1 - x^2) of a triangle whose longest side is 1 include the angle asin(x).
double asin(double x) noexcept {
  const double magnitude = std::abs(x);
  if (!(magnitude <= 1)) return (x - x) / (x - x);
  if (magnitude < kSmallSine) return x + std::copysign(after_first_term_of_arcsine(magnitude), x);
  const Angle angle = arcsine(magnitude);
  return std::copysign(angle.high + angle.low, x);
}

double acos(double x) noexcept {
  const double magnitude = std::abs(x);
  if (!(magnitude <= 1)) return (x - x) / (x - x);
  const Angle leg = other_leg(magnitude);
  // The angle beside x.
  Angle angle{leg.high, leg.low + after_first_term_of_arcsine(leg.high)};
  if (leg.high >= kSmallSine) {
    angle =
        magnitude > leg.high ? angle_of(leg, {magnitude, 0}) : minus_from_right_angle(angle_of({magnitude, 0}, leg));
  }
  if (x < 0) angle = minus_from_straight_angle(angle);
  return angle.high + angle.low;
}

// With c = k/16 near x, atan(x) = atan(c) + atan((x - c) / (1 + c x)); with c near 1/x, it is pi/2 - atan(c) -
// atan((1 - c x) / (x + c)). Below 1/16, c is 0, which keeps the relative error of small results small.
double atan(double x) noexcept {
  if (std::isnan(x)) return x + x;
  // From 2^60 on, the result is pi/2.
  const double magnitude = std::min(std::abs(x), 0x1p60);
  const bool is_large = magnitude > 1;
  const double ratio = is_large ? 1 / magnitude : magnitude;
  const auto k = ratio < 1 / kParts ? std::size_t{0} : static_cast<std::size_t>(ratio * kParts + 0.5);
  const double c = static_cast<double>(k) / kParts;
  Angle base = kAngles[k];
  double u = magnitude;
  if (is_large) {
    base = minus_from_right_angle(base);
    // Without its last 6 bits, the product with c, which has 5, is exact, and so is the difference.
    const auto upper = std::bit_cast<double>(std::bit_cast<std::uint64_t>(magnitude) & ~std::uint64_t{63});
    u = ((c * upper - 1) + c * (magnitude - upper)) / (magnitude + c);
  } else if (k != 0) {
    u = (magnitude - c) / (1 + c * magnitude);
  }
  return std::copysign(base.high + (u + (base.low + after_first_term(u))), x);
}

// The angle between the vector (x, y) and the first axis. That of the vector with both legs positive and the longer one
// on the first axis is at most pi/4; the others mirror it.
double atan2(double y, double x) noexcept {
  if (std::isnan(x) || std::isnan(y)) return x + y;
  double shorter = std::min(std::abs(x), std::abs(y)), longer = std::max(std::abs(x), std::abs(y));
  Angle angle = kAngles[0];
  if (std::isinf(longer)) {
    if (std::isinf(shorter)) angle = kAngles[16];
  } else if (longer > 0) {
    // Products of the legs must neither overflow nor lose digits.
    const double scale = longer > 0x1p+1000 ? 0x1p-100 : longer < 0x1p-900 ? 0x1p+100 : 1;
    shorter *= scale;
    longer *= scale;
    angle = angle_of({shorter, 0}, {longer, 0});
  }
  if (std::abs(y) > std::abs(x)) angle = minus_from_right_angle(angle);
  if (std::signbit(x)) angle = minus_from_straight_angle(angle);
  return std::copysign(angle.high + angle.low, y);
}

}  // extern "C"
