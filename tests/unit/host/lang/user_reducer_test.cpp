#include "ferry/lang/user_reducer.h"

#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/lang/program.h"
#include "host/lang/reference/reference.h"
#include "host/lang/stage.h"
#include "host/lang/text/print_program.h"

#include <cmath>

using namespace ferry;
using namespace ferry::lang;

namespace {

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "nothing was refused";
}

using Parts = std::vector<Expr>;
Parts keep_left(const Parts& left, const Parts&) { return left; }
Parts zeros(const std::vector<ir::Type>& types) { return Parts(types.size(), ir::constant(types[0], 0.0)); }

std::vector<std::string> stage_names(const Program& program) {
  std::vector<std::string> names;
  for (const Tensor& tensor : computed_tensors(program)) names.push_back(tensor.name());
  return names;
}

}  // namespace

TEST_CASE("the components of a tuple share one stage") {
  const Tensor a = placeholder({8, 5}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(5, "k");
  const std::vector<Tensor> best =
      compute_all({8}, [&](auto& i) { return argmax_over(a(i[0], Expr(k)), k, {k}); }, "B");
  REQUIRE(best.size() == 2);
  CHECK(best[0].stage() == best[1].stage());
  CHECK(best[0].dtype() == DType::f32);
  CHECK(best[1].dtype() == DType::i64);
  CHECK(to_text(make_program("f", {in(a), out(best[0]), out(best[1])})) ==
        "f(in f32[8, 5] A, out f32[8] B.0, out i64[8] B.1)\n"
        "  B.0(i0) = argmax(A[i0, k], k; k in 0:5).0\n"
        "  B.1(i0) = argmax(A[i0, k], k; k in 0:5).1\n");
}

TEST_CASE("components of a tuple inside expressions become one stage of all components") {
  const Tensor a = placeholder({8, 5}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(5, "k");
  const Tensor b = compute(
      {8},
      [&](auto& i) {
        const std::vector<Expr> best = argmax_over(a(i[0], Expr(k)), k, {k});
        return best[0] + ir::cast(DType::f32, best[1]);
      },
      "B");
  CHECK(stage_names(make_program("f", {in(a), out(b)})) == std::vector<std::string>{"B.argmax.0", "B.argmax.1", "B"});
}

TEST_CASE("different reductions of one compute_all become stages of their own") {
  const Tensor a = placeholder({8, 5}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(5, "k");
  const std::vector<Tensor> both = compute_all(
      {8}, [&](auto& i) { return Parts{sum(a(i[0], Expr(k)), {k}), max_over(a(i[0], Expr(k)), {k})}; }, "B");
  CHECK(stage_names(make_program("f", {in(a), out(both[0]), out(both[1])})) ==
        std::vector<std::string>{"B.sum", "B.max", "B.0", "B.1"});
}

TEST_CASE("moments keep their precision beside a large mean") {
  constexpr std::int64_t kCount = 1000;
  const Expr n = var("n");
  const Tensor a = placeholder({n}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(n, "k");
  const std::vector<Tensor> parts = compute_all({}, [&](auto&) { return moments_over(a(Expr(k)), {k}); }, "M");
  std::vector<float> values;
  for (int i = 0; i < kCount; ++i) values.push_back(4096.0f + static_cast<float>(i % 2));
  const Program program = make_program("f", {in(a), out(parts[0]), out(parts[1]), out(parts[2])});
  const Reference reference(program, {kCount}, {values.data(), nullptr, nullptr, nullptr});
  CHECK(reference.evaluate(1, 0).real == kCount);
  CHECK(reference.evaluate(2, 0).real == doctest::Approx(4096.5).epsilon(1e-6));
  // Computing from sums of squares in float32 would be wrong by thousands.
  CHECK(reference.evaluate(3, 0).real == doctest::Approx(250).epsilon(1e-3));
}

TEST_CASE("moments of float16 count beyond 2048") {
  constexpr std::int64_t kCount = 5000;
  const Tensor a = placeholder({kCount}, DType::f16, "A");
  const ReduceAxis k = reduce_axis(kCount, "k");
  const std::vector<Tensor> parts = compute_all({}, [&](auto&) { return moments_over(a(Expr(k)), {k}); }, "M");
  CHECK(parts[0].dtype() == DType::f16);
  const std::vector<std::uint16_t> values(kCount, f32_to_f16(1.5f));
  const Program program = make_program("f", {in(a), out(parts[0]), out(parts[1]), out(parts[2])});
  const Reference reference(program, {}, {values.data(), nullptr, nullptr, nullptr});
  CHECK(reference.evaluate(1, 0).real == kCount);
  CHECK(reference.evaluate(2, 0).real == 1.5);
}

TEST_CASE("a reduction may start from a tuple and leave points out") {
  const Tensor a = placeholder({6}, DType::i32, "A"), from = placeholder({1}, DType::i32, "F");
  const auto product =
      comm_reducer([](auto& left, auto& right) { return Parts{left[0] * right[0]}; },
                   [](auto& types) { return Parts{ir::constant(types[0], std::int64_t{1})}; }, "product");
  const ReduceAxis k = reduce_axis(6, "k");
  const Tensor p = compute({1}, [&](auto& i) { return product(a(Expr(k)), {k}, Expr(k) % 2 == 0, from(i[0])); }, "P");
  const std::vector<std::int32_t> values{2, 100, 3, 100, 5, 100}, start{7};
  const Reference reference(make_program("f", {in(a), in(from), out(p)}), {}, {values.data(), start.data(), nullptr});
  CHECK(reference.evaluate(2, 0).integer == 2 * 3 * 5 * 7);
}

TEST_CASE("reducers that cannot work are refused by name") {
  const Tensor a = placeholder({8}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(8, "k");
  const Expr x = a(Expr(k)), other = var("other");
  CHECK(refusal([&] { comm_reducer(keep_left, zeros, "r")(x, {}); }) ==
        "reducer 'r': expected at least one reduction axis");
  CHECK(refusal([&] { comm_reducer([](auto&, auto&) { return Parts{}; }, zeros, "r")(x, {k}); }) ==
        "reducer 'r': expected 1 value as its combination, got 0");
  CHECK(refusal([&] {
          comm_reducer([](auto& l, auto&) { return Parts{ir::cast(DType::i32, l[0])}; }, zeros, "r")(x, {k});
        }) == "reducer 'r': expected f32 of its combination, got i32");
  CHECK(refusal([&] { comm_reducer([&](auto& l, auto&) { return Parts{l[0] * other}; }, zeros, "r")(x, {k}); }) ==
        "reducer 'r': expected a combination of its operands alone, got 'other'");
  CHECK(refusal([&] { comm_reducer([&](auto& l, auto&) { return Parts{l[0] * a(0)}; }, zeros, "r")(x, {k}); }) ==
        "reducer 'r': expected a combination of its operands alone, got a tensor's element");
  CHECK(refusal([&] {
          comm_reducer(keep_left, [&](auto&) { return Parts{ir::cast(DType::f32, other)}; }, "r")(x, {k});
        }) == "reducer 'r': expected constants as its identity");
  CHECK(refusal([&] { comm_reducer(keep_left, zeros, "r")(Parts{x, x}, {k}, {}, {x}); }) ==
        "reducer 'r': expected 2 values to start from, got 1");
  CHECK(refusal([&] { argmax_over(x, x, {k}); }) == "argmax: expected an integer index");
  CHECK(refusal([&] { moments_over(Expr(k), {k}); }) == "moments: expected floats");
}
