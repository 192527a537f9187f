// Tests that programs built in C++ read nothing outside of their tensors.
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "ferry/lang.h"
#include "host/lang/stage.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using namespace ferry::lang;

namespace {

using Indices = std::vector<Expr>;

template <class Make>
std::string refusal(Make make) {
  try {
    make();
  } catch (const CompileError& error) {
    return error.what();
  }
  return "none";
}

const Expr n = var("n"), k = var("k");
const Tensor a = placeholder({n}, DType::f32, "A"), fixed = placeholder({12}, DType::f32, "A");

// The conditions of a program with the output `b`, which reads A and has the scalar k.
std::string requirements(const Tensor& b) {
  std::string text;
  for (const ir::Requirement& requirement : make_program("f", {in(a), scalar(k), out(b)}).requirements)
    text += (text.empty() ? "" : "; ") + ir::to_text(requirement.condition);
  return text;
}

}  // namespace

TEST_CASE("a read that always leaves its tensor is refused where it is defined") {
  CHECK(refusal([] { compute({12}, [](const Indices& i) { return fixed(i[0] + 1); }, "b"); }) ==
        "'b' reads 'A' at i0 + 1, which runs from 1 to 12: expected it to stay within 0:12");
  CHECK(refusal([] { compute({12}, [](const Indices& i) { return fixed(i[0] - 1); }, "b"); }) ==
        "'b' reads 'A' at i0 - 1, which runs from -1 to 10: expected it to stay within 0:12");
  const Tensor rows = placeholder({3, 4}, DType::f32, "rows");
  CHECK(refusal([&] {
          const auto place = [](const Indices& i) { return i[0] * 4 + i[1]; };
          compute({5, 4}, [&](const Indices& i) { return rows(place(i) / 4, place(i) % 4); }, "b");
        }) == "'b' reads 'rows' at (i0 * 4 + i1) / 4, which runs from 0 to 4: expected it to stay within 0:3");
  const ReduceAxis r = reduce_axis(13, "r");
  CHECK(refusal([&] { compute({}, [&](const Indices&) { return sum(fixed(r), {r}); }, "b"); }) ==
        "'b' reads 'A' at r, which runs from 0 to 12: expected it to stay within 0:12");
  // A reduction inside of an expression is a stage of its own.
  CHECK(refusal([&] { compute({}, [&](const Indices&) { return sum(fixed(r), {r}) * 2.0f; }, "b"); }) ==
        "'b.sum' reads 'A' at r, which runs from 0 to 12: expected it to stay within 0:12");
}

TEST_CASE("a read that depends on sizes requires them to fit") {
  CHECK(requirements(compute({n}, [](const Indices& i) { return a(i[0]); }, "b")).empty());
  CHECK(requirements(compute({n}, [](const Indices& i) { return a(n - 1 - i[0]); }, "b")).empty());
  CHECK(requirements(
            compute({n}, [](const Indices& i) { return a(i[0] + k); }, "b")) == "n <= 0 || (k >= 0 && n + k - 1 < n)");
  CHECK(requirements(compute({k}, [](const Indices& i) { return a(i[0]); }, "b")) == "k <= 0 || k - 1 < n");
  // What a stage that others read requires is required too.
  const Tensor first = compute({k}, [](const Indices& i) { return a(i[0]); }, "first");
  CHECK(requirements(compute({k}, [&](const Indices& i) { return first(i[0]) + 1.0f; }, "b")) == "k <= 0 || k - 1 < n");
}

TEST_CASE("conditions guard what they choose, but not what is computed in any case") {
  const auto shifted = [](const Indices& i) { return a(i[0] - 1); };
  const Tensor guarded =
      compute({n}, [&](const Indices& i) { return ir::if_then_else(i[0] >= 1, shifted(i), 0.0f); }, "b");
  CHECK(requirements(guarded).empty());
  CHECK(guarded.stage()->checks.empty());
  CHECK(refusal([&] {
          compute({12}, [&](const Indices& i) { return ir::select(i[0] >= 1, fixed(i[0] - 1), 0.0f); }, "b");
        }) == "'b' reads 'A' at i0 - 1, which runs from -1 to 10: expected it to stay within 0:12");
  const ReduceAxis r = reduce_axis(20, "r");
  const Tensor within =
      compute({}, [&](const Indices&) { return reduce(ir::ReduceOp::sum, fixed(r), {r}, Expr(r) < 12); }, "b");
  CHECK(within.stage()->checks.empty());
}

TEST_CASE("what no requirement says is checked when the kernel runs") {
  const Tensor squares = compute({5}, [](const Indices& i) { return fixed(i[0] * i[0]); }, "b");
  REQUIRE(squares.stage()->checks.size() == 1);
  CHECK(squares.stage()->checks[0].stage()->assertion ==
        "'b' reads 'A' outside its shape: expected i0 * i0 as index 1 to stay within 0:12");
  // A guard that does not suffice.
  const Tensor wrong =
      compute({n}, [](const Indices& i) { return ir::if_then_else(i[0] != 3, a(i[0] - 1), 0.0f); }, "b");
  CHECK(wrong.stage()->checks.size() == 1);
}

TEST_CASE("sequences read earlier elements of their own only where they exist") {
  const auto sums = [](bool is_guarded) {
    return scan(
        {12}, DType::f32, 0,
        [=](const Indices& i, const Tensor& self) {
          const Expr before = self(i[0] - 1);
          return fixed(i[0]) + (is_guarded ? ir::if_then_else(i[0] >= 1, before, 0.0f) : before);
        },
        "b");
  };
  CHECK(sums(true).stage()->checks.empty());
  CHECK(refusal([&] { sums(false); }) ==
        "'b' reads 'b' at i0 - 1, which runs from -1 to 10: expected it to stay within 0:12");
}
