#include "crosscompile/passes/loops/unroll_loops.h"

#include "tests/unit/crosscompile/passes/kernel.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// out[i * 4 + j] with an unrolled loop over j, through a let and a local array.
Function unrolled(const Expr& extent, std::int64_t width) {
  Kernel kernel;
  const Expr n = kernel.size("n");
  const BufferRef a = kernel.input("a", DType::i32, {n, Expr(width)}),
                  out = kernel.output("out", DType::i32, {n, Expr(width)});
  const BufferRef kept = array("kept", DType::i32, {2});
  const Expr i = index("i"), j = index("j"), t = Var::make("t", DType::i32);
  const Stmt body = Allocate::make(
      kept, LetStmt::make(t, at(a, {i, j}) * at(a, {i, j}),
                          block({put(kept, {1}, t + cast(DType::i32, j)), put(out, {i, j}, at(kept, {1}) - t + t)})));
  kernel.function.body = loop(i, n, loop(j, extent, body, kUnrolled));
  return kernel.function;
}

}  // namespace

TEST_CASE("an unrolled loop becomes its iterations, each with variables and arrays of its own") {
  const Function before = unrolled(5, 5);
  const Function after = unroll_loops(before);
  check_same_on_odd_sizes(before, after);
  const Census found = census(after.body);
  CHECK(found.unrolled == 0);
  CHECK(found.loops == 1);
  CHECK(found.allocations == 5);
  CHECK(found.stores == 10);
}

TEST_CASE("an unrolled loop of nothing disappears") { CHECK(!unroll_loops(unrolled(0, 1)).body.defined()); }

TEST_CASE("an unrolled loop too long for copies becomes serial") {
  const Function before = unrolled(Expr(kMaxUnrolled + 1), kMaxUnrolled + 1);
  const Function after = unroll_loops(before);
  CHECK(census(after.body).stores == 2);
  CHECK(census(after.body).unrolled == 0);
  check_same(before, after, {3});
}

TEST_CASE("an unrolled loop starts where its range does") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j");
  const BufferRef out = kernel.output("out", DType::i64, {n, 2});
  kernel.function.body = loop(i, n, For::make(j, i, 2, kUnrolled, put(out, {i, j - i}, j)));
  check_same_on_odd_sizes(kernel.function, unroll_loops(kernel.function));
}
