#include "crosscompile/passes/lower_math/range_reduction.h"

#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/lower_math/coefficients.h"
#include "crosscompile/passes/lower_math/exponential_parts.h"

#include <limits>
#include <numbers>

namespace ferry::passes::math {
namespace {

using namespace ir;

// Returns the limit up to which the products with the parts of pi/2 are exact, and the parts suffice for the smallest
// rest that a float32 can have.
double limit(const Target& target) { return target.capabilities.fma ? 65536 : 12800; }

// Subtracts pi/2 in parts: W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980.
Angle reduce_small(Sequence& s, const Expr& angle) {
  const Expr rounder = s.f32(kRounder);
  const Expr shifted = s.let("shifted", s.fma(angle, s.f32(2 / std::numbers::pi), rounder));
  const Expr quarters = s.let("quarters", shifted - rounder);
  Expr rest = angle;
  const std::span<const double> parts = s.target().capabilities.fma ? std::span<const double>(kHalfPiFused) : kHalfPi;
  for (const double part : parts) rest = s.fma(quarters, s.f32(-part), rest);
  return {s.bits(shifted), s.let("rest", rest)};
}

// Returns the word at `first` + `offset` of kTwoOverPi with a word of zeros before it; first is below 5.
Expr word(const Sequence& s, const std::vector<Expr>& below, std::size_t offset) {
  const auto at = [&](std::size_t i) { return s.u32(i == 0 ? 0 : std::int64_t{kTwoOverPi[i - 1]}); };
  Expr chosen = at(4 + offset);
  for (std::size_t first = 4; first-- > 0;) chosen = select(below[first], at(first + offset), chosen);
  return chosen;
}

// M. Payne, R. Hanek, "Radian reduction for trigonometric functions", 1983: angle = m * 2^e with an integer m of 24
// bits. The bits of 2/pi above weight 2^(2-e) therefore only contribute whole turns, and the 96 bits from there on give
// the rest to 2^-62.
Angle reduce_large(Sequence& s, const Expr& angle) {
  const Expr bits = s.let("bits", Call::make(Type(DType::u32, s.lanes()), CallOp::bitcast, {angle}));
  // The first bit needed is 30 + e, counted from the word of zeros; the exponent field is e + 150.
  const Expr position = s.let("position", (bits >> s.u32(23)) - s.u32(120));
  const Expr first = s.let("first", position >> s.u32(5));
  const Expr shift = s.let("shift", position & s.u32(31));
  std::vector<Expr> below;
  for (std::int64_t i = 0; i < 4; ++i) below.push_back(s.let("below", first < s.u32(i + 1)));
  std::vector<Expr> words;
  for (std::size_t i = 0; i < 4; ++i) words.push_back(s.let("word", word(s, below, i)));
  const Expr back = s.let("back", s.u32(31) - shift);
  const auto window = [&](std::size_t i) {
    return cast(DType::u64, (words[i] << shift) | ((words[i + 1] >> s.u32(1)) >> back));
  };
  const Expr m = s.let("m", cast(DType::u64, (bits & s.u32(0x7fffff)) | s.u32(0x800000)));
  // A fixed-point number of quarter turns, with two bits before the point; whole turns have wrapped away.
  const Expr high = (m * window(0)) << s.u64(32);
  const Expr product = s.let("product", high + m * window(1) + ((m * window(2)) >> s.u64(32)));
  const Expr rounded = s.let("rounded", (product + s.u64(std::int64_t{1} << 61)) >> s.u64(62));
  const Expr rest = s.let("rest", product - (rounded << s.u64(62)));
  // The upper 13 bits are separated, so that their products with the first part of pi/2 are exact.
  const Expr upper = s.let("upper", cast(DType::i32, rest >> s.u64(32)));
  const Expr lower = cast(DType::f32, cast(DType::i32, (rest & s.u64(0xffffffff)) >> s.u64(1)));
  const Expr leading = s.let("leading", (upper + s.i32(0x8000)) & s.i32(-0x10000));
  const Expr large = s.let("large", cast(DType::f32, leading) * s.f32(0x1p-30));
  const Expr small = cast(DType::f32, upper - leading) * s.f32(0x1p-30) + lower * s.f32(0x1p-61);
  const Expr rough = s.fma(large, s.f32(std::numbers::pi / 2 - kHalfPi[0]), small * s.f32(std::numbers::pi / 2));
  const Expr radians = s.fma(large, s.f32(kHalfPi[0]), rough);
  const Expr is_finite = angle < s.f32(std::numeric_limits<double>::infinity());
  return {cast(DType::i32, rounded), select(is_finite, radians, s.f32(std::numeric_limits<double>::quiet_NaN()))};
}

}  // namespace

Expr with_reduced(Sequence& s, const Expr& angle, const std::function<Expr(Sequence& s, const Angle& reduced)>& body) {
  const Expr is_large = s.let("is_large", angle > s.f32(limit(s.target())));
  const Expr any_large = s.lanes() == 1 ? is_large : VectorReduce::make(ReduceOp::any, is_large);
  Sequence usual(s.target(), s.lanes()), rare(s.target(), s.lanes());
  const Expr usually = usual.finish(body(usual, reduce_small(usual, angle)));
  const Angle small = reduce_small(rare, angle);
  const Angle large = reduce_large(rare, angle);
  const Angle chosen{rare.let("quarters", select(is_large, large.quarters, small.quarters)),
                     rare.let("rest", select(is_large, large.rest, small.rest))};
  const Expr rarely = rare.finish(body(rare, chosen));
  return IfThenElse::make(Broadcast::make(any_large, s.lanes()), rarely, usually);
}

}  // namespace ferry::passes::math
