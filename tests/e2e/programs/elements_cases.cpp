// Cases for the library's element-wise operators, data movement operators and reductions.
#include <algorithm>
#include <cmath>

#include "ferry/ops/elementwise.h"
#include "ferry/ops/reductions.h"
#include "ferry/ops/shapes.h"
#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::Expr;
using lang::in;
using lang::placeholder;
using lang::scalar;
using lang::Tensor;
using lang::var;

struct Pointwise {
  const char* name;
  Tensor (*build)(const Tensor&, const Tensor&, std::string);
  double (*reference)(double, double);
};

void broadcasts(std::vector<ProgramCase>& cases) {
  const Pointwise all[] = {
      {"add", ops::add, [](double a, double b) { return a + b; }},
      {"sub", ops::sub, [](double a, double b) { return a - b; }},
      {"mul", ops::mul, [](double a, double b) { return a * b; }},
      {"max", ops::max, [](double a, double b) { return std::max(a, b); }},
      {"min", ops::min, [](double a, double b) { return std::min(a, b); }},
  };
  const Expr m = var("m"), n = var("n");
  const Tensor column = placeholder({m, 1}, DType::f32, "A"), matrix = placeholder({m, n}, DType::f32, "B"),
               row = placeholder({1, n}, DType::f32, "B"), flat = placeholder({n}, DType::f32, "B");
  for (const Pointwise& op : all) {
    const auto element = [op](double a, double b) { return Element{op.reference(a, b), 1}; };
    const std::string name = op.name;
    cases.push_back(built_case(
        "broadcast " + name + " (m,1) and (m,n)", {in(column), in(matrix)}, op.build(column, matrix, "C"),
        {floats({11, 1}, 1), floats({11, 29}, 2)}, {11, 29},
        [=](auto& in, auto& i) { return element(in[0](i[0]), in[1].at(i)); }, 1e-7));
    cases.push_back(built_case(
        "broadcast " + name + " (m,1) and (1,n)", {in(column), in(row)}, op.build(column, row, "C"),
        {floats({11, 1}, 3), floats({1, 29}, 4)}, {11, 29},
        [=](auto& in, auto& i) { return element(in[0](i[0]), in[1](i[1])); }, 1e-7));
    cases.push_back(built_case(
        "broadcast " + name + " (m,1) and (n)", {in(column), in(flat)}, op.build(column, flat, "C"),
        {floats({11, 1}, 5), floats({29}, 6)}, {11, 29},
        [=](auto& in, auto& i) { return element(in[0](i[0]), in[1](i[1])); }, 1e-7));
  }
  Data positive = floats({11, 29}, 7);
  for (double& value : positive.values) value = value * value + 0.25;
  cases.push_back(built_case(
      "broadcast div (m,1) and (m,n)", {in(column), in(matrix)}, ops::div(column, matrix, "C"),
      {floats({11, 1}, 8), positive}, {11, 29}, [](auto& in, auto& i) { return Element{in[0](i[0]) / in[1].at(i), 4}; },
      1e-6));
  cases.push_back(built_case(
      "broadcast pow (m,n) and (m,1)", {in(column), in(matrix)}, ops::pow(matrix, column, "C"),
      {floats({11, 1}, 9), positive}, {11, 29},
      [](auto& in, auto& i) { return Element{std::pow(in[1].at(i), in[0](i[0])), 4}; }, 1e-6));
}

void unary(std::vector<ProgramCase>& cases) {
  const Expr m = var("m"), n = var("n");
  const Tensor x = placeholder({m, n}, DType::f32, "X");
  const auto add = [&](const char* name, const Tensor& y, double (*reference)(double), double tolerance) {
    cases.push_back(built_case(
        name, {in(x)}, y, {floats({7, 45}, 10)}, {7, 45},
        [=](auto& in, auto& i) { return Element{reference(in[0].at(i)), 1}; }, tolerance));
  };
  add("relu of the library", ops::relu(x, "Y"), [](double v) { return std::max(v, 0.0); }, 0);
  add("sigmoid of the library", ops::sigmoid(x, "Y"), [](double v) { return 1 / (1 + std::exp(-v)); }, 1e-6);
  add("tanh of the library", ops::tanh(x, "Y"), [](double v) { return std::tanh(v); }, 1e-6);
  add(
      "a mapped expression",
      ops::map(x, [](Expr v) { return v * v - 0.5f; }, "Y"), [](double v) { return v * v - 0.5; }, 1e-6);
}

