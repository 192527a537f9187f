// Cases for loop nests that tensorize replaces by an instruction.
#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;

// A(m,24) times B(24,32), where each element of the result sums groups of `group` products.
ProgramCase dots(const std::string& left, DType left_type, const std::string& right, DType right_type,
                 const std::string& sum, DType sum_type, int group, double tolerance) {
  const std::string g = std::to_string(group);
  return {"products of " + left + " by " + right + " as dots of groups",
          "def mm(" + left + "(M,24) A, " + right + "(24,32) B) -> (C) { C(m,n) +=! " + sum + "(A(m,k)) * " + sum +
              "(B(k,n)) }",
          {random_data(left_type, {11, 24}, 130), random_data(right_type, {24, 32}, 131)},
          [sum_type](const Arguments& in) {
            return std::vector<Expected>{each(sum_type, {11, 32}, [&](const Index& i) {
              Element total;
              for (std::int64_t k = 0; k < 24; ++k) total.add(in[0](i[0], k) * in[1](k, i[1]));
              return total;
            })};
          },
          tolerance,
          std::nullopt,
          "",
          false,
          "B: cache_read global -> P; P: transform_layout (k, n) -> (n / 16, k / " + g + ", n % 16, k % " + g +
              "); C: split m 3 -> mo mi; split k " + g +
              " -> ko ki; split n 16 -> no ni; reorder no mo ko mi ni ki; unroll mi; tensorize ni dot"};
}

}  // namespace

std::vector<ProgramCase> tensorize_cases() {
  return {dots("uint8", DType::u8, "int8", DType::i8, "int", DType::i32, 4, 0),
          dots("int8", DType::i8, "int8", DType::i8, "int", DType::i32, 4, 0),
          dots("bfloat16", DType::bf16, "bfloat16", DType::bf16, "float", DType::f32, 2, 1e-6)};
}

}  // namespace ferry::test
