#include "crosscompile/ir/validator.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;

namespace {

BufferRef buffer(const char* name, std::vector<Expr> shape, Scope scope = Scope::parameter) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->shape = std::move(shape);
  made->scope = scope;
  return made;
}

// copy(in A[n], out B[n])
struct Fixture {
  Expr n = Var::make("n"), i = Var::make("i");
  BufferRef a = buffer("A", {n}), b = buffer("B", {n});
  Stmt copy = For::make(i, 0, n, ForKind::serial, Store::make(b, {i}, Load::make(a, {i})));

  Function function(Stmt body) const {
    Function made;
    made.name = "copy";
    made.parameters = {{"A", ParameterKind::tensor, Direction::in, a, {}},
                       {"B", ParameterKind::tensor, Direction::out, b, {}}};
    made.symbols = {n};
    made.messages = {"only message"};
    made.body = std::move(body);
    return made;
  }

  std::string complaint(const Function& about) const {
    try {
      validate(about, "some pass");
    } catch (const InternalError& error) {
      return error.what();
    }
    return "none";
  }
  std::string complaint(const Stmt& body) const { return complaint(function(body)); }
};

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE_FIXTURE(Fixture, "a sound function passes validation") { CHECK(complaint(copy) == "none"); }

TEST_CASE_FIXTURE(Fixture, "a variable outside its loop is refused and the statement is shown") {
  const std::string text = complaint(Block::make({copy, Store::make(b, {i}, Expr(0.0f))}));
  CHECK(text == "after some pass: copy: 'i' is used where it is not defined, in:\nB[i] = 0.0f;\n");
}

TEST_CASE_FIXTURE(Fixture, "the front end's definition of a buffer is refused after lowering") {
  Buffer tensor = *buffer("T", {n}, Scope::global);
  tensor.definition = std::make_shared<Definition>();
  const BufferRef defined = std::make_shared<Buffer>(tensor), storage = without_definition(tensor);
  const auto filled = [&](const BufferRef& into) {
    return Allocate::make(into, For::make(i, 0, n, ForKind::serial, Store::make(into, {i}, Expr(0.0f))));
  };
  CHECK(contains(complaint(filled(defined)), "'T' has a definition left over from before lowering"));
  CHECK(complaint(filled(storage)) == "none");

  Buffer result = *b;
  result.definition = tensor.definition;
  Function with_parameter = function(copy);
  with_parameter.parameters[1].buffer = std::make_shared<Buffer>(result);
  CHECK(contains(complaint(with_parameter), "'B' has a definition left over from before lowering"));
}

TEST_CASE_FIXTURE(Fixture, "a variable defined again inside its own loop is refused, side by side it is not") {
  CHECK(contains(complaint(For::make(i, 0, 4, ForKind::serial, copy)), "'i' is defined again"));
  CHECK(complaint(Block::make({copy, copy})) == "none");
}

TEST_CASE_FIXTURE(Fixture, "a buffer that is neither a parameter nor allocated is refused") {
  const BufferRef t = buffer("T", {Expr(4)}, Scope::local);
  const Stmt use = Store::make(t, {Expr(0)}, Expr(1.0f));
  CHECK(contains(complaint(use), "'T' is used where it is not allocated"));
  CHECK(complaint(Allocate::make(t, use)) == "none");
  CHECK(contains(complaint(Block::make({Allocate::make(t, use), use})), "'T' is used where it is not allocated"));
  CHECK(contains(complaint(Allocate::make(t, Allocate::make(t, use))), "allocated inside its own"));
}

TEST_CASE_FIXTURE(Fixture, "writing an input is refused") {
  CHECK(contains(complaint(Store::make(a, {Expr(0)}, Expr(1.0f))), "'A' is an input, but is written"));
}

TEST_CASE_FIXTURE(Fixture, "a reduction left from before lowering is refused") {
  const Expr sum = Reduce::make(make_reducer(ReduceOp::sum, DType::f32), {Load::make(a, {i})}, {{i, 0, n}});
  CHECK(contains(complaint(Store::make(b, {Expr(0)}, sum)), "left over"));
}

TEST_CASE_FIXTURE(Fixture, "an assertion needs a message of the function") {
  CHECK(complaint(Assert::make(n > 0, 0)) == "none");
  CHECK(contains(complaint(Assert::make(n > 0, 1)), "not in the function's list"));
}

TEST_CASE_FIXTURE(Fixture, "a placed buffer needs a workspace and an offset over symbols") {
  const BufferRef g = buffer("G", {n}, Scope::global);
  const Stmt use = Store::make(g, {Expr(0)}, Expr(1.0f));
  CHECK(contains(complaint(Allocate::make(g, use, Expr(0))), "does not ask for"));
  Function placed = function(Allocate::make(g, use, n * 64));
  placed.call_workspace = n * 128;
  CHECK(complaint(placed) == "none");
  placed.body = For::make(i, 0, n, ForKind::serial, Allocate::make(g, use, i * 64));
  CHECK(contains(complaint(placed), "'i' is used where it is not defined"));
}

TEST_CASE("make refuses what does not fit together") {
  const Expr n = Var::make("n"), f = Var::make("f", DType::f32), v = Ramp::make(0, 1, 4);
  const BufferRef a = buffer("A", {n, n});
  CHECK_THROWS_AS(Binary::make(BinaryOp::add, n, f), InternalError);
  CHECK_THROWS_AS(Binary::make(BinaryOp::add, n, v), InternalError);
  CHECK_THROWS_AS(Binary::make(BinaryOp::mod, f, f), InternalError);
  CHECK_THROWS_AS(Load::make(a, {n, n, n}), InternalError);
  CHECK_THROWS_AS(Load::make(a, {n, v}), InternalError);
  CHECK_THROWS_AS(Load::make(a, {f, f}), InternalError);
  CHECK_THROWS_AS(Load::make(a, {v}, n < 4), InternalError);
  CHECK_THROWS_AS(Store::make(a, {n, n}, n), InternalError);
  CHECK_THROWS_AS(Select::make(n < 4, v, v), InternalError);
  CHECK_THROWS_AS(Ramp::make(v, v, 2), InternalError);
  CHECK_THROWS_AS(Broadcast::make(v, 2), InternalError);
  CHECK_THROWS_AS(VectorReduce::make(ReduceOp::any, v), InternalError);
  CHECK_THROWS_AS(Call::make(DType::i64, CallOp::bitcast, {f}), InternalError);
  CHECK_THROWS_AS(Call::make(DType::f32, MathFunction::exp, {f, f}), InternalError);
  CHECK_THROWS_AS(Let::make(n, f, f), InternalError);
  CHECK_THROWS_AS(For::make(f, 0, 4, ForKind::serial, Evaluate::make(n)), InternalError);
  CHECK_THROWS_AS(Allocate::make(a, Evaluate::make(n)), InternalError);
}

TEST_CASE("nesting beyond the cap is the user's mistake, not a crash") {
  Expr deep = Var::make("x");
  CHECK_THROWS_AS(
      [&] {
        for (int i = 0; i < 2000; ++i) deep = Unary::make(UnaryOp::neg, deep);
      }(),
      CompileError);
  CHECK(deep.get()->depth == kMaxDepth);
}

TEST_CASE("a block is flat, and a block of one is that one") {
  const Stmt one = Evaluate::make(Expr(1)), two = Evaluate::make(Expr(2));
  CHECK(Block::make({one}).same_as(one));
  CHECK(Block::make({Stmt(), one}).same_as(one));
  const Stmt nested = Block::make({Block::make({one, two}), Block::make({}), one});
  CHECK(nested.as<Block>()->body.size() == 3);
}
