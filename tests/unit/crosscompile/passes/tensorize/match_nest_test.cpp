#include "crosscompile/passes/tensorize/match_nest.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/printer.h"
#include "crosscompile/passes/tensorize/tensorize_nest.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <functional>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

BufferRef buffer(const char* name, std::vector<Expr> shape, std::vector<Expr> strides = {}) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->shape = std::move(shape);
  made->strides = std::move(strides);
  return made;
}

Stmt loop(const Expr& var, int extent, Stmt body) {
  return For::make(var, Expr(0), Expr(extent), ForKind::serial, std::move(body));
}

Expr at(const BufferRef& from, Expr index) { return Load::make(from, {std::move(index)}); }

// The intrinsic out[i] = value, for i in 4, with these parameters.
TensorIntrinsic intrinsic(const Expr& i, const BufferRef& out, const std::vector<BufferRef>& in, const Expr& value,
                          std::vector<Expr> symbols = {}) {
  Function definition;
  definition.name = "f";
  std::vector<BufferRef> all = in;
  all.insert(all.begin(), out);
  for (const BufferRef& one : all)
    definition.parameters.push_back({one->name, ParameterKind::tensor, Direction::in, one, {}});
  definition.symbols = std::move(symbols);
  definition.body = loop(i, 4, Store::make(out, {i}, value));
  return {{"f", std::make_shared<const Function>(std::move(definition))}, {}};
}

// Returns the statements that replace the nest as text, or the error message.
std::string tensorized(const TensorIntrinsic& intrinsic, const Stmt& nest) {
  Context context;
  context.add_tensor_intrinsic("f4", intrinsic);
  try {
    return to_text(tensorize_nest("f4", &context, *as_nest(nest)));
  } catch (const CompileError& error) {
    return error.what();
  }
}

}  // namespace

TEST_CASE("the address of a parameter is where it starts, which need not be where it is first used") {
  const Expr i = Var::make("i"), x = Var::make("x"), m = Var::make("m");
  const BufferRef out = buffer("out", {4}), in = buffer("in", {6});
  const TensorIntrinsic blur = intrinsic(i, out, {in}, at(in, i + 1) + at(in, i + 2));
  const BufferRef image = buffer("I", {100}), result = buffer("R", {100});
  const Stmt nest = loop(x, 4, Store::make(result, {m * 4 + x}, at(image, m * 4 + x) + at(image, m * 4 + x + 1)));
  CHECK(tensorized(blur, nest) == "f(address_of(R[m * 4]), address_of(I[m * 4 - 1]));\n");
}

TEST_CASE("uses of one parameter stand to each other as in the pattern") {
  const Expr i = Var::make("i"), x = Var::make("x");
  const BufferRef out = buffer("out", {4}), in = buffer("in", {6});
  const TensorIntrinsic blur = intrinsic(i, out, {in}, at(in, i) + at(in, i + 1));
  const BufferRef image = buffer("I", {100}), other = buffer("J", {100}), result = buffer("R", {100});
  const auto nest = [&](const Expr& left, const Expr& right) {
    return loop(x, 4, Store::make(result, {x}, left + right));
  };
  const std::string call = "f(address_of(R[0]), address_of(I[0]));\n";
  CHECK(tensorized(blur, nest(at(image, x), at(image, x + 1))) == call);
  // The operands of a sum may be in any order.
  CHECK(tensorized(blur, nest(at(image, x + 1), at(image, x))) == call);
  const std::string refused = "expected the same elements of 'I' wherever 'in' of 'f' is used, got others of ";
  CHECK(tensorized(blur, nest(at(image, x), at(image, x))) == refused + "'I' too");
  CHECK(tensorized(blur, nest(at(image, x), at(image, x + 2))) == refused + "'I' too");
  CHECK(tensorized(blur, nest(at(image, x), at(image, x * 2 + 1))) == refused + "'I' too");
  CHECK(tensorized(blur, nest(at(image, x), at(other, x + 1))) == refused + "'J' too");
}

TEST_CASE("strides that are symbols are handed on, and others must be the same") {
  const Expr i = Var::make("i"), x = Var::make("x"), step = Var::make("step"), n = Var::make("n");
  const BufferRef out = buffer("out", {4}), in = buffer("in", {4}, {step});
  const TensorIntrinsic gather = intrinsic(i, out, {in}, at(in, i), {step});
  const BufferRef matrix = buffer("A", {n, n}), result = buffer("R", {n, n});
  const auto column = [&](const BufferRef& from) { return Load::make(from, {x, Expr(2)}); };
  CHECK(tensorized(gather, loop(x, 4, Store::make(result, {Expr(1), x}, column(matrix)))) ==
        "f(address_of(R[n]), address_of(A[2]), n);\n");
  CHECK(tensorized(gather, loop(x, 4, Store::make(result, {x, Expr(1)}, column(matrix)))) ==
        "expected the elements of 'R' to be 1 apart along 'i' of 'f', got n");
}

TEST_CASE("what is written is no other operand too") {
  const Expr i = Var::make("i"), x = Var::make("x");
  const BufferRef out = buffer("out", {4}), in = buffer("in", {4});
  const TensorIntrinsic twice = intrinsic(i, out, {in}, at(in, i) * Expr(2.0f));
  const BufferRef place = buffer("A", {4});
  CHECK(tensorized(twice, loop(x, 4, Store::make(place, {x}, at(place, x) * Expr(2.0f)))) ==
        "expected 'A', which is written, in the place of one parameter of 'f', got it twice");
}

TEST_CASE("an index that does not step evenly, and a condition on the loops, are named") {
  const Expr i = Var::make("i"), x = Var::make("x"), n = Var::make("n");
  const BufferRef out = buffer("out", {4}), in = buffer("in", {4});
  const TensorIntrinsic copy = intrinsic(i, out, {in}, at(in, i));
  const BufferRef from = buffer("A", {100}), to = buffer("R", {100});
  CHECK(tensorized(copy, loop(x, 4, Store::make(to, {x}, at(from, x * x)))) ==
        "expected an index of 'A' that moves evenly along 'x', got 'x * x'");
  CHECK(tensorized(copy, loop(x, 4, If::make(x < n, Store::make(to, {x}, at(from, x))))) ==
        "expected every iteration of 'x' to count, got the condition 'x < n'; split what its axis was by a number that "
        "divides it");
  CHECK(tensorized(copy, loop(x, 4, If::make(n > 3, Store::make(to, {x}, at(from, x))))) ==
        "if (n > 3) {\n  f(address_of(R[0]), address_of(A[0]));\n}\n");
  CHECK(tensorized(copy, loop(x, 5, Store::make(to, {x}, at(from, x)))) ==
        "expected loops (i in 4), got loops (x in 5)");
}
