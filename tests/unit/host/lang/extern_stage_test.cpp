#include "ferry/lang/extern_stage.h"

#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "ferry/lang/program.h"
#include "host/lang/reference/reference.h"
#include "host/lang/stage.h"

#include <functional>

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

Tensor doubled(const Tensor& a, std::vector<ExternArgument> arguments) {
  return extern_stage(a.shape(), [&](auto& i) { return a(i) * 2.0f; }, "twice", std::move(arguments), "B");
}

}  // namespace

TEST_CASE("a C function's stage is evaluated by what it says it computes") {
  const Tensor a = placeholder({3}, DType::f32, "A"), b = doubled(a, {a, Expr(3)});
  REQUIRE(b.stage()->external != nullptr);
  CHECK(b.stage()->external->name == "twice");
  const std::vector<float> values{0.5f, -1.0f, 4.0f};
  const Reference reference(make_program("f", {in(a), out(b)}), {}, {values.data(), nullptr});
  for (std::size_t i = 0; i < 3; ++i) CHECK(reference.evaluate(1, i).real == 2.0 * static_cast<double>(values[i]));
}

TEST_CASE("a C function gets the tensors that its result is made of, and no others") {
  const Expr n = var("n"), s = var("s");
  const Tensor a = placeholder({n}, DType::f32, "A"), other = placeholder({n}, DType::f32, "X");
  CHECK(refusal([&] { doubled(a, {n}); }) ==
        "'B': 'twice': expected 'A', which the result is made of, among the arguments");
  CHECK(refusal([&] { doubled(a, {a, other}); }) ==
        "'B': 'twice': expected the result to be made of 'X', which is among the arguments");
  const Tensor view = placeholder({n}, DType::f32, "V", {s});
  CHECK(refusal([&] { doubled(view, {view}); }) == "'B': 'twice': expected dense tensors, got 'V', which has strides");
}

TEST_CASE("a C function gets numbers that are known before the kernel runs") {
  const Expr n = var("n");
  const Tensor a = placeholder({n}, DType::f32, "A");
  CHECK(refusal([&] { doubled(a, {a, a(0)}); }) ==
        "'B': 'twice': expected tensors, and numbers made of sizes and scalar parameters, as arguments");
  CHECK(refusal([&] { doubled(a, {a, var("h", DType::f16)}); }) ==
        "'B': 'twice': expected tensors, and numbers made of sizes and scalar parameters, as arguments");
  CHECK(refusal([&] { make_program("f", {in(a), out(doubled(a, {a, var("w", DType::f32)}))}); }) ==
        "f: 'B' hands 'w' to 'twice', which is neither a size of an input nor a scalar parameter");
  CHECK(refusal([&] { extern_stage({n}, [&](auto& i) { return a(i); }, "not a name", {a}, "B"); }).find("C function") !=
        std::string::npos);
}
