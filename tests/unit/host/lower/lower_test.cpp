#include "host/lower/lower.h"
#include "ferry/schedule/default_schedule.h"

#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/ir/substitute.h"
#include "crosscompile/ir/validator.h"
#include "crosscompile/passes/pipeline.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "tests/support/kernel_arguments.h"
#include "tests/support/schedules/cpu_with_vectors.h"
#include "tests/support/schedules/scheduled.h"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>

using namespace ferry;
using namespace ferry::lang;
using ferry::test::KernelArguments;

namespace {

const std::vector<Target>& targets() {
  static const std::vector<Target> all = {test::cpu_with_vectors(128), test::cpu_with_vectors(256),
                                          test::cpu_with_vectors(512)};
  return all;
}

ir::Function lower_by_default(const Program& program, const Target& target) {
  return lower::lower(program, autoschedule::default_schedule(program, target));
}

using Sizes = std::map<std::string, std::int64_t>;

// Runs the program lowered for each target, before and after the pipeline, and passes the memory to `check`.
void run_everywhere(const Program& program, const Sizes& sizes, const std::function<void(KernelArguments&)>& check) {
  for (const Target& target : targets()) {
    const ir::Function lowered = lower_by_default(program, target);
    ir::validate(lowered, "lower");
    const ir::Function passed = passes::run_pipeline(lowered, target);
    for (const ir::Function* function : {&lowered, &passed}) {
      KernelArguments arguments(*function, sizes);
      INFO(target.vector_bits << "-bit vectors, " << (function == &lowered ? "as lowered" : "after the passes") << "\n"
                              << ir::to_text(*function));
      REQUIRE(ir::interpret(*function, arguments.pointers()) == 0);
      check(arguments);
    }
  }
}

// Compares an f32 result with a formula in double; `scale` is the sum of the terms' magnitudes.
void check_element(float got, double expected, double scale, std::int64_t at) {
  INFO("element " << at << ": expected " << expected << ", got " << got);
  CHECK(std::abs(got - expected) <= 1e-5 * (scale + 1e-30));
}

}  // namespace

TEST_CASE("vector add works for any length, also none") {
  const Expr n = var("n");
  const Tensor a = placeholder({n}, DType::f32, "A"), b = placeholder({n}, DType::f32, "B");
  const Tensor c = compute({n}, [&](auto& i) { return a(i[0]) + b(i[0]); }, "C");
  const Program program = make_program("vector_add", {in(a), in(b), out(c)});
  for (std::int64_t size : {0, 1, 3, 16, 17, 63, 1000}) {
    run_everywhere(program, {{"n", size}}, [&](KernelArguments& memory) {
      for (std::int64_t i = 0; i < size; ++i)
        CHECK(memory.data<float>("C")[i] == memory.data<float>("A")[i] + memory.data<float>("B")[i]);
    });
  }
}

TEST_CASE("a matrix product is right at every odd size") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  const Tensor a = placeholder({m, k}, DType::f32, "A"), b = placeholder({k, n}, DType::f32, "B");
  const ReduceAxis kk = reduce_axis(k, "kk");
  const Tensor c = compute({m, n}, [&](auto& i) { return sum(a(i[0], Expr(kk)) * b(Expr(kk), i[1]), {kk}); }, "C");
  const Program program = make_program("mm", {in(a), in(b), out(c)});
  for (const auto& [sm, sn, sk] : {std::tuple{1, 1, 1}, {5, 7, 3}, {17, 33, 9}, {29, 65, 0}, {2, 100, 31}}) {
    run_everywhere(program, {{"m", sm}, {"n", sn}, {"k", sk}}, [&, sm = sm, sn = sn, sk = sk](KernelArguments& memory) {
      for (int i = 0; i < sm; ++i) {
        for (int j = 0; j < sn; ++j) {
          double expected = 0, scale = 0;
          for (int l = 0; l < sk; ++l) {
            const double term = double(memory.data<float>("A")[i * sk + l]) * memory.data<float>("B")[l * sn + j];
            expected += term;
            scale += std::abs(term);
          }
          check_element(memory.data<float>("C")[i * sn + j], expected, scale, i * sn + j);
        }
      }
    });
  }
}

TEST_CASE("a product with a transposed matrix reduces in vectors and keeps every row") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  const Tensor a = placeholder({m, k}, DType::f32, "A"), b = placeholder({n, k}, DType::f32, "B");
  const ReduceAxis kk = reduce_axis(k, "kk");
  const Tensor c = compute({m, n}, [&](auto& i) { return sum(a(i[0], Expr(kk)) * b(i[1], Expr(kk)), {kk}); }, "C");
  const Program program = make_program("mm_nt", {in(a), in(b), out(c)});
  for (const auto& [sm, sn, sk] : {std::tuple{1, 1, 1}, {5, 9, 70}, {3, 17, 33}}) {
    run_everywhere(program, {{"m", sm}, {"n", sn}, {"k", sk}}, [&, sm = sm, sn = sn, sk = sk](KernelArguments& memory) {
      for (int i = 0; i < sm * sn; ++i) {
        double expected = 0, scale = 0;
        for (int l = 0; l < sk; ++l) {
          const double term =
              double(memory.data<float>("A")[i / sn * sk + l]) * memory.data<float>("B")[i % sn * sk + l];
          expected += term;
          scale += std::abs(term);
        }
        check_element(memory.data<float>("C")[i], expected, scale, i);
      }
    });
  }
}

