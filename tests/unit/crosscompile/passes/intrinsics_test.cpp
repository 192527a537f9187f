#include "ferry/intrinsics.h"

#include "crosscompile/intrinsics/lower_intrinsics.h"
#include "crosscompile/ir/error.h"
#include "crosscompile/ir/interpreter.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/pipeline.h"
#include "tests/unit/crosscompile/passes/kernel.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// Returns a rule that adds a number to the argument, so that the result shows which rule was applied.
IntrinsicRule adds(double number, std::string arch = "", std::vector<std::string> features = {}, int priority = 0) {
  return {std::move(arch), std::move(features), priority,
          [number](const IntrinsicCall& call) { return call.arguments[0] + constant(call.type, number); }};
}

float value_of(const Context& context, const Target& target, float argument, const char* name = "mine") {
  const Expr call = context.call(name, {constant(Type(DType::f32), static_cast<double>(argument))});
  return static_cast<float>(lower_intrinsics(call, context, target).as<FloatImm>()->value);
}

}  // namespace

TEST_CASE("the rule of the highest priority that fits the target lowers an intrinsic, of equals the last one") {
  Context context;
  context.add_intrinsic("mine", same_float_types(1));
  context.add_rule("mine", adds(100, "aarch64", {"fullfp16"}, 20));
  context.add_rule("mine", adds(10, "aarch64", {}, 10));
  context.add_rule("mine", adds(1));
  CHECK(value_of(context, plain_target(), 0.5f) == 1.5f);
  CHECK(value_of(context, target_with("aarch64", {}), 0.5f) == 10.5f);
  CHECK(value_of(context, target_with("aarch64", {"fullfp16"}), 0.5f) == 100.5f);
  context.add_rule("mine", adds(2));
  CHECK(value_of(context, plain_target(), 0.5f) == 2.5f);
}

TEST_CASE("a kernel with an intrinsic computes what its rule says, vectorized and in its tail") {
  auto context = std::make_shared<Context>();
  context->add_intrinsic("twice", same_float_types(1));
  context->add_intrinsic("mine", same_float_types(2));
  context->add_rule("twice",
                    {"", {}, 0, [](const IntrinsicCall& call) { return call.arguments[0] + call.arguments[0]; }});
  context->add_rule("mine", {"", {}, 0, [&](const IntrinsicCall& call) {
                               return context->call("twice", {call.arguments[0]}) - call.arguments[1];
                             }});
  Kernel kernel, plain;
  for (Kernel* one : {&kernel, &plain}) {
    const Expr n = one->size("n"), xo = index("xo"), xi = index("xi"), x = xo * 8 + xi;
    const BufferRef a = one->input("a", DType::f32, {n}), b = one->input("b", DType::f32, {n});
    const BufferRef out = one->output("out", DType::f32, {n});
    const Expr value =
        one == &kernel ? context->call("mine", {at(a, {x}), at(b, {x})}) : at(a, {x}) + at(a, {x}) - at(b, {x});
    one->function.body = loop(xo, (n + 7) / 8, loop(xi, 8, If::make(x < n, put(out, {x}, value)), kVectorized));
  }
  kernel.function.context = context;
  for (const Target& target : {plain_target(), masked_target()}) {
    check_same_on_odd_sizes(plain.function, run_pipeline(kernel.function, target));
  }
}

TEST_CASE("a name of the built-in math may be given rules, which stand before the built-in one") {
  Context context;
  context.add_intrinsic("exp", same_float_types(1));
  context.add_rule("exp", adds(7));
  CHECK(value_of(context, plain_target(), 1, "exp") == 8);
  // A rule that returns the call unchanged selects the built-in function.
  context.add_rule("exp", {"", {}, 1, [](const IntrinsicCall& call) { return call_math("exp", call.arguments); }});
  const Expr call = context.call("exp", {Var::make("x", Type(DType::f32))});
  CHECK(to_text(lower_intrinsics(call, context, plain_target())) == "exp(x)");
}

TEST_CASE("what is wrong with an intrinsic or a call of one is said") {
  Context context;
  const Expr x = Var::make("x", Type(DType::f32)), i = Var::make("i", Type(DType::i32));
  CHECK_THROWS_WITH_AS(context.call("mylog", {x}), "unknown intrinsic 'mylog'; none is registered", CompileError);
  context.add_intrinsic("mylog", same_float_types(1));
  context.add_intrinsic("myexp", fixed_types({DType::f32, DType::i32}, DType::f32));
  CHECK_THROWS_WITH_AS(context.call("mylgo", {x}), "unknown intrinsic 'mylgo'; the nearest known are mylog, myexp",
                       CompileError);
  CHECK_THROWS_WITH_AS(context.add_rule("mylgo", adds(1)),
                       "unknown intrinsic 'mylgo'; the nearest known are mylog, myexp", CompileError);
  CHECK_THROWS_WITH_AS(context.add_intrinsic("mylog", same_float_types(1)), "intrinsic 'mylog' is registered already",
                       CompileError);
  CHECK_THROWS_WITH_AS(context.call("mylog", {x, x}), "mylog: expected 1 argument, got 2", CompileError);
  CHECK_THROWS_WITH_AS(context.call("mylog", {i}), "mylog: argument 1: expected a float, got i32", CompileError);
  CHECK_THROWS_WITH_AS(context.call("myexp", {x, x}), "myexp: argument 2: expected i32, got f32", CompileError);
  const Expr call = context.call("mylog", {x});
  const auto lower = [&] { return lower_intrinsics(call, context, target_with("x86_64", {"avx"})); };
  CHECK_THROWS_WITH_AS(lower(), "intrinsic 'mylog': expected a rule for x86_64, got none for any target", CompileError);
  context.add_rule("mylog", adds(1, "opencl"));
  context.add_rule("mylog", adds(1, "x86_64", {"avx512f", "avx512vl"}));
  CHECK_THROWS_WITH_AS(
      lower(), "intrinsic 'mylog': expected a rule for x86_64, got rules for opencl; x86_64 with avx512f, avx512vl",
      CompileError);
  context.add_rule("mylog", {"", {}, 0, [](const IntrinsicCall& c) { return cast(DType::i32, c.arguments[0]); }});
  CHECK_THROWS_WITH_AS(lower(),
                       "the rule of intrinsic 'mylog' for any target: expected an expression of type f32, got i32",
                       CompileError);
  context.add_rule("mylog", {"", {}, 0, [&](const IntrinsicCall& c) { return -context.call("mylog", c.arguments); }});
  CHECK_THROWS_WITH_AS(lower(), "the rule of intrinsic 'mylog' for any target leads back to itself", CompileError);
}

