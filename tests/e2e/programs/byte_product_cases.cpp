// Cases for matrix products of bytes, which the default schedule computes by dot instructions where there are any.
#include "tests/e2e/programs/program_case.h"

#include "tests/support/seeded.h"

#include <cstdint>
#include <string>
#include <vector>

namespace ferry::test {
namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

// Draws among the extremes of a type of bytes and the numbers around 0.
Data bytes(DType dtype, std::vector<std::int64_t> shape, std::uint32_t seed) {
  const std::vector<double> values = dtype == DType::i8 ? std::vector<double>{-128, -127, -1, 0, 1, 127}
                                                        : std::vector<double>{0, 1, 127, 128, 254, 255};
  Data data{dtype, std::move(shape), {}};
  Seeded seeded(seed);
  for (std::int64_t i = 0; i < count(data.shape); ++i) data.values.push_back(values[(seeded.draw() >> 8U) % 6]);
  return data;
}

struct Shape {
  std::int64_t m, k, n;
};

std::string type_name(DType dtype) { return dtype == DType::i8 ? "int8" : "uint8"; }

// C = A B, or C = A B^T, or with A^T.
struct Operands {
  DType left, right;
  bool left_transposed = false, right_transposed = false;
};

std::string source_of(const Operands& operands, const std::string& m, const std::string& k, const std::string& n) {
  const auto access = [](bool transposed, const std::string& a, const std::string& b) {
    return transposed ? "(" + b + "," + a + ")" : "(" + a + "," + b + ")";
  };
  return "def mm(" + type_name(operands.left) + access(operands.left_transposed, m, k) + " A, " +
         type_name(operands.right) + access(operands.right_transposed, k, n) + " B) -> (C) { C(m,n) +=! int(A" +
         access(operands.left_transposed, "m", "k") + ") * int(B" + access(operands.right_transposed, "k", "n") + ") }";
}

ProgramCase product(const Operands& operands, const Shape& shape, bool is_open, const std::string& schedule = "") {
  const auto [m, k, n] = shape;
  const std::string sizes = std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n);
  const auto in_order = [](bool transposed, std::int64_t a, std::int64_t b) {
    return transposed ? Index{b, a} : Index{a, b};
  };
  ProgramCase result;
  result.name = "product of bytes, " + type_name(operands.left) + (operands.left_transposed ? " transposed" : "") +
                " by " + type_name(operands.right) + (operands.right_transposed ? " transposed, " : ", ") + sizes +
                (is_open ? ", open" : "") + (schedule.empty() ? "" : ", under a schedule");
  result.source = is_open ? source_of(operands, "M", "K", "N")
                          : source_of(operands, std::to_string(m), std::to_string(k), std::to_string(n));
  const auto seed = static_cast<std::uint32_t>(m * 7 + k * 3 + n);
  result.arguments = {bytes(operands.left, in_order(operands.left_transposed, m, k), seed),
                      bytes(operands.right, in_order(operands.right_transposed, k, n), seed + 1)};
  result.reference = [operands, shape](const Arguments& in) {
    return std::vector<Expected>{each(DType::i32, {shape.m, shape.n}, [&](const Index& i) {
      Element total;
      for (std::int64_t at = 0; at < shape.k; ++at) {
        const double left = operands.left_transposed ? in[0](at, i[0]) : in[0](i[0], at);
        const double right = operands.right_transposed ? in[1](i[1], at) : in[1](at, i[1]);
        total.add(left * right);
      }
      return total;
    })};
  };
  result.schedule = schedule;
  return result;
}

constexpr DType kI8 = DType::i8, kU8 = DType::u8;

}  // namespace

std::vector<ProgramCase> byte_product_cases() {
  std::vector<ProgramCase> cases;
  std::int64_t i = 0;
  // Sums of every number of products from 1 to 9 and around whole registers; columns that fill no vector.
  for (const std::int64_t k : {1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65}) {
    const Operands types[] = {{kI8, kI8}, {kU8, kI8}, {kI8, kU8}, {kU8, kU8}};
    cases.push_back(product(types[i % 4], {9 + i, k, 17 + 5 * i}, i % 3 == 1));
    ++i;
  }
  for (const Operands& types : {Operands{kI8, kI8}, Operands{kU8, kI8}, Operands{kU8, kU8}}) {
    cases.push_back(product(types, {31, 65, 70}, false));
    cases.push_back(product(types, {16, 64, 64}, false));
    cases.push_back(product(types, {33, 35, 41}, true));
    cases.push_back(product({types.left, types.right, false, true}, {21, 37, 45}, false));
    cases.push_back(product({types.left, types.right, true, false}, {37, 34, 66}, types.left == kU8));
  }
  cases.push_back(product({kI8, kU8, true, true}, {12, 19, 33}, true));
  // Tails of tiles of 16 rows, 16 columns and 64 bytes of the sum.
  i = 0;
  for (const std::int64_t m : {8, 15, 16, 17, 31, 33, 49}) {
    const Operands types[] = {{kI8, kI8}, {kU8, kI8}, {kI8, kU8}, {kU8, kU8}};
    const std::int64_t depths[] = {60, 64, 100, 128}, columns[] = {16, 17, 48, 95};
    cases.push_back(product(types[i % 4], {m, depths[i / 2 % 4], columns[i % 3]}, i % 3 == 1));
    cases.push_back(product(types[(i + 1) % 4], {m, depths[i % 4], columns[3 - i % 3]}, i % 3 == 2));
    ++i;
  }
  cases.push_back(product({kU8, kI8, false, true}, {33, 100, 50}, false));
  cases.push_back(product({kI8, kI8, true, false}, {33, 100, 50}, true));
  const std::string padded =
      "C: flip B; B.flipped: pad i0 4; pad i1 16; transform_layout (k, n) -> (n / 16, k / 4, n % 16, k % 4); "
      "A: cache_read global C.products -> R; pad i1 4; C.products: pad k 4; split k 4; split n 16; "
      "reorder m n.outer k.outer n.inner k.inner; tensorize n.inner dot";
  for (const Operands& types : {Operands{kI8, kI8}, Operands{kI8, kU8}})
    for (const bool is_open : {false, true}) cases.push_back(product(types, {5, 7, 19}, is_open, padded));
  return cases;
}

}  // namespace ferry::test
