#include "crosscompile/passes/loops/eliminate_dead_stores.h"

#include "tests/unit/crosscompile/passes/kernel.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// first = in + 1; second = first * 2; out = in, or second when it is read.
Function chain(bool reads_second) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j"), k = index("k");
  const BufferRef in = kernel.input("in", DType::i32, {n}), out = kernel.output("out", DType::i32, {n});
  const BufferRef first = array("first", DType::i32, {n}, Scope::global),
                  second = array("second", DType::i32, {n}, Scope::global);
  const Stmt body =
      block({loop(i, n, put(first, {i}, at(in, {i}) + 1)), loop(j, n, put(second, {j}, at(first, {j}) * 2)),
             loop(k, n, put(out, {k}, at(reads_second ? second : in, {k})))});
  kernel.function.body = Allocate::make(first, Allocate::make(second, body));
  return kernel.function;
}

}  // namespace

TEST_CASE("a buffer that nothing reads disappears, and then the one that only it read") {
  const Function before = chain(false), after = eliminate_dead_stores(before);
  CHECK(census(after.body).allocations == 0);
  CHECK(census(after.body).stores == 1);
  CHECK(census(after.body).loops == 1);
  check_same_on_odd_sizes(before, after);
}

TEST_CASE("buffers that are read stay, with all that they need") {
  const Function before = chain(true), after = eliminate_dead_stores(before);
  CHECK(after.body.same_as(before.body));
}

TEST_CASE("results and assertions stay though nothing reads them") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef out = kernel.output("out", DType::i64, {n});
  const BufferRef unread = array("unread", DType::i64, {n}, Scope::global);
  kernel.function.messages = {"expected more than one"};
  kernel.function.body = Allocate::make(
      unread, block({Assert::make(n > 1, 0), loop(i, n, block({put(unread, {i}, i), put(out, {i}, i)}))}));
  const Function after = eliminate_dead_stores(kernel.function);
  CHECK(census(after.body).stores == 1);
  check_same_on_odd_sizes(kernel.function, after);
}

TEST_CASE("a buffer that only its own update reads counts as read") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef out = kernel.output("out", DType::i64, {n}), sum = array("sum", DType::i64, {});
  kernel.function.body = Allocate::make(
      sum, block({put(sum, {}, Expr(0)), loop(i, n, block({put(sum, {}, at(sum, {}) + i), put(out, {i}, i)}))}));
  const Function after = eliminate_dead_stores(kernel.function);
  CHECK(census(after.body).allocations == 1);
  check_same_on_odd_sizes(kernel.function, after);
}
