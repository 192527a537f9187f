// Tests every operation on every type, as scalars and as vectors, on all pairs of edge values.
#include "tests/unit/crosscompile/codegen/llvm/build_ir.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace ferry;
using namespace ferry::codegen_test;

namespace {

constexpr DType kNumbers[] = {DType::f32, DType::f64, DType::i8,  DType::i16, DType::i32,    DType::i64,
                              DType::u8,  DType::u16, DType::u32, DType::u64, DType::boolean};
// A scalar, one or more registers, and a number of lanes that is no power of two.
constexpr std::uint32_t kLanes[] = {1, 8, 3};

bool applies(BinaryOp op, DType dtype) {
  switch (op) {
    case BinaryOp::logical_and:
    case BinaryOp::logical_or: return dtype == DType::boolean;
    case BinaryOp::mod:
    case BinaryOp::bit_and:
    case BinaryOp::bit_or:
    case BinaryOp::bit_xor:
    case BinaryOp::shl:
    case BinaryOp::shr: return !is_float(dtype) && dtype != DType::boolean;
    case BinaryOp::eq:
    case BinaryOp::ne: return true;
    default: return dtype != DType::boolean;
  }
}

std::vector<BinaryOp> all_ops() {
  return {
#define FERRY_OP(name, text) BinaryOp::name,
      FERRY_IR_BINARY_OPS(FERRY_OP)
#undef FERRY_OP
  };
}

}  // namespace

TEST_CASE("every binary operation on every type gives what the interpreter gives") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : kLanes) {
    for (const DType dtype : kNumbers) {
      // Odd numbers of lanes affect memory accesses, not the operation, so a few types suffice.
      if (lanes == 3 && dtype != DType::f32 && dtype != DType::i8 && dtype != DType::i64) continue;
      const Pairs pairs = edge_pairs(dtype, lanes);
      for (const BinaryOp op : all_ops()) {
        if (!applies(op, dtype)) continue;
        const DType result = is_comparison(op) ? DType::boolean : dtype;
        const std::string name = "op" + std::to_string(static_cast<int>(op)) + "_" + dtype_name(dtype);
        cases.push_back(elementwise(name, {dtype, dtype}, result, {pairs.left, pairs.right}, pairs.count, lanes,
                                    [op](const std::vector<Expr>& in) { return Binary::make(op, in[0], in[1]); }));
        cases.back().any_zero = op == BinaryOp::min || op == BinaryOp::max;
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("division, modulo and shifts by constants give what the interpreter gives") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : {1u, 4u}) {
    for (const DType dtype : {DType::i8, DType::i32, DType::i64, DType::u8, DType::u32, DType::u64}) {
      const std::int64_t elements = 64;
      const Bytes data = edge_bytes(dtype, 64);
      for (const std::int64_t divisor : {-8, -3, -1, 0, 1, 3, 7, 8, 64, 100}) {
        if (divisor < 0 && is_unsigned_int(dtype)) continue;
        for (const BinaryOp op : {BinaryOp::div, BinaryOp::mod, BinaryOp::shl, BinaryOp::shr}) {
          cases.push_back(elementwise(
              "constant", {dtype}, dtype, {data}, elements, lanes,
              [&](const std::vector<Expr>& in) { return Binary::make(op, in[0], constant(in[0].type(), divisor)); }));
        }
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("shifts by any amount, which may give 0, are divided by") {
  std::vector<Case> cases;
  const auto divisors = [](const Expr& by) {
    const auto number = [&](std::int64_t value) { return constant(by.type(), value); };
    const std::int64_t bits = by.type().bits();
    const bool wraps = by.type().is_unsigned_int() && bits < 64;
    const Expr large = number(wraps ? (std::int64_t{1} << bits) - 7 : -7) >> by, small = number(7) << by,
               least = max(large, number(1));
    return std::vector<Expr>{large, small, least, min(small, number(5)), select(by >= number(bits), number(0), large)};
  };
  for (const std::uint32_t lanes : {1u, 4u, 16u}) {
    for (const DType dtype : {DType::u8, DType::u16, DType::u32, DType::u64, DType::i32, DType::i64}) {
      const Pairs pairs = edge_pairs(dtype, lanes);
      for (const BinaryOp op : {BinaryOp::div, BinaryOp::mod}) {
        for (std::size_t which = 0; which < 5; ++which) {
          cases.push_back(elementwise(
              "by_shift", {dtype, dtype}, dtype, {pairs.left, pairs.right}, pairs.count, lanes,
              [&](const std::vector<Expr>& in) { return Binary::make(op, in[0], divisors(in[1])[which]); }));
        }
      }
    }
  }
  // LLVM's code for AVX-512 once lost the guard of such a divisor, so this machine's variants run all cases.
  std::vector<Variant> native, emulated;
  for (const Variant& variant : all_variants()) (variant.emulator.empty() ? native : emulated).push_back(variant);
  check_on_all(native, cases);
  std::vector<Case> third;
  for (std::size_t i = 0; i < cases.size(); i += 3) third.push_back(cases[i]);
  check_on_all(emulated, third);
}

TEST_CASE("unary operations give what the interpreter gives") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : kLanes) {
    for (const DType dtype : kNumbers) {
      const std::int64_t elements = 48;
      const Bytes data = edge_bytes(dtype, 48);
      const auto add = [&](UnaryOp op) {
        cases.push_back(elementwise("unary", {dtype}, dtype, {data}, elements, lanes,
                                    [op](const std::vector<Expr>& in) { return Unary::make(op, in[0]); }));
      };
      if (dtype == DType::boolean) {
        add(UnaryOp::logical_not);
      } else {
        add(UnaryOp::neg);
        if (!is_float(dtype)) add(UnaryOp::bit_not);
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("min and max with a constant keep NaN") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : kLanes) {
    for (const DType dtype : {DType::f32, DType::f64}) {
      const Bytes data = edge_bytes(dtype, 48);
      for (const BinaryOp op : {BinaryOp::min, BinaryOp::max}) {
        for (const bool constant_first : {false, true}) {
          for (const double value : {0.0, 6.0, -HUGE_VAL}) {
            cases.push_back(elementwise("clamp", {dtype}, dtype, {data}, 48, lanes, [&](const std::vector<Expr>& in) {
              const Expr limit = constant(in[0].type(), value);
              return constant_first ? Binary::make(op, limit, in[0]) : Binary::make(op, in[0], limit);
            }));
            cases.back().any_zero = true;
          }
        }
      }
    }
  }
  check_everywhere(cases);
}

TEST_CASE("a multiplication and an addition may become one operation, but nothing else changes") {
  std::vector<Case> cases;
  for (const std::uint32_t lanes : kLanes) {
    // Both terms are positive: with cancellation, one rounding less would differ by many units in the last place.
    cases.push_back(
        elementwise("mul_add", {DType::f32}, DType::f32, {edge_bytes(DType::f32, 48)}, 48, lanes,
                    [](const std::vector<Expr>& in) { return in[0] * in[0] + constant(in[0].type(), 2.0); }));
    cases.back().ulps = 1;
  }
  check_everywhere(cases);
}
