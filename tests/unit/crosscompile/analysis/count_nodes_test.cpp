#include "crosscompile/analysis/count_nodes.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::analysis;

namespace {

BufferRef tensor(const char* name) {
  auto buffer = std::make_shared<Buffer>();
  buffer->name = name;
  buffer->dtype = DType::i64;
  buffer->shape = {Expr(8)};
  return buffer;
}

}  // namespace

TEST_CASE("every expression and every statement counts once") {
  const Expr i = Var::make("i");
  const BufferRef a = tensor("a"), b = tensor("b");
  const Stmt store = Store::make(a, {i}, Load::make(b, {i}) + 1);
  // The store, its index, the sum, the load, the load's index, the number.
  CHECK(count_nodes(store) == 6);
  // The loop's variable is not a child; its bounds are.
  CHECK(count_nodes(For::make(i, 0, 8, ForKind::serial, store)) == 9);
}

TEST_CASE("a copy doubles the count, and a block adds itself") {
  const BufferRef a = tensor("a");
  const Stmt store = Store::make(a, {Expr(0)}, Expr(1));
  const std::size_t one = count_nodes(store);
  CHECK(count_nodes(Block::make({store, store})) == 2 * one + 1);
  CHECK(count_nodes(If::make(Var::make("c", kBool), store, store)) == 2 * one + 2);
}

TEST_CASE("nothing has no nodes") { CHECK(count_nodes(Stmt()) == 0); }