TEST_CASE("rows of integers are reduced exactly by sum, prod, min and max") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = placeholder({m, n}, DType::i32, "A");
  auto reduce = [&](auto function, const char* name) {
    const ReduceAxis k = reduce_axis(n, "k");
    return compute({m}, [&](auto& i) { return function(a(i[0], Expr(k)), {k}); }, name);
  };
  const Program program = make_program("reductions", {in(a), out(reduce(sum, "S")), out(reduce(prod, "P")),
                                                      out(reduce(min_over, "L")), out(reduce(max_over, "H"))});
  for (std::int64_t columns : {0, 1, 15, 64, 131}) {
    run_everywhere(program, {{"m", 3}, {"n", columns}}, [&](KernelArguments& memory) {
      for (std::int64_t i = 0; i < 3; ++i) {
        std::uint32_t total = 0, product = 1;
        std::int32_t low = INT32_MAX, high = INT32_MIN;
        for (std::int64_t j = 0; j < columns; ++j) {
          const std::int32_t value = memory.data<std::int32_t>("A")[i * columns + j];
          total += static_cast<std::uint32_t>(value);
          product *= static_cast<std::uint32_t>(value);
          low = std::min(low, value);
          high = std::max(high, value);
        }
        CHECK(memory.data<std::uint32_t>("S")[i] == total);
        CHECK(memory.data<std::uint32_t>("P")[i] == product);
        CHECK(memory.data<std::int32_t>("L")[i] == low);
        CHECK(memory.data<std::int32_t>("H")[i] == high);
      }
    });
  }
}

TEST_CASE("a full sum needs no axes") {
  const Expr m = var("m"), n = var("n");
  const Tensor a = placeholder({m, n}, DType::i64, "A");
  const ReduceAxis i = reduce_axis(m, "i"), j = reduce_axis(n, "j");
  const Tensor s = compute({}, [&](auto&) { return sum(a(Expr(i), Expr(j)), {i, j}); }, "S");
  run_everywhere(make_program("total", {in(a), out(s)}), {{"m", 7}, {"n", 37}}, [&](KernelArguments& memory) {
    std::int64_t expected = 0;
    for (std::int64_t x = 0; x < memory.size("A"); ++x) expected += memory.data<std::int64_t>("A")[x];
    CHECK(memory.data<std::int64_t>("S")[0] == expected);
  });
}

TEST_CASE("a padded convolution agrees with plain loops") {
  constexpr int kC = 3, kO = 5, kH = 9, kW = 19, kStride = 2;
  const Tensor image = placeholder({1, kC, kH, kW}, DType::f32, "I");
  const Tensor weights = placeholder({kO, kC, 3, 3}, DType::f32, "K");
  const Tensor padded = compute(
      {1, kC, kH + 2, kW + 2},
      [&](auto& i) {
        return ir::if_then_else(i[2] >= Expr(1) && i[2] < Expr(kH + 1) && i[3] >= Expr(1) && i[3] < Expr(kW + 1),
                                image(i[0], i[1], i[2] - Expr(1), i[3] - Expr(1)), ir::constant(DType::f32, 0.0));
      },
      "P");
  const ReduceAxis c = reduce_axis(kC, "c"), r = reduce_axis(3, "r"), s = reduce_axis(3, "s");
  constexpr int kOutH = (kH - 1) / kStride + 1, kOutW = (kW - 1) / kStride + 1;
  const Tensor result = compute(
      {1, kO, kOutH, kOutW},
      [&](auto& i) {
        return sum(padded(i[0], Expr(c), i[2] * Expr(kStride) + Expr(r), i[3] * Expr(kStride) + Expr(s)) *
                       weights(i[1], Expr(c), Expr(r), Expr(s)),
                   {c, r, s});
      },
      "Y");
  run_everywhere(make_program("conv", {in(image), in(weights), out(result)}), {}, [&](KernelArguments& memory) {
    for (int o = 0; o < kO; ++o)
      for (int y = 0; y < kOutH; ++y)
        for (int x = 0; x < kOutW; ++x) {
          double expected = 0, scale = 0;
          for (int ci = 0; ci < kC; ++ci)
            for (int ry = 0; ry < 3; ++ry)
              for (int sx = 0; sx < 3; ++sx) {
                const int h = y * kStride + ry - 1, w = x * kStride + sx - 1;
                if (h < 0 || w < 0 || h >= kH || w >= kW) continue;
                const double term = double(memory.data<float>("I")[(ci * kH + h) * kW + w]) *
                                    memory.data<float>("K")[((o * kC + ci) * 3 + ry) * 3 + sx];
                expected += term;
                scale += std::abs(term);
              }
          const int at = (o * kOutH + y) * kOutW + x;
          check_element(memory.data<float>("Y")[at], expected, scale, at);
        }
  });
}

