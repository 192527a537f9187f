// Cases for the library's operators along chosen dimensions, and for argmax and argmin.
#include <cmath>
#include <limits>

#include "ferry/ops/elementwise.h"
#include "ferry/ops/matmul.h"
#include "ferry/ops/pooling.h"
#include "ferry/ops/reductions.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::in;
using lang::placeholder;
using lang::Tensor;
using lang::var;

// Returns the position, in row-major order over the two bounds, of the first maximum (minimum).
double place_of(std::int64_t rows, std::int64_t columns, bool greatest,
                const std::function<double(std::int64_t, std::int64_t)>& value) {
  double best = greatest ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  std::int64_t place = -1;
  for (std::int64_t i = 0; i < rows * columns; ++i) {
    const double now = value(i / columns, i % columns);
    if (greatest ? now <= best : now >= best) continue;
    best = now;
    place = i;
  }
  return static_cast<double>(place);
}

void places(std::vector<ProgramCase>& cases) {
  for (const DType type : {DType::f32, DType::i8, DType::f16}) {
    const Tensor a = placeholder({var("n"), var("m"), var("k")}, type, "A");
    const Data data = random_data(type, {7, 13, 21}, 160);
    for (const bool greatest : {true, false}) {
      const std::string which = std::string(greatest ? "argmax" : "argmin") + " of the library of " + dtype_name(type);
      const auto pick = greatest ? ops::argmax : ops::argmin;
      cases.push_back(built_case(
          which + " over the middle dimension, kept", {in(a)}, pick(a, {1}, "Y", true), {data}, {7, 1, 21},
          [greatest](auto& x, auto& i) {
            return Element{place_of(13, 1, greatest, [&](auto r, auto) { return x[0].at({i[0], r, i[2]}); }), 1};
          }));
      cases.push_back(built_case(
          which + " over the first and the last dimension", {in(a)}, pick(a, {0, 2}, "Y", false), {data}, {13},
          [greatest](auto& x, auto& i) {
            return Element{place_of(7, 21, greatest, [&](auto r, auto c) { return x[0].at({r, i[0], c}); }), 1};
          }));
    }
  }
}

void folds(std::vector<ProgramCase>& cases) {
  const Tensor x = placeholder({2, var("C"), var("H"), var("W")}, DType::f32, "X");
  cases.push_back(built_case("global max pooling", {in(x)}, ops::global_max_pool2d(x, "Y"),
                             {floats({2, 5, 9, 13}, 161)}, {2, 5}, [](auto& a, auto& i) {
                               double most = -9;
                               for (std::int64_t p = 0; p < 9 * 13; ++p)
                                 most = std::max(most, a[0].at({i[0], i[1], p / 13, p % 13}));
                               return Element{most, 1};
                             }));
  const Tensor whole = placeholder({var("n"), var("m")}, DType::i16, "A");
  cases.push_back(built_case(
      "a mean of integers over the last dimension, kept", {in(whole)}, ops::mean(whole, {1}, "Y", true),
      {random_data(DType::i16, {9, 37}, 162)}, {9, 1},
      [](auto& a, auto& i) {
        Element sum = sum_over({37}, [&](auto& r) { return a[0](i[0], r[0]); });
        return Element{sum.value / 37, sum.scale / 37};
      },
      1e-6));
  const Tensor f = placeholder({var("n")}, DType::f64, "A");
  cases.push_back(built_case(
      "a cast of the library", {in(f)}, ops::cast(f, DType::bf16, "Y"), {random_data(DType::f64, {45}, 163)}, {45},
      [](auto& a, auto& i) { return Element{a[0](i[0]), 1}; }, 1.0 / 256));
}

void products(std::vector<ProgramCase>& cases) {
  for (const ops::Transposed form : {ops::Transposed{true, false}, {false, true}, {true, true}}) {
    const lang::Expr b = var("b"), m = var("m"), n = var("n"), k = var("k");
    const Tensor x = placeholder(form.a ? std::vector{b, k, m} : std::vector{b, m, k}, DType::f32, "X"),
                 y = placeholder(form.b ? std::vector{b, n, k} : std::vector{b, k, n}, DType::f32, "Y");
    cases.push_back(built_case(
        std::string("batched matmul, ") + (form.a ? "A" : "") + (form.b ? "B" : "") + " transposed", {in(x), in(y)},
        ops::batch_matmul(x, y, "Z", form),
        {floats(form.a ? Index{3, 17, 5} : Index{3, 5, 17}, 164),
         floats(form.b ? Index{3, 19, 17} : Index{3, 17, 19}, 165)},
        {3, 5, 19},
        [form](auto& a, auto& i) {
          return sum_over({17}, [&](auto& r) {
            return a[0].at(form.a ? Index{i[0], r[0], i[1]} : Index{i[0], i[1], r[0]}) *
                   a[1].at(form.b ? Index{i[0], i[2], r[0]} : Index{i[0], r[0], i[2]});
          });
        },
        1e-6));
  }
}

}  // namespace

std::vector<ProgramCase> axis_cases() {
  std::vector<ProgramCase> cases;
  places(cases);
  folds(cases);
  products(cases);
  return cases;
}

}  // namespace ferry::test