TEST_CASE("a tensor intrinsic says what its C functions mean as loops of constant extents around one store") {
  const auto buffer = [](const char* name) {
    auto made = std::make_shared<Buffer>();
    made->name = name;
    made->shape = {Expr(4)};
    return made;
  };
  const BufferRef out = buffer("out"), in = buffer("in");
  const Expr i = Var::make("i"), n = Var::make("n");
  Function definition;
  definition.parameters = {{"out", ParameterKind::tensor, Direction::out, out, {}},
                           {"in", ParameterKind::tensor, Direction::in, in, {}}};
  const auto copying = [&](const Expr& extent) {
    return For::make(i, Expr(0), extent, ForKind::serial, Store::make(out, {i}, Load::make(in, {i})));
  };
  definition.body = copying(Expr(4));
  const auto copying_by = [](Function function) {
    return TensorIntrinsic{{"copy4", std::make_shared<const Function>(std::move(function))}, {}};
  };
  const auto refusal = [](const std::string& name, const TensorIntrinsic& intrinsic) -> std::string {
    Context context;
    try {
      context.add_tensor_intrinsic(name, intrinsic);
    } catch (const CompileError& error) {
      return error.what();
    }
    return "nothing was refused";
  };
  CHECK(refusal("copy", copying_by(definition)) == "nothing was refused");
  CHECK(refusal("dot", copying_by(definition)) == "tensor intrinsic 'dot' is registered already");
  Function wrong = definition;
  wrong.body = copying(n);
  CHECK(refusal("copy", copying_by(wrong)) ==
        "tensor intrinsic 'copy': expected what 'copy4' means as loops of constant extents, from 0, around one store");
  wrong = definition;
  wrong.parameters.pop_back();
  CHECK(refusal("copy", copying_by(wrong)) == "tensor intrinsic 'copy': expected 'in' among the parameters of 'copy4'");
  TensorIntrinsic nameless = copying_by(definition);
  nameless.reset = NestFunction{"", nameless.update.definition};
  CHECK(refusal("copy", nameless) == "tensor intrinsic 'copy': expected the name of a C function");
  CHECK(refusal("copy", {{"copy4", nullptr}, {}}) ==
        "tensor intrinsic 'copy': expected what 'copy4' means, see nest_function()");
  wrong = definition;
  wrong.symbols = {n};
  CHECK(refusal("copy", copying_by(wrong)) ==
        "tensor intrinsic 'copy': expected each symbol of 'copy4' to be how far a parameter "
        "steps along a loop, got 'n'");
  wrong = definition;
  wrong.parameters.push_back({"more", ParameterKind::tensor, Direction::in, buffer("more"), {}});
  CHECK(refusal("copy", copying_by(wrong)) == "tensor intrinsic 'copy': expected 'copy4' to use its parameter 'more'");
}

TEST_CASE("a C function on pieces of tensors is defined by an expression over their elements") {
  const Expr lda = Var::make("lda"), i = Var::make("i"), j = Var::make("j");
  const BufferRef out = piece("out", DType::f32, {4, 2}, {2, 1}), in = piece("in", DType::f32, {4, 2}, {lda, 1});
  const NestFunction doubled =
      nest_function("doubled", {out, in}, {{i, 0, 4}, {j, 0, 2}}, {i, j}, element(in, {i, j}) * 2.0f);
  REQUIRE(doubled.definition->symbols.size() == 1);
  CHECK(doubled.definition->symbols[0].same_as(lda));
  Context context;
  context.add_tensor_intrinsic("doubled", {doubled, {}});
  CHECK(context.tensor_intrinsic_names() == std::vector<std::string>{"doubled"});
  CHECK_THROWS_WITH_AS(piece("a", DType::f32, {4, 2}, {1}), "piece 'a': expected a stride for each dimension, 2, got 1",
                       CompileError);
  CHECK_THROWS_WITH_AS(element(in, {i}), "piece 'in': expected an index for each dimension, 2, got 1", CompileError);
  CHECK_THROWS_WITH_AS(nest_function("none", {}, {}, {}, 0), "'none': expected at least one piece", CompileError);
}
