#include "crosscompile/codegen/llvm/plan/runtime_text.h"

namespace ferry::codegen {
namespace {

// The remainder of magnitudes is that of integers: both are whole multiples of the unit of the smaller one's last
// place. Long division shifts the remainder by one bit at a time, from the exponent of |x| down to that of |y|.
constexpr const char* kFmod = R"(
define double @fmod(double %x, double %y) nounwind {
entry:
  %xi = bitcast double %x to i64
  %yi = bitcast double %y to i64
  %sign = and i64 %xi, -9223372036854775808
  %a = and i64 %xi, 9223372036854775807
  %b = and i64 %yi, 9223372036854775807
  %a.special = icmp uge i64 %a, 9218868437227405312
  %b.nan = icmp ugt i64 %b, 9218868437227405312
  %b.zero = icmp eq i64 %b, 0
  %either = or i1 %a.special, %b.nan
  %invalid = or i1 %either, %b.zero
  br i1 %invalid, label %nan, label %valid
nan:
  ret double 0x7FF8000000000000
valid:
  %smaller = icmp ult i64 %a, %b
  br i1 %smaller, label %same, label %divide
same:
  ret double %x
divide:
  %a.field = lshr i64 %a, 52
  %a.normal = icmp ne i64 %a.field, 0
  %a.exponent = select i1 %a.normal, i64 %a.field, i64 1
  %a.fraction = and i64 %a, 4503599627370495
  %a.one = or i64 %a.fraction, 4503599627370496
  %a.whole = select i1 %a.normal, i64 %a.one, i64 %a.fraction
  %b.field = lshr i64 %b, 52
  %b.normal = icmp ne i64 %b.field, 0
  %b.exponent = select i1 %b.normal, i64 %b.field, i64 1
  %b.fraction = and i64 %b, 4503599627370495
  %b.one = or i64 %b.fraction, 4503599627370496
  %b.whole = select i1 %b.normal, i64 %b.one, i64 %b.fraction
  %first = urem i64 %a.whole, %b.whole
  br label %step
step:
  %rest = phi i64 [ %first, %divide ], [ %reduced, %shift ]
  %exponent = phi i64 [ %a.exponent, %divide ], [ %lower, %shift ]
  %more = icmp ugt i64 %exponent, %b.exponent
  br i1 %more, label %shift, label %finish
shift:
  %lower = sub i64 %exponent, 1
  %doubled = shl i64 %rest, 1
  %fits = icmp uge i64 %doubled, %b.whole
  %difference = sub i64 %doubled, %b.whole
  %reduced = select i1 %fits, i64 %difference, i64 %doubled
  br label %step
finish:
  ; Shifts the leading bit to its place, or as far as the exponents of subnormal numbers allow.
  %zeros = call i64 @llvm.ctlz.i64(i64 %rest, i1 false)
  %wanted = sub i64 %zeros, 11
  %possible = sub i64 %exponent, 1
  %is.possible = icmp ult i64 %wanted, %possible
  %places = select i1 %is.possible, i64 %wanted, i64 %possible
  %is.zero = icmp eq i64 %rest, 0
  %used = select i1 %is.zero, i64 0, i64 %places
  %shifted = shl i64 %rest, %used
  %left = sub i64 %possible, %used
  %field = select i1 %is.zero, i64 0, i64 %left
  %field.bits = shl i64 %field, 52
  %magnitude = add i64 %shifted, %field.bits
  %bits = or i64 %magnitude, %sign
  %result = bitcast i64 %bits to double
  ret double %result
}

declare i64 @llvm.ctlz.i64(i64, i1)
)";

// The remainder of two float32 is one.
constexpr const char* kFmodf = R"(
define float @fmodf(float %x, float %y) nounwind {
  %wide.x = fpext float %x to double
  %wide.y = fpext float %y to double
  %wide = call double @fmod(double %wide.x, double %wide.y)
  %result = fptrunc double %wide to float
  ret float %result
}

declare double @fmod(double, double)
)";

// The product of two float32 is exact in float64. The sum is rounded to odd: the second rounding, to float32, is then
// that of the exact sum (Boldo and Melquiond 2008, "Emulation of FMA and correctly rounded sums").
constexpr const char* kFmaf = R"(
define float @fmaf(float %x, float %y, float %z) nounwind {
  %wide.x = fpext float %x to double
  %wide.y = fpext float %y to double
  %c = fpext float %z to double
  %product = fmul double %wide.x, %wide.y
  %sum = fadd double %product, %c
  ; What the sum lacks, exactly (Knuth's TwoSum).
  %of.c = fsub double %sum, %product
  %of.product = fsub double %sum, %of.c
  %lost.c = fsub double %c, %of.c
  %lost.product = fsub double %product, %of.product
  %lost = fadd double %lost.product, %lost.c
  %is.inexact = fcmp one double %lost, 0.0
  %bits = bitcast double %sum to i64
  %last = and i64 %bits, 1
  %is.even = icmp eq i64 %last, 0
  %moves = and i1 %is.inexact, %is.even
  %lost.up = fcmp ogt double %lost, 0.0
  %is.positive = fcmp ogt double %sum, 0.0
  %away = icmp eq i1 %lost.up, %is.positive
  %step = select i1 %away, i64 1, i64 -1
  %moved = add i64 %bits, %step
  %odd.bits = select i1 %moves, i64 %moved, i64 %bits
  %odd = bitcast i64 %odd.bits to double
  %result = fptrunc double %odd to float
  ret float %result
}
)";

}  // namespace

const std::vector<MathText>& math_texts() {
  static const std::vector<MathText> texts{{"fmod", kFmod}, {"fmodf", kFmodf}, {"fmaf", kFmaf}};
  return texts;
}

}  // namespace ferry::codegen
