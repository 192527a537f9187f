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

// A(m,k) times B(k,n) in AMX's tiles: two of rows by two of columns, or more by one.
ProgramCase tiles(const std::string& left, DType left_type, const std::string& right, DType right_type, int group,
                  std::int64_t rows, double tolerance, int row_tiles = 2) {
  const bool is_float = group == 2;
  const std::string panel = row_tiles == 2 ? "32" : "16";
  const DType sum_type = is_float ? DType::f32 : DType::i32;
  const std::string g = std::to_string(group), depth = std::to_string(48 * group), sum = is_float ? "float" : "int";
  return {"products of " + std::to_string(rows) + " rows of " + left + " by " + right + " as tiles, " +
              std::to_string(row_tiles) + " of rows",
          "def mm(" + left + "(M," + depth + ") A, " + right + "(" + depth + ",64) B) -> (C) { C(m,n) +=! " + sum +
              "(A(m,k)) * " + sum + "(B(k,n)) }",
          {random_data(left_type, {rows, 48 * group}, 132), random_data(right_type, {48 * group, 64}, 133)},
          [sum_type, rows, group](const Arguments& in) {
            return std::vector<Expected>{each(sum_type, {rows, 64}, [&](const Index& i) {
              Element total;
              for (std::int64_t k = 0; k < 48 * group; ++k) total.add(in[0](i[0], k) * in[1](k, i[1]));
              return total;
            })};
          },
          tolerance,
          std::nullopt,
          "",
          false,
          "B: cache_read global -> P; P: transform_layout (k, n) -> (n / " + panel + ", k / " + g + ", n % " + panel +
              ", k % " + g + "); C: split m " + std::to_string(16 * row_tiles) +
              " -> mo mr; split mr 16 -> mt mi; split n " + panel + " -> no nr; split nr 16 -> nt ni; split k " +
              std::to_string(16 * group) + " -> ko kr; split kr " + g +
              " -> kg ki; reorder mo no ko mt mi nt ni kg ki; tensorize mt tile_dot; parallel mo"};
}

// The same of bfloat16 under the default schedule, which takes tiles where it pays.
ProgramCase default_product(std::int64_t m, std::int64_t k, std::int64_t n, bool is_open) {
  const std::string sizes[] = {is_open ? "M" : std::to_string(m), is_open ? "K" : std::to_string(k),
                               is_open ? "N" : std::to_string(n)};
  ProgramCase result;
  result.name = "product of bfloat16, " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(n) +
                (is_open ? ", open" : "");
  result.source = "def mm(bfloat16(" + sizes[0] + "," + sizes[1] + ") A, bfloat16(" + sizes[1] + "," + sizes[2] +
                  ") B) -> (C) { C(m,n) +=! float(A(m,k)) * float(B(k,n)) }";
  const auto seed = static_cast<std::uint32_t>(m + k + n);
  result.arguments = {random_data(DType::bf16, {m, k}, seed), random_data(DType::bf16, {k, n}, seed + 1)};
  result.reference = [m, k, n](const Arguments& in) {
    return std::vector<Expected>{each(DType::f32, {m, n}, [&](const Index& i) {
      Element total;
      for (std::int64_t at = 0; at < k; ++at) total.add(in[0](i[0], at) * in[1](at, i[1]));
      return total;
    })};
  };
  result.tolerance = 1e-6;
  return result;
}

}  // namespace

std::vector<ProgramCase> tile_cases() {
  std::vector<ProgramCase> cases;
  std::int64_t turn = 0;
  for (const std::int64_t m : {7, 8, 16, 17, 33, 49}) {
    const std::int64_t depths[] = {23, 24, 32, 50, 64}, columns[] = {15, 16, 17, 48};
    cases.push_back(default_product(m, depths[turn % 5], columns[turn % 4], turn % 2 == 0));
    cases.push_back(default_product(m, depths[(turn + 3) % 5], columns[(turn + 1) % 4], turn % 2 == 1));
    ++turn;
  }
  for (const std::int64_t rows : {1, 15, 16, 17, 31, 33, 49}) {
    cases.push_back(tiles("uint8", DType::u8, "int8", DType::i8, 4, rows, 0));
    cases.push_back(tiles("bfloat16", DType::bf16, "bfloat16", DType::bf16, 2, rows, 1e-6));
  }
  for (const std::int64_t rows : {1, 17, 33, 48, 49, 63, 64, 65, 100, 128, 150}) {
    cases.push_back(tiles("uint8", DType::u8, "int8", DType::i8, 4, rows, 0, 4));
    cases.push_back(tiles("bfloat16", DType::bf16, "bfloat16", DType::bf16, 2, rows, 1e-6, 3));
  }
  cases.push_back(tiles("int8", DType::i8, "uint8", DType::u8, 4, 37, 0));
  cases.push_back(tiles("int8", DType::i8, "int8", DType::i8, 4, 37, 0));
  cases.push_back(tiles("uint8", DType::u8, "uint8", DType::u8, 4, 37, 0));
  return cases;
}

std::vector<ProgramCase> tensorize_cases() {
  return {dots("uint8", DType::u8, "int8", DType::i8, "int", DType::i32, 4, 0),
          dots("int8", DType::i8, "int8", DType::i8, "int", DType::i32, 4, 0),
          dots("bfloat16", DType::bf16, "bfloat16", DType::bf16, "float", DType::f32, 2, 1e-6)};
}

}  // namespace ferry::test
