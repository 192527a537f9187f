// Values of one expression at many points at once, and the operations on them, as the reference evaluator uses them.
// Every operation is as ferry/expr.h defines it; each value carries a bound on its rounding error.
#pragma once

#include "crosscompile/ir/expr.h"
#include "crosscompile/ir/math_eval.h"

#include <array>
#include <cstdint>
#include <string_view>

namespace ferry::lang {

inline constexpr std::size_t kLanes = 256;

struct Lanes {
  explicit Lanes(DType dtype) : type(dtype) {}

  DType type;
  // True when no value was ever rounded: all errors are 0.
  bool exact = true;
  // Operations that need no rounding add no error (RoundingBound::exact).
  bool notices_exact = false;
  std::array<double, kLanes> real{};           // floats
  std::array<std::int64_t, kLanes> integer{};  // everything else, as ir::IntImm::value
  std::array<double, kLanes> error{};

  bool is_float() const { return ferry::is_float(type); }
};

// Half an ulp relative to the value, and the absolute error near 0: half the smallest subnormal for float16; for
// float32 everything that a target which flushes subnormals may lose.
double unit_roundoff(DType type);
double smallest_error(DType type);
double smallest_normal(DType type);

// Where a value came of an overflow its error may be none: it is infinite then. To be called with RoundingBound::exact.
void make_errors_infinite(Lanes& out, std::size_t n);

// Each function works on the first n lanes. `out` must not be an operand. The caller sets its `exact` beforehand with
// the function below; errors are not computed where it is true.
bool stays_exact(ir::BinaryOp op, const Lanes& a, const Lanes& b);
void apply_binary(ir::BinaryOp op, const Lanes& a, const Lanes& b, Lanes& out, std::size_t n);
void apply_unary(ir::UnaryOp op, const Lanes& a, Lanes& out, std::size_t n);

bool cast_stays_exact(const Lanes& a, DType to);
void apply_cast(const Lanes& a, Lanes& out, std::size_t n);
void apply_choice(const Lanes& condition, const Lanes& on_true, const Lanes& on_false, Lanes& out, std::size_t n);
void apply_bitcast(const Lanes& a, Lanes& out, std::size_t n);

// b and c are null where there are fewer arguments.
void apply_math(ir::RealFunction function, const Lanes& a, const Lanes* b, const Lanes* c, Lanes& out, std::size_t n);
// Computes abs, popcount or clz.
void apply_integer_function(ir::MathFunction function, const Lanes& a, Lanes& out, std::size_t n);

// Extends positions in memory order by one dimension: position * extent + index. Returns a negative value when any
// index is out of bounds.
std::int64_t add_dimension(const Lanes& index, std::int64_t extent, std::uint64_t* positions, std::size_t n);

}  // namespace ferry::lang
