#include "host/ops/integer_factors.h"

#include "crosscompile/ir/error.h"
#include "ferry/ops/elementwise.h"
#include "ferry/ops/shapes.h"
#include "host/lang/library.h"
#include "host/ops/checks.h"

namespace ferry::ops {

Expr as_int32(const Expr& value) { return ir::cast(DType::i32, value); }

Expr factor_of(const Expr& weight, const IntegerProducts& products) {
  if (products.factors == IntegerFactors::int16) return ir::cast(DType::i16, weight);
  const Expr byte = ir::cast(DType::i8, weight);
  return products.weights_above_minimum ? ir::max(byte, ir::constant(DType::i8, std::int64_t{-127})) : byte;
}

Factors factors_of(const Tensor& x, const Expr& zero_point, IntegerFactors factors, const std::string& name) {
  constexpr std::int64_t kFlip = 128;
  const auto int16 = [](std::int64_t value) { return ir::constant(DType::i16, value); };
  const Expr zero = ir::cast(DType::i16, zero_point);
  switch (factors) {
    case IntegerFactors::bytes: break;
    case IntegerFactors::flipped: {
      const bool is_signed = x.dtype() == DType::i8;
      const DType other = is_signed ? DType::u8 : DType::i8;
      const Expr moved_by = int16(is_signed ? kFlip : -kFlip);
      const auto flip = [&](const Expr& value) { return ir::cast(other, ir::cast(DType::i16, value) + moved_by); };
      return {map(x, flip, name + ".flipped"), zero + moved_by};
    }
    case IntegerFactors::int16:
      return {
          map(x, [&](const Expr& value) { return ir::cast(DType::i16, value) - zero; }, name + ".centered"), int16(0)};
  }
  return {x, zero};
}

Tensor padded_with(const Tensor& image, const std::vector<Window>& windows, const Expr& zero, const std::string& name) {
  if (!windows[0].is_padded() && !windows[1].is_padded()) return image;
  return pad(image, {0, 0, windows[0].padding, windows[1].padding, 0},
             {0, 0, windows[0].after(), windows[1].after(), 0}, name + ".pad", zero);
}

Tensor without_offsets(const Tensor& products, const Tensor& totals, const Expr& zero, const std::string& name) {
  const Tensor offsets = lang::library::compute(
      totals.shape(), [&](const std::vector<Expr>& i) { return totals(i) * as_int32(zero); }, name + ".offsets");
  return lang::library::compute(
      products.shape(), [&](const std::vector<Expr>& i) { return products(i) - offsets(i[1], i[4]); }, name);
}

void expect_integer_types(const Tensor& x, const Tensor& weights, const IntegerProducts& products,
                          const std::string& name) {
  const bool takes_int16 = products.factors == IntegerFactors::int16;
  if ((x.dtype() != DType::u8 && x.dtype() != DType::i8) ||
      (weights.dtype() != DType::i8 && !(takes_int16 && weights.dtype() == DType::i16)))
    throw CompileError("'" + name + "': expected '" + x.name() + "' of uint8 or int8 and weights of int8" +
                       (takes_int16 ? " or int16" : "") + ", got " + dtype_name(x.dtype()) + " and " +
                       dtype_name(weights.dtype()));
}

std::int64_t channels_in_block(const Tensor& x, const std::string& name) {
  expect_rank(x, 5, name);
  const std::int64_t* lanes = ir::as_int(x.shape()[4]);
  if (lanes == nullptr || *lanes < 1)
    throw CompileError("'" + name + "': expected a constant number of channels in a block of '" + x.name() + "', got " +
                       shape_text(x));
  return *lanes;
}

}  // namespace ferry::ops
