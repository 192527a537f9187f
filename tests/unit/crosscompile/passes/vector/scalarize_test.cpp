#include "crosscompile/passes/vector/scalarize.h"

#include "crosscompile/ir/prefetch.h"
#include "crosscompile/ir/uses.h"
#include "crosscompile/ir/visitor.h"
#include "tests/unit/crosscompile/passes/kernel.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

Expr lanes_from(const Expr& first, std::int64_t stride = 1, std::uint32_t lanes = 4) {
  return Ramp::make(first, Expr(stride), lanes);
}

class Shape : public Visitor {
 public:
  int vectors = 0, lets = 0, evaluates = 0, comparisons = 0;

 protected:
  using Visitor::visit_node;
  void visit_node(const Ramp&) override { ++vectors; }
  void visit_node(const Broadcast&) override { ++vectors; }
  void visit_node(const VectorReduce&) override { ++vectors; }
  void visit_node(const LetStmt& node) override {
    ++lets;
    Visitor::visit_node(node);
  }
  void visit_node(const Evaluate&) override { ++evaluates; }
  void visit_node(const Binary& node) override {
    comparisons += is_comparison(node.op) ? 1 : 0;
    Visitor::visit_node(node);
  }
};

Shape shape(const Function& function) {
  Shape found;
  found.visit(function.body);
  return found;
}

// Puts `body` into a loop over i below n; all tensors have 4 * n + 4 elements.
Function made(const std::function<Stmt(const Expr& i, const BufferRef& in, const BufferRef& out)>& body) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef in = kernel.input("in", DType::i32, {n * 4 + 4}),
                  out = kernel.output("out", DType::i32, {n * 4 + 4}, Direction::inout);
  kernel.function.body = loop(i, n, body(i, in, out));
  kernel.function.flat = true;
  return kernel.function;
}

Function scalarized(const Function& before) {
  const Function after = scalarize(before);
  CHECK(shape(after).vectors == 0);
  CHECK(census(after.body).vector_stores == 0);
  check_same_on_odd_sizes(before, after);
  return after;
}

}  // namespace

TEST_CASE("a vector statement becomes a loop over its lanes") {
  const Function after = scalarized(made([](const Expr& i, const BufferRef& in, const BufferRef& out) {
    const Expr at_lanes = lanes_from(i * 4);
    return put(out, {at_lanes}, at(in, {at_lanes}) * Broadcast::make(constant(DType::i32, std::int64_t{3}), 4));
  }));
  CHECK(census(after.body).vectorized == 1);
  CHECK(census(after.body).allocations == 0);
}

TEST_CASE("a mask chooses lane by lane") {
  scalarized(made([](const Expr& i, const BufferRef& in, const BufferRef& out) {
    const Expr at_lanes = lanes_from(i * 4), mask = lanes_from(i) < Broadcast::make(Expr(3), 4);
    return Store::make(out, {at_lanes}, Load::make(in, {at_lanes}, mask), mask);
  }));
}

TEST_CASE("lanes that read what earlier lanes write are all read before the first is written") {
  const Function shifted = scalarized(made([](const Expr& i, const BufferRef&, const BufferRef& out) {
    return put(out, {lanes_from(i * 4 + 1)}, at(out, {lanes_from(i * 4)}));
  }));
  CHECK(census(shifted.body).allocations > 0);
  scalarized(made([](const Expr& i, const BufferRef&, const BufferRef& out) {
    const Expr mask = lanes_from(i) != Broadcast::make(Expr(2), 4);
    return Store::make(out, {lanes_from(i * 4 + 3, -1)}, at(out, {lanes_from(i * 4)}), mask);
  }));
}

TEST_CASE("lanes that only read their own place need no copy") {
  const Function after = scalarized(made([](const Expr& i, const BufferRef& in, const BufferRef& out) {
    const Expr at_lanes = lanes_from(i * 4);
    return put(out, {at_lanes}, at(out, {at_lanes}) + at(in, {at_lanes}));
  }));
  CHECK(census(after.body).allocations == 0);
}

TEST_CASE("a reduction of lanes is written out") {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::max, ReduceOp::min})
    scalarized(made([op](const Expr& i, const BufferRef& in, const BufferRef& out) {
      return put(out, {i}, VectorReduce::make(op, at(in, {lanes_from(i * 4)})));
    }));
}

TEST_CASE("a vector that a let binds is kept in an array") {
  const Function after = scalarized(made([](const Expr& i, const BufferRef& in, const BufferRef& out) {
    const Expr v = Var::make("v", Type(DType::i32, 4));
    return LetStmt::make(v, at(in, {lanes_from(i * 4)}), put(out, {lanes_from(i * 4)}, v * v));
  }));
  CHECK(census(after.body).allocations == 1);
}

TEST_CASE("prefetches, unused lets and comparisons that a type decides are removed") {
  const Function after = scalarized(made([](const Expr& i, const BufferRef& in, const BufferRef& out) {
    const Expr unused = Var::make("unused");
    const Expr small = cast(DType::u8, at(in, {i}));
    const Stmt store = If::make(small >= constant(DType::u8, std::int64_t{0}), put(out, {i}, at(in, {i})));
    return block({make_prefetch(at(in, {i})), LetStmt::make(unused, i + 5, store)});
  }));
  CHECK(shape(after).evaluates == 0);
  CHECK(shape(after).lets == 0);
  CHECK(shape(after).comparisons == 0);
}

TEST_CASE("an array that nothing reads any more is removed with its stores") {
  const Function after = scalarized(made([](const Expr& i, const BufferRef& in, const BufferRef& out) {
    const BufferRef kept = array("kept", DType::i32, {4});
    return Allocate::make(kept,
                          block({put(kept, {lanes_from(0)}, at(in, {lanes_from(i * 4)})), put(out, {i}, at(in, {i}))}));
  }));
  CHECK(census(after.body).allocations == 0);
  CHECK(census(after.body).stores == 1);
}
