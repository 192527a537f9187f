#include "ferry/lang/math.h"

#include <doctest/doctest.h>

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "ferry/lang/program.h"
#include "host/lang/reference/reference.h"

#include <cmath>
#include <functional>
#include <set>

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

std::set<std::string> exported() {
  std::set<std::string> names;
#define FERRY_SYMBOL(name, architectures) \
  if (std::string(#architectures) == "any") names.insert(#name);
#include "module/symbols.def"
#undef FERRY_SYMBOL
  return names;
}

}  // namespace

TEST_CASE("every function of the language is a function of expressions") {
  const Expr x = var("x", DType::f32), n = var("n", DType::i32);
  CHECK(ir::to_text(lang::exp(x)) == "exp(x)");
  CHECK(ir::to_text(lang::atan2(x, 2.0f)) == "atan2(x, 2.0f)");
  CHECK(ir::to_text(lang::popcount(n)) == "popcount(n)");
  CHECK(lang::sqrt(n).type() == ir::Type(DType::f32));
  CHECK(lang::gelu(var("h", DType::f16)).type() == ir::Type(DType::f16));
  CHECK(lang::gelu(n).type() == ir::Type(DType::f32));
}

TEST_CASE("every C function that can be called is one that devices offer") {
  const std::set<std::string> offered = exported();
  for (const std::string& name : extern_names()) {
    INFO(name);
    CHECK(offered.contains(name));
    CHECK(is_extern(name));
  }
  CHECK(!is_extern("memcpy"));
}

TEST_CASE("a C function that is not there is refused with the nearest that is") {
  const Expr x = var("x", DType::f32);
  CHECK(extern_call("cosf", {var("n", DType::i32)}).type() == ir::Type(DType::f32));
  CHECK(extern_call("cos", {x}).type() == ir::Type(DType::f64));
  CHECK(refusal([&] { extern_call("cosff", {x}); }) ==
        "'cosff' is no C function on numbers that devices offer; did you mean 'cosf'?");
  CHECK(refusal([&] { extern_call("printf", {x}); }).find("'printf' is no C function") == 0);
  CHECK(refusal([&] { extern_call("powf", {x}); }) == "'powf': expected 2 arguments, got 1");
  CHECK(refusal([&] { extern_call("cosf", {x > 0.0f}); }) == "'cosf': expected numbers as arguments");
}

TEST_CASE("the reference evaluator knows C functions") {
  const Tensor a = placeholder({3}, DType::f32, "A");
  const Tensor b =
      compute({3}, [&](auto& i) { return extern_call("roundevenf", {a(i)}) + extern_call("tanhf", {a(i)}); }, "B");
  const std::vector<float> values{0.5f, 1.5f, -2.5f};
  const Reference reference(make_program("f", {in(a), out(b)}), {}, {values.data(), nullptr});
  for (std::size_t i = 0; i < 3; ++i) {
    const double x = static_cast<double>(values[i]);
    CHECK(reference.evaluate(1, i).real == doctest::Approx(std::nearbyint(x) + std::tanh(x)).epsilon(1e-6));
  }
}

TEST_CASE("an update keeps the shape and the type of what it updates") {
  const Tensor c = placeholder({4}, DType::f32, "C");
  const Tensor twice = update(c, [&](auto& i) { return c(i) * 2.0f; }, "twice");
  CHECK(make_program("f", {inout(c, update(
                                        twice, [&](auto& i) { return twice(i) + 1.0f; }, "done"))})
            .parameters.size() == 1);
  CHECK(refusal([&] { update(c, [&](auto& i) { return ir::cast(DType::f64, c(i)); }, "D"); }) ==
        "'D': expected f32 as 'C' has, got f64; cast it");
}

TEST_CASE("a tensor of 2^62 elements is refused where it is made") {
  const Expr huge(std::int64_t{1} << 31);
  const std::string text = "'A': expected fewer than 2^60 elements, which is more than any memory holds";
  CHECK(refusal([&] { placeholder({huge, huge}, DType::f32, "A"); }) == text);
  CHECK(refusal([&] { compute({huge, huge}, [&](auto& i) { return i[0]; }, "A"); }) == text);
  CHECK(refusal([&] { placeholder({Expr(0), huge, huge}, DType::f32, "A"); }) == "nothing was refused");
}
