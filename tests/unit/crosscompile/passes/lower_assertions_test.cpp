#include "crosscompile/passes/lower_assertions.h"

#include "crosscompile/passes/memory/plan_workspace.h"
#include "tests/unit/crosscompile/passes/kernel.h"

#include <doctest/doctest.h>

using namespace ferry;
using namespace ferry::ir;
using namespace ferry::passes;

namespace {

// first = i; asserts n > least and n < most; out[i] = first[i] * 2 in a kernel of blocks.
Function checked(std::int64_t least, std::int64_t most) {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i"), j = index("j");
  const BufferRef out = kernel.output("out", DType::i64, {n});
  const BufferRef first = array("first", DType::i64, {n}, Scope::global);
  kernel.function.messages = {"too few", "too many"};
  kernel.function.body = Allocate::make(
      first, block({loop(i, n, put(first, {i}, i), ForKind::block_x), Assert::make(n > Expr(least), 0),
                    Assert::make(n < Expr(most), 1), loop(j, n, put(out, {j}, at(first, {j}) * 2), ForKind::block_x)}));
  return plan_workspace(kernel.function, kGpuWorkspaceAlignment);
}

}  // namespace

TEST_CASE("where every check holds the function computes the same") {
  const Function before = checked(-1, 100);
  check_same_on_odd_sizes(before, lower_assertions(before));
}

TEST_CASE("after a check that fails, the kernels behind it do nothing") {
  for (const auto& [least, most] : {std::pair(50, 100), std::pair(-1, 2), std::pair(50, 2)}) {
    const Function before = checked(least, most), after = lower_assertions(before);
    const std::vector<std::int64_t> sizes{7};
    const auto left = run(before, sizes), reported = run(after, sizes);
    CHECK(left.back() != std::vector<std::uint8_t>{0});
    CHECK(reported.back() == std::vector<std::uint8_t>{0});
    CHECK(reported.front() == left.front());  // untouched: the assertion left before the kernel
  }
}

TEST_CASE("no assertion is left, and the result has the first bytes of the workspace") {
  const Function before = checked(0, 9), after = lower_assertions(before);
  const auto* result = after.body.as<Allocate>();
  REQUIRE(result != nullptr);
  CHECK(is_constant(result->offset, 0));
  CHECK(result->buffer->dtype == DType::i32);
  const auto* moved = result->body.as<Allocate>();
  REQUIRE(moved != nullptr);
  CHECK(moved->buffer->name == "first");
  CHECK(is_constant(moved->offset, kGpuWorkspaceAlignment));
  CHECK(after.messages == before.messages);
  CHECK(census(after.body).stores == 4);
  for (const std::int64_t size : {0, 1, 5}) CHECK(run(after, {size}).back() == std::vector<std::uint8_t>{0});
}

TEST_CASE("the first check that fails is the one that is reported") {
  // The second check is stored only where the first left 0; the last kernel runs only where both did.
  const Function after = lower_assertions(checked(50, 2));
  CHECK(census(after.body).ifs == 2);
}

TEST_CASE("a function without checks has no messages and no result") {
  Kernel kernel;
  const Expr n = kernel.size("n"), i = index("i");
  const BufferRef out = kernel.output("out", DType::i64, {n});
  kernel.function.body = loop(i, n, put(out, {i}, i), ForKind::block_x);
  kernel.function.messages = {"never used"};
  const Function after = lower_assertions(kernel.function);
  CHECK(after.messages.empty());
  CHECK(after.body.same_as(kernel.function.body));
  CHECK(!after.call_workspace.defined());
}
