#include "crosscompile/analysis/work_estimate.h"

#include "crosscompile/ir/substitute.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <functional>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis;

namespace {

const Expr n = Var::make("n"), i = Var::make("i"), j = Var::make("j");

BufferRef tensor(DType dtype) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = "tensor";
  buffer->dtype = dtype;
  buffer->shape = {n};
  return buffer;
}

Stmt store(const Expr& value, const Expr& place = i) { return Store::make(tensor(value.type().code), {place}, value); }

// The work of an iteration of a loop over i; the operands of its operators are numbers.
std::int64_t work(const Stmt& body, std::int64_t size = 100) {
  const Stmt loop = For::make(i, 0, n, ForKind::parallel, body);
  Expr estimate = work_of_iteration(*loop.as<For>(), Target());
  estimate = substitute(estimate, {{n.get(), Expr(size)}});
  CHECK(free_vars(estimate).empty());
  const std::function<std::int64_t(const Expr&)> value = [&](const Expr& expr) -> std::int64_t {
    if (const std::int64_t* number = as_int(expr)) return *number;
    const auto* node = expr.as<Binary>();
    REQUIRE(node != nullptr);
    const std::int64_t a = value(node->left), b = value(node->right);
    if (node->op == BinaryOp::add) return a + b;
    if (node->op == BinaryOp::mul) return a * b;
    REQUIRE(node->op == BinaryOp::max);
    return std::max(a, b);
  };
  return value(estimate);
}

}  // namespace

TEST_CASE("more operations are more work, and calls are much more") {
  const Expr value = Load::make(tensor(DType::f32), {i});
  const std::int64_t one = work(store(value));
  CHECK(one > 0);
  CHECK(work(store(value + value)) > one);
  CHECK(work(Block::make({store(value), store(value)})) > one);
  CHECK(work(store(call_math("exp", {value}))) >= one + 10);
}

TEST_CASE("the work of an inner loop grows with its extent, a symbolic one included") {
  const Stmt body = store(Load::make(tensor(DType::f32), {j}), j);
  const auto inner = [&](const Expr& extent) { return For::make(j, 0, extent, ForKind::serial, body); };
  CHECK(work(inner(20)) - work(inner(10)) == work(inner(30)) - work(inner(20)));
  CHECK(work(inner(20)) > work(inner(10)));
  CHECK(work(inner(n), 1000) == work(inner(1000)));
  CHECK(work(inner(n), 0) == work(inner(0)));
}

TEST_CASE("an extent that depends on the iteration is guessed, so that the estimate is known before the loop") {
  const Stmt body = store(Load::make(tensor(DType::f32), {j}), j);
  const std::int64_t guessed = work(For::make(j, 0, i + 1, ForKind::serial, body));
  CHECK(guessed > work(body));
  const Expr half = Var::make("half");
  CHECK(work(LetStmt::make(half, i / 2, For::make(j, 0, half, ForKind::serial, body))) >= guessed);
}

TEST_CASE("a vector operation counts as often as it fills registers") {
  const auto lanes = [](std::uint32_t count) {
    const Expr value = Load::make(tensor(DType::f32), {Ramp::make(i, Expr(1), count)});
    return work(Store::make(tensor(DType::f32), {Ramp::make(i, Expr(1), count)}, value + value));
  };
  CHECK(lanes(4) == lanes(2));  // a register of 128 bits holds four
  CHECK(lanes(16) > lanes(4));
}

TEST_CASE("allocations and conditions cost what is inside of them") {
  const Stmt body = store(Load::make(tensor(DType::f32), {i}));
  auto local = std::make_shared<Buffer>(*tensor(DType::f32));
  local->scope = Scope::local;
  CHECK(work(Allocate::make(local, body)) == work(body));
  CHECK(work(If::make(i < n, body)) == work(body));
}