TEST_CASE("an updated parameter keeps what it held before") {
  const Expr n = var("n"), m = var("m");
  const Tensor a = placeholder({n, m}, DType::i32, "A"), before = placeholder({n}, DType::i32, "C");
  const ReduceAxis k = reduce_axis(m, "k");
  auto reducer = ir::make_reducer(ir::ReduceOp::sum, DType::i32);
  const Tensor after = compute(
      {n}, [&](auto& i) { return ir::Reduce::make(reducer, {a(i[0], Expr(k))}, {k.axis()}, {}, {before(i[0])}); }, "C");
  const Program program = make_program("accumulate", {in(a), inout(before, after)});
  for (std::int64_t columns : {0, 1, 70}) {
    const Sizes sizes = {{"n", 11}, {"m", columns}};
    const ir::Function lowered = lower_by_default(program, targets()[1]);
    KernelArguments original(lowered, sizes);
    run_everywhere(program, sizes, [&](KernelArguments& memory) {
      for (std::int64_t i = 0; i < 11; ++i) {
        std::int32_t expected = original.data<std::int32_t>("C")[i];
        for (std::int64_t j = 0; j < columns; ++j) expected += memory.data<std::int32_t>("A")[i * columns + j];
        CHECK(memory.data<std::int32_t>("C")[i] == expected);
      }
    });
  }
}

TEST_CASE("a parameter replaced by a mirror image of itself is copied first") {
  const Expr n = var("n");
  const Tensor before = placeholder({n}, DType::i32, "C");
  const Tensor after = compute({n}, [&](auto& i) { return before(n - Expr(1) - i[0]); }, "C");
  const Program program = make_program("mirror", {inout(before, after)});
  const Sizes sizes = {{"n", 37}};
  KernelArguments original(lower_by_default(program, targets()[0]), sizes);
  run_everywhere(program, sizes, [&](KernelArguments& memory) {
    for (std::int64_t i = 0; i < 37; ++i)
      CHECK(memory.data<std::int32_t>("C")[i] == original.data<std::int32_t>("C")[36 - i]);
  });
}

TEST_CASE("the useful arithmetic of a matrix product is two operations a term") {
  const Expr m = var("m"), n = var("n"), k = var("k");
  const Tensor a = placeholder({m, k}, DType::f32, "A"), b = placeholder({k, n}, DType::f32, "B");
  const ReduceAxis kk = reduce_axis(k, "kk");
  const Tensor c = compute({m, n}, [&](auto& i) { return sum(a(i[0], Expr(kk)) * b(Expr(kk), i[1]), {kk}); }, "C");
  const ir::Function function = lower_by_default(make_program("mm", {in(a), in(b), out(c)}), targets()[0]);
  CHECK(passes::can_prove(function.flops == m * n * k * Expr(2)));
}

TEST_CASE("a sum over two negative extents has no arithmetic") {
  const Expr m = var("m"), n = var("n");
  const ReduceAxis r = reduce_axis(m - 5, "r"), s = reduce_axis(n - 5, "s");
  const Tensor c = compute({4}, [&](auto&) { return sum(cast(DType::f32, Expr(r) + Expr(s)), {r, s}); }, "C");
  const ir::Function function = lower_by_default(make_program("f", {scalar(m), scalar(n), out(c)}), targets()[0]);
  CHECK(passes::can_prove(ir::substitute(function.flops, {{m.get(), 0}, {n.get(), 0}}) == 0));
  CHECK(passes::can_prove(ir::substitute(function.flops, {{m.get(), 7}, {n.get(), 8}}) > 0));
}

TEST_CASE("a sum leaves out what is 0 for a whole tile, and only that") {
  const std::string source =
      "def f(float(8) A) -> (B) {\n"
      "  B(h) +=! h + k >= 1 && h + k <= 8 ? A(h + k - 1) : 0 where h in 0:8, k in 0:3\n}";
  CHECK_MESSAGE(test::lowered_text(source, "").find("if (h + k >= 1 && h + k <= 8)") != std::string::npos,
                test::lowered_text(source, ""));
  test::check_schedule(source, "");
  // The condition differs between lanes.
  CHECK(test::lowered_text(source, "B: vectorize h").find("if (") == std::string::npos);
  test::check_schedule(source, "B: vectorize h");
  // With an initial value of -0, adding 0 changes the result.
  const std::string update = "def f(float(8) C, float(8) A) -> (C) { C(h) += h + k >= 9 ? A(h) : 0 where k in 0:3 }";
  CHECK(test::lowered_text(update, "").find("if (") == std::string::npos);
}
