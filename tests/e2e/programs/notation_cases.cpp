// Cases for the C++ notation: one definition for any rank, several outputs, conditions, reductions of every kind.
#include <cmath>

#include "tests/e2e/programs/built_case.h"

namespace ferry::test {

namespace {

using lang::compute;
using lang::Expr;
using lang::in;
using lang::placeholder;
using lang::reduce_axis;
using lang::ReduceAxis;
using lang::scalar;
using lang::Tensor;
using lang::var;

std::vector<Expr> sizes(std::size_t rank) {
  std::vector<Expr> shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(var("n" + std::to_string(d)));
  return shape;
}

void any_rank(std::vector<ProgramCase>& cases) {
  const auto twice_and_one = [](const Tensor& a) {
    return compute(a.shape(), [&](auto& i) { return a(i) * 2.0f + 1.0f; }, "B");
  };
  for (const Index& shape : {Index{}, {37}, {5, 19}, {2, 3, 5, 7}, {2, 1, 3, 1, 2, 2, 1, 5}}) {
    const Tensor a = placeholder(sizes(shape.size()), DType::f32, "A");
    cases.push_back(built_case(
        "one definition for rank " + std::to_string(shape.size()), {in(a)}, twice_and_one(a), {floats(shape, 1)}, shape,
        [](auto& in, auto& i) { return Element{in[0].at(i) * 2 + 1, 3}; }, 1e-7));
  }
  const Tensor a = placeholder(sizes(8), DType::i32, "A");
  const Tensor mirrored =
      compute({a.shape().rbegin(), a.shape().rend()}, [&](auto& i) { return a({i.rbegin(), i.rend()}); }, "B");
  cases.push_back(built_case("eight dimensions reversed", {in(a)}, mirrored,
                             {random_data(DType::i32, {2, 1, 3, 1, 2, 2, 3, 5}, 2)}, {5, 3, 2, 2, 1, 3, 1, 2},
                             [](auto& in, auto& i) { return Element{in[0].at({i.rbegin(), i.rend()}), 0}; }));
}

void conditions(std::vector<ProgramCase>& cases) {
  const Expr n = var("n"), m = var("m"), p = var("p");
  const Tensor a = placeholder({n, m}, DType::f32, "A");
  const Tensor padded = compute(
      {n + p * 2, m + p * 2},
      [&](auto& i) {
        const Expr outside = lang::any_of({i[0] < p, i[0] >= n + p, i[1] < p, i[1] >= m + p});
        return ir::if_then_else(outside, 0.0f, a(i[0] - p, i[1] - p));
      },
      "P");
  cases.push_back(built_case("zero padding with any(...) by an argument", {in(a), scalar(p)}, padded,
                             {floats({5, 19}, 3), scalar_data(DType::i64, 3)}, {11, 25}, [](auto& in, auto& i) {
                               const bool inside = i[0] >= 3 && i[0] < 8 && i[1] >= 3 && i[1] < 22;
                               return Element{inside ? in[0](i[0] - 3, i[1] - 3) : 0, 0};
                             }));
  const Tensor banded = compute(
      {n, m},
      [&](auto& i) {
        const Expr inside = lang::all_of({i[1] >= i[0] - 1, i[1] <= i[0] + 1, i[0] != i[1] || i[0] % 2 == 0});
        return ir::select(inside, a(i), -a(i) * 0.5f);
      },
      "B");
  cases.push_back(built_case("a band chosen with all(...), comparisons and logic", {in(a)}, banded,
                             {floats({9, 21}, 4)}, {9, 21}, [](auto& in, auto& i) {
                               const bool inside = std::abs(i[1] - i[0]) <= 1 && (i[0] != i[1] || i[0] % 2 == 0);
                               return Element{in[0].at(i) * (inside ? 1 : -0.5), 0};
                             }));
}

void indices(std::vector<ProgramCase>& cases) {
  const Expr n = var("n"), b = var("b"), s = var("s");
  const Tensor a = placeholder({n}, DType::i32, "A");
  const Tensor clamped = compute({n}, [&](auto& i) { return a(ir::min(ir::max(i[0] - 3, 0), n - 5)) * 2; }, "B");
  cases.push_back(built_case("an index kept inside by min and max", {in(a)}, clamped,
                             {random_data(DType::i32, {41}, 5)}, {41}, [](auto& in, auto& i) {
                               return Element{
                                   in[0](std::min<std::int64_t>(std::max<std::int64_t>(i[0] - 3, 0), 36)) * 2, 0};
                             }));
  const Tensor shuffled =
      compute({n}, [&](auto& i) { return a(ir::select(i[0] % 2 == 0, i[0] / 2, n - 1 - i[0] / 2)); }, "B");
  cases.push_back(
      built_case("an index chosen by a remainder", {in(a)}, shuffled, {random_data(DType::i32, {40}, 6)}, {40},
                 [](auto& in, auto& i) { return Element{in[0](i[0] % 2 == 0 ? i[0] / 2 : 39 - i[0] / 2), 0}; }));
  const Tensor slice = compute({(n - b) / s}, [&](auto& i) { return a(b + i[0] * s); }, "B");
  cases.push_back(built_case("a slice whose length follows from its arguments", {in(a), scalar(b), scalar(s)}, slice,
                             {random_data(DType::i32, {50}, 7), scalar_data(DType::i64, 4), scalar_data(DType::i64, 7)},
                             {6}, [](auto& in, auto& i) { return Element{in[0](4 + i[0] * 7), 0}; }));
}

void reductions(std::vector<ProgramCase>& cases) {
  const Expr n = var("n"), m = var("m"), k = var("k");
  const Tensor a = placeholder({n, m, k}, DType::f32, "A");
  {
    const ReduceAxis x = reduce_axis(n, "x"), y = reduce_axis(k, "y");
    const Tensor sums = compute({m}, [&](auto& i) { return lang::sum(a(x, i[0], y), {x, y}); }, "S");
    cases.push_back(built_case(
        "a sum over the first and the last of three dimensions", {in(a)}, sums, {floats({7, 13, 9}, 8)}, {13},
        [](auto& in, auto& i) { return sum_over({7, 9}, [&](auto& r) { return in[0].at({r[0], i[0], r[1]}); }); },
        1e-6));
  }
  {
    const ReduceAxis x = reduce_axis(n, "x"), y = reduce_axis(m, "y"), z = reduce_axis(k, "z");
    const Tensor total = compute({}, [&](auto&) { return lang::sum(a(x, y, z), {x, y, z}); }, "S");
    cases.push_back(built_case(
        "a full sum of floats to a scalar", {in(a)}, total, {floats({7, 13, 9}, 9)}, {},
        [](auto& in, auto&) { return sum_over({7, 13, 9}, [&](auto& r) { return in[0].at(r); }); }, 1e-6));
  }
  const Tensor flags = placeholder({n, m}, DType::boolean, "A");
  for (const bool all : {false, true}) {
    const ReduceAxis y = reduce_axis(m, "y");
    const Tensor rows = compute(
        {n},
        [&](auto& i) {
          const Expr hit = flags(i[0], y) && Expr(y) % 3 == i[0] % 3;
          return all ? lang::all_over(!hit, {y}) : lang::any_over(hit, {y});
        },
        "R");
    cases.push_back(built_case(all ? "all of a row of conditions" : "any of a row of conditions", {in(flags)}, rows,
                               {random_data(DType::boolean, {33, 7}, 10)}, {33}, [all](auto& in, auto& i) {
                                 bool any = false;
                                 for (std::int64_t j = 0; j < 7; ++j)
                                   any = any || (in[0](i[0], j) != 0 && j % 3 == i[0] % 3);
                                 return Element{any != all ? 1.0 : 0.0, 0};
                               }));
  }
}

// C reads B in two ways, and both are outputs.
void several_outputs(std::vector<ProgramCase>& cases) {
  const Expr n = var("n");
  const Tensor a = placeholder({n}, DType::f32, "A");
  const std::vector<Tensor> both = lang::compute_all(
      {n}, [&](auto& i) { return std::vector<Expr>{a(i[0]) * 3.0f, ir::cast(DType::i32, a(i[0]) * 8.0f)}; }, "B");
  const Tensor c =
      compute({n}, [&](auto& i) { return both[0](i[0]) + ir::cast(DType::f32, both[1](n - 1 - i[0])); }, "C");
  ProgramCase program;
  program.name = "several outputs from one definition, read by another";
  program.arguments = {floats({71}, 11)};
  program.tolerance = 1e-6;
  program.built = lang::make_program("f", {in(a), lang::out(both[0]), lang::out(both[1]), lang::out(c)});
  program.reference = [](const Arguments& in) {
    const auto whole = [&](std::int64_t i) { return std::trunc(in[0](i) * 8); };
    return std::vector<Expected>{
        each(DType::f32, {71}, [&](const Index& i) { return Element{in[0](i[0]) * 3, 3}; }),
        each(DType::i32, {71}, [&](const Index& i) { return Element{whole(i[0]), 0}; }),
        each(DType::f32, {71}, [&](const Index& i) { return Element{in[0](i[0]) * 3 + whole(70 - i[0]), 10}; })};
  };
  cases.push_back(std::move(program));
}

}  // namespace

std::vector<ProgramCase> notation_cases() {
  std::vector<ProgramCase> cases;
  any_rank(cases);
  conditions(cases);
  indices(cases);
  reductions(cases);
  several_outputs(cases);
  return cases;
}

}  // namespace ferry::test
