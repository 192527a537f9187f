// Cases for reductions over tuples and for user-defined reducers.
#include <algorithm>
#include <cmath>

#include "ferry/lang/user_reducer.h"
#include "ferry/ops/reductions.h"
#include "tests/e2e/programs/program_case.h"

namespace ferry::test {

namespace {

using Index = std::vector<std::int64_t>;
using Arguments = std::vector<Data>;
using lang::Expr;
using lang::Tensor;

std::vector<Expected> one(Expected expected) { return {std::move(expected)}; }

ProgramCase built(std::string name, lang::Program program, Arguments arguments,
                  std::function<std::vector<Expected>(const Arguments&)> reference, double tolerance = 0) {
  return {std::move(name), "", std::move(arguments), std::move(reference), tolerance, std::move(program)};
}

// Returns the position of the first NaN of a row, or else of the first maximum (or minimum).
std::int64_t place_in_row(const Data& a, std::int64_t row, bool greatest) {
  std::int64_t best = a.dim(1) > 0 ? 0 : -1;
  for (std::int64_t j = 1; j < a.dim(1); ++j) {
    if (std::isnan(a(row, best))) return best;
    if (std::isnan(a(row, j)) || (greatest ? a(row, j) > a(row, best) : a(row, j) < a(row, best))) best = j;
  }
  return best;
}

ProgramCase places_of(const std::string& name, const Data& data, bool greatest) {
  const std::string op = greatest ? "argmax" : "argmin";
  return {op + " of " + name,
          "def best(float32(M,K) A) -> (V, I) { V, I(m) " + op + "=! A(m,k) }",
          {data},
          [greatest](const Arguments& in) {
            const auto place = [&in, greatest](const Index& i) { return place_in_row(in[0], i[0], greatest); };
            const double none = greatest ? -INFINITY : INFINITY;
            const std::int64_t rows = in[0].dim(0), columns = in[0].dim(1);
            return std::vector<Expected>{
                each(DType::f32, {rows},
                     [&](const Index& i) { return Element{columns > 0 ? in[0](i[0], place(i)) : none, 1}; }),
                each(DType::i64, {rows}, [&](const Index& i) { return Element{static_cast<double>(place(i)), 1}; })};
          }};
}

// With 1,031 columns, rows are longer than a block of a GPU has threads. The best value occurs in many places of a row,
// and so does NaN in two rows.
Data rows_with_ties(std::int64_t columns) {
  Data data = random_data(DType::f32, {4, columns}, 54);
  for (double& value : data.values) value = std::round(value * 3);
  const auto row = [&](std::int64_t r) { return data.values.begin() + r * columns; };
  for (const std::int64_t place : {columns - 1, columns / 2, columns / 3}) row(1)[place] = NAN;
  std::fill(row(2), row(3), NAN);
  std::fill(row(3), row(4), -INFINITY);
  return data;
}

void logic(std::vector<ProgramCase>& cases) {
  cases.push_back({"any and all over rows",
                   "def f(float32(M,K) A) -> (Y, Z) { Y(m) any=! A(m,k) > 0.9  Z(m) all=! A(m,k) > -0.9 }",
                   {random_data(DType::f32, {31, 17}, 54)},
                   [](const Arguments& in) {
                     const auto count = [&](std::int64_t row, auto&& holds) {
                       std::int64_t total = 0;
                       for (std::int64_t k = 0; k < 17; ++k) total += holds(in[0](row, k)) ? 1 : 0;
                       return total;
                     };
                     return std::vector<Expected>{
                         each(DType::boolean, {31},
                              [&](const Index& i) {
                                return Element{count(i[0], [](double v) { return v > 0.9; }) > 0 ? 1.0 : 0.0, 1};
                              }),
                         each(DType::boolean, {31}, [&](const Index& i) {
                           return Element{count(i[0], [](double v) { return v > -0.9; }) == 17 ? 1.0 : 0.0, 1};
                         })};
                   }});
}

void user_reducers(std::vector<ProgramCase>& cases) {
  const Expr m = lang::var("m"), k = lang::var("k");
  const Tensor a = lang::placeholder({m, k}, DType::f64, "A");
  const auto product =
      lang::comm_reducer([](const auto& left, const auto& right) { return std::vector<Expr>{left[0] * right[0]}; },
                         [](const auto& types) { return std::vector<Expr>{ir::constant(types[0], 1.0)}; }, "product");
  const lang::ReduceAxis over = lang::reduce_axis(k, "k");
  const Tensor p = lang::compute({m}, [&](const auto& i) { return product(a(i[0], Expr(over)) + 1.5, {over}); }, "P");
  for (const std::int64_t columns : {0, 1, 23}) {
    cases.push_back(built(
        "row product of " + std::to_string(columns) + " columns by a user's reducer",
        lang::make_program("row_product", {lang::in(a), lang::out(p)}), {random_data(DType::f64, {7, columns}, 55)},
        [](const Arguments& in) {
          return one(each(DType::f64, {7}, [&](const Index& i) {
            double value = 1;
            for (std::int64_t j = 0; j < in[0].dim(1); ++j) value *= in[0](i[0], j) + 1.5;
            return Element{value, std::abs(value)};
          }));
        },
        1e-13));
  }
  const Tensor x = lang::placeholder({m, k}, DType::f32, "X");
  const ops::Moments both = ops::mean_variance(x, {1}, "Y");
  cases.push_back(built(
      "mean and variance in one pass",
      lang::make_program("moments", {lang::in(x), lang::out(both.mean), lang::out(both.variance)}),
      {random_data(DType::f32, {9, 101}, 56)},
      [](const Arguments& in) {
        const auto of_row = [&](std::int64_t row, bool variance) {
          double sum = 0, squares = 0;
          for (std::int64_t j = 0; j < 101; ++j) sum += in[0](row, j);
          for (std::int64_t j = 0; j < 101; ++j) squares += std::pow(in[0](row, j) - sum / 101, 2);
          return variance ? squares / 101 : sum / 101;
        };
        const auto expect = [&](bool variance) {
          return each(DType::f32, {9}, [&](const Index& i) { return Element{of_row(i[0], variance), 1}; });
        };
        return std::vector<Expected>{expect(false), expect(true)};
      },
      1e-5));
}

}  // namespace

std::vector<ProgramCase> place_cases() {
  std::vector<ProgramCase> cases;
  for (const std::int64_t columns : {0, 1, 37, 130}) {
    for (const bool greatest : {true, false})
      cases.push_back(places_of(std::to_string(columns) + " columns and its value",
                                random_data(DType::f32, {13, columns}, 50), greatest));
  }
  for (const DType type : {DType::f16, DType::bf16, DType::f64, DType::i8, DType::u16, DType::i32, DType::i64}) {
    const std::string t = dtype_name(type);
    cases.push_back({"argmax of columns of " + t,
                     "def best(" + t + "(K,M) A) -> (I) { I(m) argmax=! A(k,m) }",
                     {random_data(type, {29, 19}, 51)},
                     [](const Arguments& in) {
                       return one(each(DType::i64, {19}, [&](const Index& i) {
                         std::int64_t best = 0;
                         for (std::int64_t k = 1; k < 29; ++k) {
                           if (in[0](k, i[0]) > in[0](best, i[0])) best = k;
                         }
                         return Element{static_cast<double>(best), 1};
                       }));
                     }});
  }
  cases.push_back({"argmin of a whole matrix is a position",
                   "def best(int32(M,K) A) -> (I) { I() argmin=! A(m,k) }",
                   {random_data(DType::i32, {7, 11}, 52)},
                   [](const Arguments& in) {
                     const auto least = std::min_element(in[0].values.begin(), in[0].values.end());
                     return one(each(DType::i64, {}, [&](const Index&) {
                       return Element{static_cast<double>(least - in[0].values.begin()), 1};
                     }));
                   }});
  for (const std::int64_t columns : {9, 1031})
    for (const bool greatest : {true, false})
      cases.push_back(
          places_of("ties and NaN in " + std::to_string(columns) + " columns", rows_with_ties(columns), greatest));
  return cases;
}

std::vector<ProgramCase> reducer_cases() {
  std::vector<ProgramCase> cases = place_cases();
  logic(cases);
  user_reducers(cases);
  return cases;
}

}  // namespace ferry::test
