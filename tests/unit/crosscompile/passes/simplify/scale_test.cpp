// Tests how the simplifier's time grows with the number of stages.
#include "crosscompile/ir/expr.h"
#include "crosscompile/passes/simplify/simplify.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace ferry;
using namespace ferry::ir;

namespace {

BufferRef buffer(const std::string& name, Scope scope) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = DType::f32;
  made->shape = {Expr(64)};
  made->scope = scope;
  return made;
}

// Each stage reads the previous one, and all buffers are live until the end, as in lowered programs.
Function chain(int stages) {
  Function function;
  function.name = "chain";
  const BufferRef in = buffer("in", Scope::parameter), out = buffer("out", Scope::parameter);
  function.parameters = {{"in", ParameterKind::tensor, Direction::in, in, {}},
                         {"out", ParameterKind::tensor, Direction::out, out, {}}};
  std::vector<BufferRef> kept;
  std::vector<Stmt> steps;
  for (int i = 0; i < stages; ++i) {
    const BufferRef from = i == 0 ? in : kept.back();
    const BufferRef to = i + 1 == stages ? out : buffer("t" + std::to_string(i), Scope::global);
    if (to != out) kept.push_back(to);
    const Expr x = Var::make("x");
    steps.push_back(For::make(x, 0, 64, ForKind::serial, Store::make(to, {x}, Load::make(from, {x}) + Expr(1.0f))));
  }
  function.body = Block::make(std::move(steps));
  for (const BufferRef& each : kept) function.body = Allocate::make(each, function.body);
  return function;
}

double seconds(int stages) {
  double best = 1e9;
  for (int i = 0; i < 5; ++i) {
    const Function function = chain(stages);
    const auto start = std::chrono::steady_clock::now();
    (void)passes::simplify(function);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

}  // namespace

TEST_CASE("ten times as many stages take about ten times as long") {
  const double few = seconds(40), many = seconds(400);
  MESSAGE("40 stages: " << few * 1e3 << " ms, 400 stages: " << many * 1e3 << " ms");
  CHECK(many < few * 30);
}

TEST_CASE("of allocations in one another those that nothing uses go, and the others stay as they are") {
  const Function function = chain(3);
  const Stmt whole = passes::simplify(function.body);
  CHECK(whole.same_as(function.body));
  const Stmt more = Allocate::make(buffer("unused", Scope::global), function.body);
  CHECK(passes::simplify(more).same_as(function.body));
  CHECK(passes::simplify(Allocate::make(buffer("other", Scope::global), more)).same_as(function.body));
}
