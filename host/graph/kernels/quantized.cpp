// Convolutions and products of 8-bit integers with scales.
#include "ferry/ops/elementwise.h"
#include "ferry/ops/integers.h"
#include "ferry/ops/matmul.h"
#include "host/graph/kernels/families.h"

namespace ferry::graph {
namespace {

using lang::Expr;

constexpr std::size_t kX = 0, kW = 1, kScale = 2, kFilterScales = 3, kZero = 4;  // inputs of the operators

Expr only_element(const lang::Tensor& tensor) { return tensor(std::vector<Expr>{}); }

// Returns X without its zero point, in 16 bits if that takes more than 8, so that padding is 0.
lang::Tensor centered(const Inputs& inputs) {
  const lang::Tensor& x = inputs[kX];
  if (inputs.size() <= kZero) return x;
  return ops::map(
      x, [&](const Expr& value) { return ir::cast(DType::i16, value) - only_element(inputs[kZero]); },
      x.name() + ".centered");
}

lang::Tensor dequantized(const Inputs& inputs) {
  return ops::map(
      inputs[kX],
      [&](const Expr& value) {
        const Expr real = ir::cast(DType::f32, value), scale = only_element(inputs[kScale]);
        return inputs.size() > kZero ? (real - ir::cast(DType::f32, only_element(inputs[kZero]))) * scale
                                     : real * scale;
      },
      inputs[kX].name() + ".dequantized");
}

// The scales are those of the filters along this dimension of the weights.
lang::Tensor dequantized_weights(const Inputs& inputs, std::size_t filters) {
  const lang::Tensor &w = inputs[kW], &scales = inputs[kFilterScales];
  return lang::compute(
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
  return attributes.in_integers
             ? ops::conv(centered(inputs), inputs[kW], windows, name, attributes.conv.groups, DType::i32)
             : ops::conv(dequantized(inputs), dequantized_weights(inputs, 0), windows, name, attributes.conv.groups);
}

lang::Tensor blocked_quantized_convolution(const QuantizedConvAttributes& attributes, const Inputs& inputs,
                                           std::int64_t lanes, const std::string& name) {
  const lang::Tensor &x = inputs[kX], &w = inputs[kW], &scales = inputs[kFilterScales];
  if (!attributes.in_integers) {
    Inputs flat = inputs;
    flat[kFilterScales] = lang::compute(
        {w.shape()[0]}, [&](const std::vector<Expr>& i) { return scales(0, i[0], 0, 0); }, scales.name() + ".filters");
    return blocked_convolution(attributes.conv, {dequantized(inputs), dequantized_weights(flat, 0)}, lanes, name);
  }
  const std::vector<ops::Window> windows = windows_of(attributes.conv);
  const Expr zero = inputs.size() > kZero ? only_element(inputs[kZero]) : ir::constant(DType::i16, std::int64_t{0});
  return x.rank() == 4 ? ops::integer_conv2d_to_blocked(x, w, zero, windows, lanes, attributes.group, name)
                       : ops::integer_conv2d_blocked(x, w, zero, windows, attributes.group, name);
}

lang::Tensor quantized_product(const QuantizedMatmulAttributes& attributes, const Inputs& inputs,
                               const std::string& name) {
  const ops::Transposed transposed{attributes.matmul.transposed_a, attributes.matmul.transposed_b};
  return attributes.in_integers
             ? ops::broadcast_matmul(centered(inputs), inputs[kW], name, transposed, DType::i32)
             : ops::broadcast_matmul(dequantized(inputs), dequantized_weights(inputs, transposed.b ? 0 : 1), name,
                                     transposed);
}

}  // namespace ferry::graph
