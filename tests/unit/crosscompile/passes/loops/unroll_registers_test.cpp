#include "crosscompile/passes/loops/unroll_registers.h"

#include "tests/unit/crosscompile/passes/kernel.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// out[i, j] = in[i, j] * 2, by way of an array in local memory.
Function copied(const Expr& extent, std::int64_t width, const std::function<Expr(const Expr&)>& place) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j");
  const BufferRef in = kernel.input("in", DType::i32, {n, Expr(width)}),
                  out = kernel.output("out", DType::i32, {n, Expr(width)}),
                  kept = array("kept", DType::i32, {Expr(width)});
  const Stmt body = block(
      {loop(j, extent, block({put(kept, {place(j)}, at(in, {i, j}) * 2), put(out, {i, j}, at(kept, {place(j)}))}))});
  kernel.function.body = loop(i, n, Allocate::make(kept, body));
  return kernel.function;
}

}  // namespace

TEST_CASE("a short loop whose variable indexes a local array is unrolled") {
  for (const std::int64_t width : {1, 5, 64}) {
    const Function before = copied(Expr(width), width, [](const Expr& j) { return j; });
    const Function after = unroll_registers(before);
    CHECK(census(after.body).unrolled == 1);
    CHECK(census(after.body).loops == 2);
    for (const std::int64_t size : {0, 1, 7}) check_same(before, after, {size});
  }
}

TEST_CASE("a loop that is too long stays serial") {
  const Function before = copied(65, 65, [](const Expr& j) { return j; });
  CHECK(census(unroll_registers(before).body).unrolled == 0);
}

TEST_CASE("a loop that uses one place of a local array stays serial") {
  const Function before = copied(5, 5, [](const Expr&) { return Expr(2); });
  const Function after = unroll_registers(before);
  CHECK(census(after.body).unrolled == 0);
  check_same_on_odd_sizes(before, after);
}

TEST_CASE("a loop of unknown extent, or over other memory, stays serial") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j");
  const BufferRef out = kernel.output("out", DType::i64, {n, 4}), kept = array("kept", DType::i64, {33});
  kernel.function.body =
      Allocate::make(kept, loop(i, n, block({put(kept, {i}, i), loop(j, 4, put(out, {i, j}, at(kept, {i}) + j))})));
  const Function after = unroll_registers(kernel.function);
  CHECK(census(after.body).unrolled == 0);
  check_same_on_odd_sizes(kernel.function, after);
}
