// Cases for the greatest and least elements of lines.
#include <cmath>
#include <limits>
#include <numeric>

#include "ferry/ops/sorting.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

struct Line {
  DType type;
  std::int64_t size, count;
};

// Random values of which many are equal; zeros of both signs, infinities and NaN among floats.
Data data_of(DType type, std::int64_t rows, std::int64_t size) {
  Data data = random_data(type, {rows, size}, static_cast<std::uint64_t>(size) + 170);
  if (!is_float(type)) return data;
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const double special[] = {nan, -0.0, inf, 0.0, -inf, -nan, 0.0, -0.0};
  for (std::size_t i = 0, s = 0; i < data.values.size(); i += 1 + i % 7) data.values[i] = special[s++ % 8];
  return data;
}

std::vector<std::int64_t> sorted(const Data& x, std::int64_t row, bool largest) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(x.shape[1]));
  std::iota(order.begin(), order.end(), 0);
  const auto precedes = [&](std::int64_t i, std::int64_t j) {
    const double a = x(row, i), b = x(row, j);
    if (std::isnan(a) || std::isnan(b))
      return largest ? std::isnan(a) && !std::isnan(b) : std::isnan(b) && !std::isnan(a);
    return largest ? a > b : a < b;
  };
  std::stable_sort(order.begin(), order.end(), precedes);
  return order;
}

void add_line(std::vector<ProgramCase>& cases, const Line& line, bool largest) {
  const lang::Tensor x = lang::placeholder({lang::var("n"), line.size}, line.type, "X");
  const Data data = data_of(line.type, 3, line.size);
  cases.push_back(built_case("the " + std::to_string(line.count) + (largest ? " greatest of " : " least of ") +
                                 std::to_string(line.size) + " of " + dtype_name(line.type),
                             {lang::in(x)}, ops::top_k(x, line.count, largest, "Y"), {data}, {3, line.count},
                             [largest](auto& a, auto& i) {
                               const auto place = static_cast<std::size_t>(i[1]);
                               return Element{static_cast<double>(sorted(a[0], i[0], largest)[place]), 0};
                             }));
}

}  // namespace

// Passes, networks, and both with groups.
std::vector<ProgramCase> sorting_cases() {
  std::vector<ProgramCase> cases;
  bool largest = false;
  for (const Line& line : {Line{DType::f32, 1, 1},
                           {DType::f32, 37, 5},
                           {DType::f32, 40, 17},
                           {DType::f32, 577, 19},
                           {DType::f32, 31, 31},
                           {DType::f16, 101, 18},
                           {DType::u32, 501, 4},
                           {DType::i8, 43, 6},
                           {DType::f64, 53, 7},
                           {DType::u64, 20, 1},
                           {DType::bf16, 43, 6},
                           {DType::boolean, 43, 6}}) {
    largest = !largest;
    add_line(cases, line, largest);
  }
  add_line(cases, {DType::f32, 37, 5}, true);
  add_line(cases, {DType::f64, 53, 7}, false);
  return cases;
}

}  // namespace ferry::test
