// Products with weights of few bits, which stay packed in memory.
#include "ferry/lang/math.h"
#include "host/graph/kernels/families.h"
#include "host/graph/kernels/quantizing.h"
#include "host/lang/library.h"

namespace ferry::graph {

using lang::Expr;
using lang::library::compute;

namespace {

// The inputs of a packed_matmul and the axes of its sum. The sum is one over blocks, words and the weights in a word,
// which is loaded once for all of them. Neighbouring columns are contiguous.
struct PackedProduct {
  const PackedMatmulAttributes& attributes;
  const Inputs& inputs;
  std::int64_t in_word = static_cast<std::int64_t>(dtype_bytes(inputs[1].dtype())) * 8 / attributes.bits;
  std::int64_t words = attributes.block / in_word;
  lang::ReduceAxis block = lang::reduce_axis(inputs[2].shape()[1], "b"), word = lang::reduce_axis(words, "k");
  lang::ReduceAxis entry = lang::reduce_axis(in_word, "e");

  // Return the number of a weight, and the element of a row by which it is multiplied.
  Expr number(const Expr& panel, const Expr& b, const Expr& column) const {
    const Expr packed = inputs[1](panel, place(b), column);
    if (in_word == 1) return ir::cast(DType::f32, packed);
    const DType type = inputs[1].dtype();
    const Expr mask = ir::constant(type, (std::int64_t{1} << attributes.bits) - 1);
    return ir::cast(DType::f32, (packed >> ir::cast(type, entry * Expr(attributes.bits))) & mask);
  }
  Expr factor(const Expr& row, const Expr& b) const {
    return inputs[0](row, in_word == 1 ? place(b) : place(b) * Expr(in_word) + entry);
  }
  Expr zero(const Expr& panel, const Expr& b, const Expr& column) const {
    if (inputs.size() > 3) return ir::cast(DType::f32, inputs[3](panel, b, column));
    return ir::constant(DType::f32, static_cast<double>(std::int64_t{1} << (attributes.bits - 1)));
  }
  Expr sum_in_block(const Expr& value) const {
    return in_word == 1 ? lang::sum(value, {word}) : lang::sum(value, {word, entry});
  }

 private:
  Expr place(const Expr& b) const { return b * Expr(words) + word; }
};

// Sums up blocks of products of rows and numbers, which take the place of their weights there: scaled sums of a block,
// and of its row's elements times the zero point, are added up then.
lang::Tensor sum_of_blocks(const PackedProduct& of, std::vector<Expr> shape, const std::string& name) {
  const Expr blocks = of.inputs[2].shape()[1];
  const lang::ReduceAxis element = lang::reduce_axis(of.attributes.block, "k");
  const lang::Tensor rows = compute(
      {shape[0], blocks},
      [&](const std::vector<Expr>& i) {
        return lang::sum(of.inputs[0](i[0], i[1] * Expr(of.attributes.block) + element), {element});
      },
      name + "_rows");
  const lang::Tensor products = compute(
      {shape[0], shape[1], blocks, shape[2]},
      [&](const std::vector<Expr>& i) { return of.sum_in_block(of.factor(i[0], i[2]) * of.number(i[1], i[2], i[3])); },
      name + "_blocks");
  return compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const Expr product =
            products(i[0], i[1], of.block, i[2]) - of.zero(i[1], of.block, i[2]) * rows(i[0], of.block);
        return lang::sum(of.inputs[2](i[1], of.block, i[2]) * product, {of.block});
      },
      name);
}

