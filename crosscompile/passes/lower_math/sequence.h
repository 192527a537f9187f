// Writes straight-line arithmetic as nested lets, so that values that are used twice are computed once. All values have
// the number of lanes of the sequence; one sequence makes one expression.
#pragma once

#include "ferry/operators.h"
#include "ferry/target/target.h"

#include <span>
#include <utility>
#include <vector>

namespace ferry::passes::math {

class Sequence {
 public:
  Sequence(const Target& target, std::uint32_t lanes) : target_(target), lanes_(lanes) {}

  // Binds the value to a name and returns the variable.
  ir::Expr let(const char* name, const ir::Expr& value);
  // Returns the result inside all lets made before.
  ir::Expr finish(ir::Expr result) const;

  ir::Expr f32(double value) const { return number(DType::f32, value); }
  ir::Expr f64(double value) const { return number(DType::f64, value); }
  ir::Expr i32(std::int64_t value) const { return ir::constant(ir::Type(DType::i32, lanes_), value); }
  ir::Expr u32(std::int64_t value) const { return ir::constant(ir::Type(DType::u32, lanes_), value); }
  ir::Expr u64(std::int64_t value) const { return ir::constant(ir::Type(DType::u64, lanes_), value); }

  // Returns a * b + c, rounded once where that is an instruction, and otherwise in a form that code generation cannot
  // fuse.
  ir::Expr fma(const ir::Expr& a, const ir::Expr& b, const ir::Expr& c) const;
  // Returns c[0] + c[1] * x + c[2] * x^2 + ...
  ir::Expr polynomial(const ir::Expr& x, std::span<const double> coefficients) const;

  ir::Expr bits(const ir::Expr& value) const;       // the bits of an f32, as i32
  ir::Expr from_bits(const ir::Expr& value) const;  // the inverse of bits(), from i32 or u32
  ir::Expr magnitude(const ir::Expr& value) const { return ir::call_math(ir::MathFunction::abs, {value}); }
  // Returns `value` with the sign of `sign`. It must have no sign or that sign already.
  ir::Expr with_sign_of(const ir::Expr& sign, const ir::Expr& value) const;
  ir::Expr square_root(const ir::Expr& value) const { return ir::call_math(ir::MathFunction::sqrt, {value}); }

  const Target& target() const { return target_; }
  std::uint32_t lanes() const { return lanes_; }

 private:
  ir::Expr number(DType type, double value) const { return ir::constant(ir::Type(type, lanes_), value); }

  const Target& target_;
  std::uint32_t lanes_;
  std::vector<std::pair<ir::Expr, ir::Expr>> lets_;
};

}  // namespace ferry::passes::math
