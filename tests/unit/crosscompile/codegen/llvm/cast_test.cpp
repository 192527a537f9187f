// Tests conversions between all types on edge values of both.
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

constexpr DType kAll[] = {DType::f16, DType::bf16, DType::f32, DType::f64, DType::i8,  DType::i16,    DType::i32,
                          DType::i64, DType::u8,   DType::u16, DType::u32, DType::u64, DType::boolean};

bool is_narrow(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

std::vector<Case> casts(bool narrow) {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 8u, 3u}) {
    for (const DType from : kAll) {
      for (const DType to : kAll) {
        if ((is_narrow(from) || is_narrow(to)) != narrow) continue;
        const std::string name = std::string(dtype_name(from)) + "_" + dtype_name(to);
        cases.push_back(elementwise(name, {from}, to, {edge_bytes(from, 96)}, 96, lanes,
                                    [to](const std::vector<Expr>& in) { return Cast::make(to, in[0]); }));
        cases.back().vector_float_to_int = lanes > 1 && is_float(from) && !is_float(to) && to != DType::boolean;
      }
    }
  }
  return cases;
}

}  // namespace

TEST_CASE("casts between all types saturate, wrap and round as the interpreter does") {
  check_everywhere(casts(false));
}

TEST_CASE("casts from and to narrow floats do so after the passes that spell them out") {
  check_everywhere(casts(true), true);
}

TEST_CASE("numbers of a few bits of a word are converted without its other bits") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 8u, 16u, 48u, 3u})
    for (const DType word : {DType::u32, DType::i32, DType::u8})
      for (const std::int64_t mask : {15, 3, 10, 31})
        cases.push_back(elementwise(std::string(dtype_name(word)) + "_of_" + std::to_string(mask), {word}, DType::f32,
                                    {edge_bytes(word, 96)}, 96, lanes, [&](const std::vector<Expr>& in) {
                                      return Cast::make(DType::f32, Binary::make(BinaryOp::bit_and, in[0],
                                                                                 constant(in[0].type(), mask)));
                                    }));
  check_everywhere(cases);
}

TEST_CASE("64-bit integers beside the middle of two float32 are rounded once") {
  std::vector<std::int64_t> near;
  for (int exponent = 25; exponent < 64; ++exponent) {
    const std::uint64_t power = std::uint64_t{1} << exponent, half = power >> 24;
    for (const std::uint64_t middle : {power + half, power + 3 * half}) {
      for (const std::uint64_t off : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}}) {
        near.push_back(static_cast<std::int64_t>(middle + off));
        near.push_back(static_cast<std::int64_t>(0 - (middle + off)));
      }
    }
  }
  while (near.size() % 24 != 0) near.push_back(static_cast<std::int64_t>(near.size()));
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 8u, 3u}) {
    for (const DType from : {DType::i64, DType::u64}) {
      cases.push_back(elementwise(std::string(dtype_name(from)) + "_middle", {from}, DType::f32, {bytes_of(near)},
                                  static_cast<std::int64_t>(near.size()), lanes,
                                  [](const std::vector<Expr>& in) { return Cast::make(DType::f32, in[0]); }));
    }
  }
  check_everywhere(cases);
}

TEST_CASE("arithmetic in narrow floats rounds each operation as the interpreter does") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 8u, 3u}) {
    for (const DType dtype : {DType::f16, DType::bf16}) {
      const Pairs pairs = edge_pairs(dtype, lanes);
      for (const BinaryOp op : {BinaryOp::add, BinaryOp::sub, BinaryOp::mul, BinaryOp::div, BinaryOp::min,
                                BinaryOp::max, BinaryOp::eq, BinaryOp::ne, BinaryOp::lt, BinaryOp::le}) {
        const DType result = is_comparison(op) ? DType::boolean : dtype;
        cases.push_back(elementwise("narrow", {dtype, dtype}, result, {pairs.left, pairs.right}, pairs.count, lanes,
                                    [op](const std::vector<Expr>& in) { return Binary::make(op, in[0], in[1]); }));
        cases.back().any_zero = op == BinaryOp::min || op == BinaryOp::max;
      }
    }
  }
  check_everywhere(cases, true);
}
