#include "crosscompile/ir/substitute.h"

#include "crosscompile/ir/mutator.h"
#include "crosscompile/ir/printer.h"
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

// Removes every store.
class StoreRemover : public Mutator {
 protected:
  Stmt mutate_node(const Store&, const Stmt&) override { return {}; }
};

}  // namespace

TEST_CASE("a mutation that changes nothing returns the very same nodes") {
  const Expr i = Var::make("i"), n = Var::make("n");
  const BufferRef a = buffer("A", {n});
  const Stmt loop = For::make(i, 0, n, ForKind::serial,
                              If::make(i < 3, Store::make(a, {i}, Load::make(a, {i}) + 1), Evaluate::make(i)));
  CHECK(Mutator().mutate(loop).same_as(loop));
  CHECK(substitute(loop, {}).same_as(loop));
}

TEST_CASE("substitution replaces variables and buffers everywhere") {
  const Expr i = Var::make("i"), n = Var::make("n");
  const BufferRef a = buffer("A", {n}), b = buffer("B", {n});
  const Stmt store = Store::make(a, {i}, Load::make(a, {i + 1}) * 2);
  CHECK(to_text(substitute(store, {{i.get(), n - 1}})) == "A[n - 1] = A[n - 1 + 1] * 2.0f;\n");
  CHECK(to_text(substitute_buffers(store, {{a.get(), b}})) == "B[i] = B[i + 1] * 2.0f;\n");
}

TEST_CASE("substitution reaches the size of an allocated buffer, and its uses keep referring to it") {
  const Expr i = Var::make("i");
  const BufferRef t = buffer("T", {i + 1}, Scope::global);
  const Stmt before = Allocate::make(t, Store::make(t, {i}, Load::make(t, {0})));
  const Stmt after = substitute(before, {{i.get(), 3}});
  CHECK_FALSE(uses_var(after, i));
  const auto* allocate = after.as<Allocate>();
  REQUIRE(allocate != nullptr);
  const auto* store = allocate->body.as<Store>();
  REQUIRE(store != nullptr);
  CHECK(store->buffer == allocate->buffer);
  CHECK(store->value.as<Load>()->buffer == allocate->buffer);
  CHECK(t->shape[0].same_as(before.as<Allocate>()->buffer->shape[0]));
}

TEST_CASE("a statement mutated to nothing takes what held it along") {
  const Expr i = Var::make("i"), n = Var::make("n");
  const BufferRef a = buffer("A", {n});
  const Stmt store = Store::make(a, {i}, Expr(1.0f)), other = Evaluate::make(n);
  StoreRemover remover;
  CHECK_FALSE(remover.mutate(For::make(i, 0, n, ForKind::serial, Block::make({store, store}))).defined());
  CHECK(remover.mutate(Block::make({store, other})).same_as(other));
  CHECK(to_text(remover.mutate(If::make(n > 3, store, other))) == "if (!(n > 3)) {\n  n;\n}\n");
}

TEST_CASE("free variables come in order of first use and leave out loop variables") {
  const Expr i = Var::make("i"), n = Var::make("n"), m = Var::make("m"), x = Var::make("x");
  const BufferRef t = buffer("T", {m}, Scope::global);
  const Stmt body =
      Allocate::make(t, For::make(i, 0, n, ForKind::serial, Store::make(t, {i}, cast(DType::f32, x + i))));
  const std::vector<Expr> free = free_vars(body);
  REQUIRE(free.size() == 3);
  CHECK(free[0].same_as(m));
  CHECK(free[1].same_as(n));
  CHECK(free[2].same_as(x));
  CHECK(uses_var(body, i));
  CHECK(uses_var(body, m));
  CHECK_FALSE(uses_var(n + m, x));
}
