#include "crosscompile/analysis/loads.h"

#include "crosscompile/ir/expr.h"
#include "ferry/operators.h"

#include <doctest/doctest.h>

#include <string>

using namespace ferry;
using namespace ferry::ir;

namespace {

BufferRef tensor(const char* name, DType dtype = DType::i64) {
  auto made = std::make_shared<Buffer>();
  made->name = name;
  made->dtype = dtype;
  made->shape = {Expr(8)};
  return made;
}

template <class Tree>
std::string names(const Tree& tree) {
  std::string all;
  analysis::for_each_load(tree, [&](const Load& load) { all += load.buffer->name; });
  return all;
}

}  // namespace

TEST_CASE("loads are visited in order, each before those in its indices, conditions and masks included") {
  const BufferRef a = tensor("A"), b = tensor("B"), c = tensor("C"), d = tensor("D");
  const Expr inner = Load::make(b, {Load::make(c, {0})});
  CHECK(names(Load::make(a, {inner}) + Load::make(d, {1})) == "ABCD");
  CHECK(names(if_then_else(Load::make(d, {0}) > 0, inner, Load::make(a, {0}))) == "DBCA");
  CHECK(names(Load::make(a, {0}, Load::make(b, {0}) > 0)) == "AB");
  CHECK(names(Expr(1)).empty());
  const std::vector<const Load*> loads = analysis::loads_of(inner);
  REQUIRE(loads.size() == 2);
  CHECK(loads[0] == inner.as<Load>());
  CHECK(loads[1]->buffer == c);
}

TEST_CASE("loads of a statement are those of its values, indices, bounds and conditions, not its stores") {
  const BufferRef a = tensor("A"), b = tensor("B"), c = tensor("C"), d = tensor("D");
  const Expr i = Var::make("i");
  const Stmt store = Store::make(a, {Load::make(b, {i})}, Load::make(c, {i}));
  const Stmt loop = For::make(i, 0, Load::make(d, {0}), ForKind::serial, If::make(Load::make(b, {i}) > Expr(0), store));
  CHECK(names(loop) == "DBBC");
  CHECK(!analysis::reads(loop, a.get()));
  CHECK(analysis::reads(loop, d.get()));
  CHECK(analysis::buffers_read(loop) == std::unordered_set<const Buffer*>{b.get(), c.get(), d.get()});
}
