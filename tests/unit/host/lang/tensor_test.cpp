#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/lang/program.h"
#include "host/lang/stage.h"

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

std::vector<std::string> names(const std::vector<Tensor>& tensors) {
  std::vector<std::string> out;
  for (const Tensor& tensor : tensors) out.push_back(tensor.name());
  return out;
}

}  // namespace

TEST_CASE("a computed tensor keeps its axes, shape and type") {
  const Expr n = var("n");
  const Tensor a = placeholder({n, 4}, DType::f16, "A");
  const Tensor b = compute({n}, [&](auto& i) { return a(i[0], 2) + 1.0f; }, "B");
  CHECK(b.dtype() == DType::f16);
  REQUIRE(b.rank() == 1);
  CHECK(b.shape()[0].same_as(n));
  REQUIRE(b.stage() != nullptr);
  CHECK(b.stage()->axes.size() == 1);
  CHECK(a.stage() == nullptr);
}

TEST_CASE("a reduction at the top stays in its stage") {
  const Expr n = var("n"), m = var("m");
  const Tensor a = placeholder({n, m}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(m, "k");
  const Tensor b = compute({n}, [&](auto& i) { return sum(a(i[0], k), {k}); }, "B");
  const Program program = make_program("row_sum", {in(a), out(b)});
  CHECK(names(computed_tensors(program)) == std::vector<std::string>{"B"});
  CHECK(b.stage()->values[0].as<ir::Reduce>() != nullptr);
}

TEST_CASE("a reduction inside an expression becomes a stage over the axes it uses") {
  const Expr n = var("n"), m = var("m");
  const Tensor a = placeholder({n, m}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(m, "k");
  const Tensor b = compute({n, m}, [&](auto& i) { return a(i[0], i[1]) / sum(a(i[0], k), {k}); }, "B");
  const Program program = make_program("normalize", {in(a), out(b)});
  const std::vector<Tensor> stages = computed_tensors(program);
  REQUIRE(names(stages) == std::vector<std::string>{"B.sum", "B"});
  REQUIRE(stages[0].rank() == 1);
  CHECK(stages[0].shape()[0].same_as(n));
}

TEST_CASE("a reduction used twice in an expression is computed once") {
  const Tensor a = placeholder({8}, DType::f32, "A");
  const ReduceAxis k = reduce_axis(8, "k");
  const Expr total = sum(a(k), {k});
  const Tensor b = compute({}, [&](auto&) { return total * total; }, "B");
  CHECK(names(computed_tensors(make_program("f", {in(a), out(b)}))) == std::vector<std::string>{"B.sum", "B"});
}

TEST_CASE("a reduction inside a reduction becomes a stage over the outer reduction's axis") {
  const Tensor a = placeholder({8, 5}, DType::f32, "A");
  const ReduceAxis i = reduce_axis(8, "i"), j = reduce_axis(5, "j");
  const Tensor b = compute({}, [&](auto&) { return max_over(sum(a(i, j), {j}), {i}); }, "B");
  const std::vector<Tensor> stages = computed_tensors(make_program("f", {in(a), out(b)}));
  REQUIRE(names(stages) == std::vector<std::string>{"B.sum", "B"});
  REQUIRE(stages[0].rank() == 1);
  CHECK(ir::is_constant(stages[0].shape()[0], 8));
}

TEST_CASE("several outputs of one stage stand together") {
  const Tensor a = placeholder({8}, DType::f32, "A");
  const std::vector<Tensor> both =
      compute_all({8}, [&](auto& i) { return std::vector<Expr>{a(i[0]) + 1.0f, a(i[0]) * 2.0f}; }, "B");
  const Tensor c = compute({8}, [&](auto& i) { return both[1](i[0]) + both[0](i[0]); }, "C");
  CHECK(names(computed_tensors(make_program("f", {in(a), out(c)}))) == std::vector<std::string>{"B.0", "B.1", "C"});
}

TEST_CASE("sizes come before the scalars that bounds use") {
  const Expr n = var("n"), m = var("m"), count = var("count"), alpha = var("alpha", DType::f32), unused = var("unused");
  const Tensor a = placeholder({n, m}, DType::f32, "A");
  const Tensor b = compute({count}, [&](auto& i) { return a(i[0], 0) * alpha + unused; }, "B");
  const Program program = make_program("f", {scalar(unused), scalar(count), scalar(alpha), in(a), out(b)});
  const std::vector<Expr> symbols = symbols_of(program);
  REQUIRE(symbols.size() == 3);
  CHECK(symbols[0].same_as(n));
  CHECK(symbols[1].same_as(m));
  CHECK(symbols[2].same_as(count));
}

TEST_CASE("a wrong number of indices is refused in the tensor's name") {
  const Tensor a = placeholder({4, 4}, DType::f32, "A");
  CHECK(refusal([&] { a(Expr(1)); }) == "'A': expected 2 indices, got 1");
  CHECK(refusal([&] { a(Expr(1), Expr(1.5f)); }) == "'A': expected an integer as index 2, got f32");
}

TEST_CASE("programs that cannot be called are refused in the user's own names") {
  const Expr n = var("n"), m = var("m"), small = var("small", DType::i32);
  const Tensor a = placeholder({n}, DType::f32, "A"), b = placeholder({n + 1}, DType::f32, "B");
  const Tensor c = compute({n}, [&](auto& i) { return a(i[0]) + b(i[0]); }, "C");
  CHECK(refusal([&] { make_program("f", {in(a), out(c)}); }) ==
        "f: 'B' is read, but it is neither a parameter nor computed");
  CHECK(refusal([&] { make_program("f", {in(b), out(c)}); }) ==
        "f: the shape of 'B' uses 'n', which is neither a whole dimension of an input nor a scalar parameter");
  CHECK(refusal([&] { make_program("f", {in(a), in(a), out(c)}); }) ==
        "f: expected different names, got two things called 'A'");
  CHECK(refusal([&] { make_program("f", {in(a), in(b)}); }) == "f: expected at least one output");
  CHECK(refusal([&] { make_program("f", {in(a), in(c)}); }) == "f: 'C' is computed, so it cannot be an input");
  CHECK(refusal([&] { make_program("f", {in(a), out(b)}); }) == "f: 'B' is an output, but nothing computes it");
  const Tensor d = compute({n}, [&](auto& i) { return a(i[0]) * m; }, "D");
  CHECK(refusal([&] { make_program("f", {in(a), out(d)}); }) ==
        "f: 'D' uses 'm', which is neither one of its axes, a size of an input nor a scalar parameter");
  const Tensor e = compute({small}, [&](auto& i) { return a(i[0]); }, "E");
  CHECK(refusal([&] { make_program("f", {in(a), scalar(small), out(e)}); }) ==
        "f: the shape of 'E' uses 'small': expected an int64 parameter, got i32");
}

TEST_CASE("an expression that only looks small is refused before anything walks it") {
  const Tensor a = placeholder({4}, DType::f32, "A");
  const std::string text = refusal([&] {
    compute(
        {4},
        [&](auto& i) {
          Expr value = a(i[0]);
          for (int step = 0; step < 60; ++step) value = value + value;
          return value;
        },
        "B");
  });
  CHECK(text == "'B': the definition has more than 200000 operations; compute a shared part as a tensor of its own");
}

TEST_CASE("a chain of tensors too long to take apart is refused") {
  Tensor last = placeholder({4}, DType::f32, "A");
  const std::string text = refusal([&] {
    for (int step = 0; step < 20'000; ++step) {
      last = compute({4}, [&](auto& i) { return last(i[0]) + 1.0f; }, "B" + std::to_string(step));
    }
  });
  CHECK(text.find("the chain of computations it depends on is too long") != std::string::npos);
}

TEST_CASE("an updated tensor keeps its dtype and shape") {
  const Expr n = var("n");
  const Tensor c = placeholder({n}, DType::f32, "C");
  const Tensor ok = compute({n}, [&](auto& i) { return c(i[0]) * 2.0f; }, "C2");
  const Tensor bad = compute({n}, [&](auto& i) { return ir::cast(DType::f64, c(i[0])); }, "C3");
  CHECK(make_program("f", {inout(c, ok)}).parameters[0].name == "C");
  CHECK(refusal([&] { make_program("f", {inout(c, bad)}); }) ==
        "f: 'C': expected the updated tensor to keep its dtype and shape");
}
