// Products with weights of few bits, which stay packed in memory.
#include "host/graph/kernels/families.h"
#include "host/lang/library.h"

namespace ferry::graph {

using lang::Expr;

// The sum is one over blocks, bytes and the weights in a byte, which is loaded once for all of them. A scale is the
// same for all of a block. Neighbouring columns are contiguous.
lang::Tensor packed_product(const PackedMatmulAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const lang::Tensor &x = inputs[0], &w = inputs[1], &scales = inputs[2];
  const std::int64_t bits = attributes.bits, in_byte = 8 / bits, bytes = attributes.block / in_byte;
  const bool has_zeros = inputs.size() > 3;
  const lang::ReduceAxis block = lang::reduce_axis(scales.shape()[1], "b"), byte = lang::reduce_axis(bytes, "k");
  const lang::ReduceAxis entry = lang::reduce_axis(in_byte, "e");
  return lang::library::compute(
      {x.shape()[0], w.shape()[0], w.shape()[2]},
      [&](const std::vector<Expr>& i) {
        const Expr place = block * Expr(bytes) + byte, scale = scales(i[1], block, i[2]);
        const Expr zero = has_zeros ? ir::cast(DType::f32, inputs[3](i[1], block, i[2]))
                                    : ir::constant(DType::f32, static_cast<double>(1 << (bits - 1)));
        const auto term = [&](const Expr& weight, const Expr& k) {
          return x(i[0], k) * (ir::cast(DType::f32, weight) * scale - zero * scale);
        };
        const Expr packed = w(i[1], place, i[2]);
        if (in_byte == 1) return lang::sum(term(packed, place), {block, byte});
        const Expr mask = ir::constant(DType::u8, std::int64_t{(1 << bits) - 1});
        const Expr weight = (packed >> ir::cast(DType::u8, entry * Expr(bits))) & mask;
        return lang::sum(term(weight, place * Expr(in_byte) + entry), {block, byte, entry});
      },
      name);
}

}  // namespace ferry::graph
