#include "host/graph/packed_type.h"

#include <string>

namespace ferry::graph {

TensorType packed_matmul_type(const NodeCheck& check, std::span<const TensorType> inputs) {
  const auto& packed = check.attributes<PackedMatmulAttributes>();
  const std::int64_t bits = packed.bits, block = packed.block;
  const DType word = inputs[1].dtype;
  constexpr std::int64_t kBytes = 4;
  const std::int64_t word_bits = packed.has_int8_rows ? kBytes * 8 : static_cast<std::int64_t>(dtype_bytes(word)) * 8;
  check.expect(word == DType::u8 || word == DType::u32, "weights in words of uint8 or uint32",
               [&] { return dtype_name(word); });
  check.expect((bits == 2 || bits == 4 || bits == 8) && block > 0 && block * bits % word_bits == 0,
               "weights of 2, 4 or 8 bits, in blocks of whole words",
               [&] { return std::to_string(bits) + " bits in blocks of " + std::to_string(block); });
  const Shape &x = inputs[0].shape, &w = inputs[1].shape, &scales = inputs[2].shape;
  check.rank("the rows", x, 2);
  check.rank("the packed weights", w, packed.has_int8_rows ? 4 : 3);
  check.rank("the scales", scales, 3);
  check.expect(inputs[0].dtype == DType::f32 && inputs[2].dtype == DType::f32, "rows and scales of float32",
               [&] { return "others"; });
  if (packed.has_int8_rows) {
    check.expect(word == DType::u8 && w[3].constant() == kBytes, "words of four bytes",
                 [&] { return to_text(inputs[1]); });
    check.expect(packed.number == DType::u8 || (packed.number == DType::i8 && bits < 8),
                 "numbers of uint8, or of int8 and few bits", [&] { return dtype_name(packed.number); });
  }
  check.equal("the depth of the rows", x[1], "that of the scales", scales[1] * block);
  check.equal("the words of a column", w[1] * (word_bits / bits), "those of its blocks", scales[1] * block);
  for (const std::size_t d : {0U, 2U})
    check.equal("the columns of the weights", w[d], "those of the scales", scales[d]);
  if (inputs.size() > 3)
    check.expect(inputs[3].shape == scales && (inputs[3].dtype == DType::u8 || inputs[3].dtype == DType::f32),
                 "zero points of uint8 or float32 of the shape of the scales", [&] { return to_text(inputs[3]); });
  return {DType::f32, {x[0], w[0], w[2]}};
}

}  // namespace ferry::graph
