// Products with weights of few bits, which stay packed in memory.
#include "host/graph/kernels/families.h"
#include "host/lang/library.h"

namespace ferry::graph {

using lang::Expr;

// The sum is one over blocks and bytes, whose weights are terms of it, so that only a byte is loaded for several
// weights and a scale is the same for all of a block. Neighbouring columns are contiguous.
lang::Tensor packed_product(const PackedMatmulAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const lang::Tensor &x = inputs[0], &w = inputs[1], &scales = inputs[2];
  const std::int64_t bits = attributes.bits, in_byte = 8 / bits, bytes = attributes.block / in_byte;
  const bool has_zeros = inputs.size() > 3;
  const lang::ReduceAxis block = lang::reduce_axis(scales.shape()[1], "b"), byte = lang::reduce_axis(bytes, "k");
  return lang::library::compute(
      {x.shape()[0], w.shape()[0], w.shape()[2]},
      [&](const std::vector<Expr>& i) {
        const Expr place = block * Expr(bytes) + byte, packed = w(i[1], place, i[2]), scale = scales(i[1], block, i[2]);
        const Expr zero = has_zeros ? ir::cast(DType::f32, inputs[3](i[1], block, i[2]))
                                    : ir::constant(DType::f32, static_cast<double>(1 << (bits - 1)));
        Expr sum;
        for (std::int64_t entry = 0; entry < in_byte; ++entry) {
          const auto number = [](std::int64_t value) { return ir::constant(DType::u8, value); };
          Expr weight = entry == 0 ? packed : packed >> number(entry * bits);
          if (entry + 1 < in_byte) weight = weight & number((1 << bits) - 1);
          const Expr term =
              x(i[0], place * Expr(in_byte) + Expr(entry)) * (ir::cast(DType::f32, weight) * scale - zero * scale);
          sum = sum.defined() ? sum + term : term;
        }
        return lang::sum(sum, {block, byte});
      },
      name);
}

}  // namespace ferry::graph