// Sums up blocks of products of numbers and of rows that are rounded to int8. Groups of four bytes of a column are
// contiguous, and so are the elements of rows by which they are multiplied.
lang::Tensor sum_of_int8_blocks(const PackedMatmulAttributes& attributes, const Inputs& inputs, std::vector<Expr> shape,
                                const std::string& name) {
  constexpr std::int64_t kMost = 127, kGroup = 4;
  // Blocks of smaller elements count as zeros, since the quotient might be infinite.
  constexpr double kLeast = 0x1p-100;
  const lang::Tensor &x = inputs[0], &w = inputs[1], &scales = inputs[2];
  const std::int64_t in_byte = 8 / attributes.bits, words = attributes.block / (in_byte * kGroup);
  const Expr blocks = scales.shape()[1];
  const auto number = [](double value) { return ir::constant(DType::f32, value); };
  const lang::Tensor largest = compute(
      {shape[0], blocks},
      [&](const std::vector<Expr>& i) {
        const lang::ReduceAxis element = lang::reduce_axis(attributes.block, "k");
        return lang::max_over(lang::abs(x(i[0], i[1] * Expr(attributes.block) + element)), {element});
      },
      name + "_largest");
  const lang::Tensor steps = compute(
      {shape[0], blocks},
      [&](const std::vector<Expr>& i) {
        const Expr most = largest(i[0], i[1]);
        return ir::select(most > number(kLeast), number(kMost) / most, number(0));
      },
      name + "_steps");
  const lang::Tensor rows = compute(
      {shape[0], blocks, words, in_byte, kGroup},
      [&](const std::vector<Expr>& i) {
        const Expr element = x(i[0], ((i[1] * Expr(words) + i[2]) * Expr(kGroup) + i[4]) * Expr(in_byte) + i[3]);
        return rounded_byte(DType::i8, element * steps(i[0], i[1]), {});
      },
      name + "_int8");
  const lang::Tensor sums = compute(
      {shape[0], blocks},
      [&](const std::vector<Expr>& i) {
        const lang::ReduceAxis word = lang::reduce_axis(words, "k"), entry = lang::reduce_axis(in_byte, "e"),
                               byte = lang::reduce_axis(kGroup, "g");
        return lang::sum(ir::cast(DType::i32, rows(i[0], i[1], word, entry, byte)), {word, entry, byte});
      },
      name + "_rows");
  const auto unpacked = [&] {
    return compute(
        {shape[1], blocks * Expr(words), in_byte, shape[2], kGroup},
        [&](const std::vector<Expr>& i) {
          const Expr mask = ir::constant(DType::u8, (std::int64_t{1} << attributes.bits) - 1);
          const Expr shifted = w(i[0], i[1], i[3], i[4]) >> ir::cast(DType::u8, i[2] * Expr(attributes.bits));
          return ir::cast(attributes.number, shifted & mask);
        },
        name + "_numbers");
  };
  const lang::Tensor numbers = in_byte == 1 ? w : unpacked();
  const lang::Tensor products = compute(
      {shape[0], shape[1], blocks, shape[2]},
      [&](const std::vector<Expr>& i) {
        const lang::ReduceAxis word = lang::reduce_axis(words, "k"), entry = lang::reduce_axis(in_byte, "e"),
                               byte = lang::reduce_axis(kGroup, "g");
        const auto wide = [](const Expr& factor) { return ir::cast(DType::i32, factor); };
        const Expr place = i[2] * Expr(words) + word;
        const Expr weight = in_byte == 1 ? numbers(i[1], place, i[3], byte) : numbers(i[1], place, entry, i[3], byte);
        return lang::sum(wide(weight) * wide(rows(i[0], i[2], word, entry, byte)), {word, entry, byte});
      },
      name + "_blocks");
  const lang::ReduceAxis block = lang::reduce_axis(blocks, "b");
  return compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const auto real = [](const Expr& integer) { return ir::cast(DType::f32, integer); };
        const Expr zero = inputs.size() > 3 ? real(inputs[3](i[1], block, i[2]))
                                            : number(static_cast<double>(std::int64_t{1} << (attributes.bits - 1)));
        const Expr step = largest(i[0], block) * number(1.0 / kMost);
        const Expr product = real(products(i[0], i[1], block, i[2])) - zero * real(sums(i[0], block));
        return lang::sum(scales(i[1], block, i[2]) * (step * product), {block});
      },
      name);
}

}  // namespace

lang::Tensor packed_product(const PackedMatmulAttributes& attributes, const Inputs& inputs, const std::string& name) {
  const PackedProduct of{attributes, inputs};
  const lang::Tensor& w = inputs[1];
  std::vector<Expr> shape = {inputs[0].shape()[0], w.shape()[0], w.shape()[2]};
  if (attributes.has_int8_rows) return sum_of_int8_blocks(attributes, inputs, std::move(shape), name);
  if (attributes.sums_blocks) return sum_of_blocks(of, std::move(shape), name);
  return compute(
      std::move(shape),
      [&](const std::vector<Expr>& i) {
        const Expr scale = inputs[2](i[1], of.block, i[2]);
        const Expr weight = of.number(i[1], of.block, i[2]) * scale - of.zero(i[1], of.block, i[2]) * scale;
        std::vector<lang::ReduceAxis> axes = {of.block, of.word};
        if (of.in_word > 1) axes.push_back(of.entry);
        return lang::sum(of.factor(i[0], of.block) * weight, axes);
      },
      name);
}

}  // namespace ferry::graph
