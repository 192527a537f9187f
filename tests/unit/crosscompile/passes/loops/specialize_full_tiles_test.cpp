#include "crosscompile/passes/loops/specialize_full_tiles.h"

#include "crosscompile/ir/barrier.h"
#include "tests/unit/crosscompile/passes/kernel.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

constexpr ForKind kBlocks = ForKind::block_x, kThreads = ForKind::thread_x;

// out[k, b * 8 + t * 2 + j] = in[...] in tiles of 3 rows and 8 columns, each thread with 3 x 2 elements.
Function tiles(ForKind outer, ForKind inner = ForKind::serial, bool with_barrier = false) {
  Kernel kernel;
  const Expr n = kernel.size("n"), b = index("b"), t = index("t"), k = index("k"), j = index("j");
  const BufferRef in = kernel.input("in", DType::i32, {3, n}), out = kernel.output("out", DType::i32, {3, n});
  const Expr x = b * 8 + t * 2 + j;
  const Stmt row = loop(j, 2, If::make(x < n, put(out, {k, x}, at(in, {k, x}) + 1)), inner);
  const Stmt body = loop(k, 3, with_barrier ? block({make_barrier(), row}) : row);
  const ForKind threads = outer == kBlocks ? kThreads : ForKind::serial;
  kernel.function.body = loop(b, ceil_div(n, 8), loop(t, 4, body, threads), outer);
  return kernel.function;
}

}  // namespace

TEST_CASE("a full tile is computed without the guard of each element, another one as before") {
  const Function before = tiles(kBlocks), after = specialize_full_tiles(before);
  check_same_on_odd_sizes(before, after);
  const auto* choice = after.body.as<For>()->body.as<For>()->body.as<If>();
  REQUIRE(choice != nullptr);
  CHECK(census(choice->on_true).ifs == 0);
  CHECK(census(choice->on_true).stores == 1);
  CHECK(census(choice->on_false).ifs == 1);
}

TEST_CASE("loops outside of kernels stay as they are") {
  const Function before = tiles(ForKind::serial);
  const Function after = specialize_full_tiles(before);
  CHECK(census(after.body).ifs == 1);
  CHECK(census(after.body).stores == 1);
  check_same_on_odd_sizes(before, after);
}

TEST_CASE("a loop in which threads wait stays one, and the loops inside of it are specialised") {
  const Function before = tiles(kBlocks, ForKind::serial, true), after = specialize_full_tiles(before);
  check_same_on_odd_sizes(before, after);
  const auto* rows = after.body.as<For>()->body.as<For>()->body.as<For>();
  REQUIRE(rows != nullptr);
  CHECK(census(after.body).stores == 2);
}

TEST_CASE("the copy with the guards is not unrolled") {
  const Function before = tiles(kBlocks, kUnrolled), after = specialize_full_tiles(before);
  check_same_on_odd_sizes(before, after);
  const auto* choice = after.body.as<For>()->body.as<For>()->body.as<If>();
  REQUIRE(choice != nullptr);
  CHECK(census(choice->on_true).unrolled == 1);
  CHECK(census(choice->on_false).unrolled == 0);
}

TEST_CASE("a guard that no inner loop repeats is not worth a copy") {
  Kernel kernel;
  const Expr n = kernel.size("n"), b = index("b"), k = index("k");
  const BufferRef out = kernel.output("out", DType::i64, {n, 3});
  kernel.function.body = loop(b, ceil_div(n, 2) * 2, If::make(b < n, loop(k, 3, put(out, {b, k}, b + k))), kBlocks);
  const Function after = specialize_full_tiles(kernel.function);
  CHECK(census(after.body).stores == 1);
  check_same_on_odd_sizes(kernel.function, after);
}
