// Convolutions and products of 8-bit integers with scales.
#include "ferry/ops/elementwise.h"
#include "ferry/ops/integers.h"
#include "ferry/ops/matmul.h"
#include "host/graph/kernels/families.h"
#include "host/lang/library.h"

namespace ferry::graph {
namespace {

using lang::Expr;

constexpr std::size_t kX = 0, kW = 1, kScale = 2, kFilterScales = 3;  // inputs of the operators

Expr only_element(const lang::Tensor& tensor) { return tensor(std::vector<Expr>{}); }

Expr zero_point(const Inputs& inputs, bool is_scaled) {
  const std::size_t zero = zero_point_input(is_scaled);
  return inputs.size() > zero ? only_element(inputs[zero]) : ir::constant(DType::i16, std::int64_t{0});
}

// Returns X without its zero point, in 16 bits if that takes more than 8, so that padding is 0.
lang::Tensor centered(const Inputs& inputs, bool is_scaled) {
  const lang::Tensor& x = inputs[kX];
  if (inputs.size() <= zero_point_input(is_scaled)) return x;
  const Expr zero = zero_point(inputs, is_scaled);
  return ops::map(x, [&](const Expr& value) { return ir::cast(DType::i16, value) - zero; }, x.name() + ".centered");
}

lang::Tensor dequantized(const Inputs& inputs) {
  return ops::map(
      inputs[kX],
      [&](const Expr& value) {
        const Expr real = ir::cast(DType::f32, value), scale = only_element(inputs[kScale]);
        const bool has_zero = inputs.size() > zero_point_input(true);
        return has_zero ? (real - ir::cast(DType::f32, zero_point(inputs, true))) * scale : real * scale;
      },
      inputs[kX].name() + ".dequantized");
}

// The scales are those of the filters along this dimension of the weights.
lang::Tensor dequantized_weights(const Inputs& inputs, std::size_t filters) {
  const lang::Tensor &w = inputs[kW], &scales = inputs[kFilterScales];
  return lang::library::compute(
      w.shape(),
      [&](const std::vector<Expr>& i) {
        // Scales of channels have dimensions of size 1 after that of the channels.
        std::vector<Expr> at(scales.rank(), Expr(0));
        at.front() = i[filters];
        return ir::cast(DType::f32, w(i)) * scales(at);
      },
      w.name() + ".dequantized");
}

}  // namespace

lang::Tensor quantized_convolution(const QuantizedConvAttributes& attributes, const Inputs& inputs,
                                   const std::string& name) {
  const std::vector<ops::Window> windows = windows_of(attributes.conv);
  return attributes.in_integers || !attributes.is_scaled
             ? ops::conv(centered(inputs, attributes.is_scaled), inputs[kW], windows, name, attributes.conv.groups,
                         DType::i32)
             : ops::conv(dequantized(inputs), dequantized_weights(inputs, 0), windows, name, attributes.conv.groups);
}

lang::Tensor blocked_quantized_convolution(const QuantizedConvAttributes& attributes, const Inputs& inputs,
                                           std::int64_t lanes, const std::string& name) {
  const lang::Tensor &x = inputs[kX], &w = inputs[kW];
  if (!attributes.in_integers && attributes.is_scaled) {
    const lang::Tensor& scales = inputs[kFilterScales];
    Inputs flat = inputs;
    flat[kFilterScales] = lang::library::compute(
        {w.shape()[0]}, [&](const std::vector<Expr>& i) { return scales(0, i[0], 0, 0); }, scales.name() + ".filters");
    return blocked_convolution(attributes.conv, {dequantized(inputs), dequantized_weights(flat, 0)}, lanes, name);
  }
  const std::vector<ops::Window> windows = windows_of(attributes.conv);
  const Expr zero = zero_point(inputs, attributes.is_scaled);
  // Other groups than those of one channel are not computed in blocks.
  if (attributes.conv.groups > 1)
    return ops::integer_depthwise_conv2d_blocked(x, w, zero, windows, attributes.products, name);
  return x.rank() == 4 ? ops::integer_conv2d_to_blocked(x, w, zero, windows, lanes, attributes.products, name)
                       : ops::integer_conv2d_blocked(x, w, zero, windows, attributes.products, name);
}

lang::Tensor quantized_product(const QuantizedMatmulAttributes& attributes, const Inputs& inputs,
                               const std::string& name) {
  const ops::Transposed transposed{attributes.matmul.transposed_a, attributes.matmul.transposed_b};
  if (!attributes.in_integers && attributes.is_scaled)
    return ops::broadcast_matmul(dequantized(inputs), dequantized_weights(inputs, transposed.b ? 0 : 1), name,
                                 transposed);
  if (attributes.lanes > 1)
    return ops::integer_matmul(inputs[kX], inputs[kW], zero_point(inputs, attributes.is_scaled), transposed.b,
                               attributes.lanes, attributes.products, name);
  return ops::broadcast_matmul(centered(inputs, attributes.is_scaled), inputs[kW], name, transposed, DType::i32);
}

}  // namespace ferry::graph