void moves(std::vector<ProgramCase>& cases) {
  const Expr m = var("m"), n = var("n");
  const Tensor x = placeholder({m, n}, DType::f32, "X");
  const Tensor image = placeholder({var("N"), var("C"), var("H"), var("W")}, DType::f32, "X");
  cases.push_back(built_case("transpose from NCHW to NHWC", {in(image)}, ops::transpose(image, "Y", {0, 2, 3, 1}),
                             {floats({2, 5, 7, 9}, 11)}, {2, 7, 9, 5},
                             [](auto& in, auto& i) { return Element{in[0](i[0], i[3], i[1], i[2]), 0}; }));
  const Expr p = var("p"), q = var("q");
  cases.push_back(built_case(
      "reshape to sizes given at run time", {in(x), scalar(p), scalar(q)}, ops::reshape(x, {p, q}, "Y"),
      {floats({6, 35}, 12), scalar_data(DType::i64, 10), scalar_data(DType::i64, 21)}, {10, 21},
      [](auto& in, auto& i) { return Element{in[0](i[0] * 21 + i[1]), 0}; }, 0, {ops::reshape_requirement(x, {p, q})}));
  const Tensor fixed = placeholder({6, 35}, DType::f32, "X");
  cases.push_back(built_case("reshape of a fixed matrix to three dimensions", {in(fixed)},
                             ops::reshape(fixed, {7, 3, 10}, "Y"), {floats({6, 35}, 13)}, {7, 3, 10},
                             [](auto& in, auto& i) { return Element{in[0]((i[0] * 3 + i[1]) * 10 + i[2]), 0}; }));
  cases.push_back(built_case("a strided slice of a matrix", {in(x)}, ops::slice(x, {2, 1}, {3, 2}, {5, 16}, "Y"),
                             {floats({17, 35}, 14)}, {5, 16},
                             [](auto& in, auto& i) { return Element{in[0](2 + i[0] * 3, 1 + i[1] * 2), 0}; }));
  const Tensor box = placeholder({var("a"), var("b"), var("c")}, DType::f32, "X");
  cases.push_back(built_case("padding of three dimensions, different on each side", {in(box)},
                             ops::pad(box, {1, 0, 3}, {2, 1, 2}, "Y", 0.5f), {floats({3, 4, 17}, 15)}, {6, 5, 22},
                             [](auto& in, auto& i) {
                               const Index at{i[0] - 1, i[1], i[2] - 3};
                               const bool inside = at[0] >= 0 && at[0] < 3 && at[1] < 4 && at[2] >= 0 && at[2] < 17;
                               return Element{inside ? in[0].at(at) : 0.5, 0};
                             }));
  cases.push_back(built_case("lower triangles of several matrices", {in(box)}, ops::tril(box, "Y"),
                             {floats({3, 9, 21}, 16)}, {3, 9, 21},
                             [](auto& in, auto& i) { return Element{i[1] >= i[2] ? in[0].at(i) : 0, 0}; }));
}

void reductions(std::vector<ProgramCase>& cases) {
  const Tensor box = placeholder({var("a"), var("b"), var("c")}, DType::f32, "X");
  const Data data = floats({5, 6, 37}, 17);
  const auto term = [](const Arguments& in, const Index& i) {
    return [&in, &i](const Index& r) { return in[0].at({r[0], i[0], r[1]}); };
  };
  cases.push_back(built_case(
      "sum over two of three dimensions", {in(box)}, ops::sum(box, {0, 2}, "Y"), {data}, {6},
      [=](auto& in, auto& i) { return sum_over({5, 37}, term(in, i)); }, 1e-6));
  cases.push_back(built_case(
      "mean over two of three dimensions", {in(box)}, ops::mean(box, {0, 2}, "Y"), {data}, {6},
      [=](auto& in, auto& i) {
        Element sum = sum_over({5, 37}, term(in, i));
        return Element{sum.value / (5 * 37), sum.scale / (5 * 37)};
      },
      1e-6));
  cases.push_back(built_case("the greatest of each column, its dimension kept", {in(box)},
                             ops::max(box, {1}, "Y", true), {data}, {5, 1, 37}, [](auto& in, auto& i) {
                               double most = -INFINITY;
                               for (std::int64_t j = 0; j < 6; ++j) most = std::max(most, in[0].at({i[0], j, i[2]}));
                               return Element{most, 0};
                             }));
  cases.push_back(built_case(
      "the least of everything", {in(box)}, ops::min(box, std::vector<std::size_t>(), "Y"), {data}, {},
      [](auto& in, auto&) { return Element{*std::min_element(in[0].values.begin(), in[0].values.end()), 0}; }));
  const Tensor x = placeholder({var("m"), var("n")}, DType::f32, "X");
  cases.push_back(built_case(
      "row product", {in(x)},
      ops::prod(ops::map(
                    x, [](Expr v) { return v + 1.5f; }, "P"),
                {1}, "Y"),
      {floats({9, 13}, 18)}, {9},
      [](auto& in, auto& i) {
        double product = 1;
        for (std::int64_t j = 0; j < 13; ++j) product *= in[0](i[0], j) + 1.5;
        return Element{product, std::abs(product)};
      },
      3e-6));
  cases.push_back(built_case(
      "row sum of the library", {in(x)}, ops::row_sum(x, "Y"), {floats({9, 131}, 19)}, {9},
      [](auto& in, auto& i) { return sum_over({131}, [&](auto& r) { return in[0](i[0], r[0]); }); }, 1e-6));
}

}  // namespace

std::vector<ProgramCase> elements_cases() {
  std::vector<ProgramCase> cases;
  broadcasts(cases);
  unary(cases);
  moves(cases);
  reductions(cases);
  return cases;
}

}  // namespace ferry::test
